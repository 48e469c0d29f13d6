package target

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/getdwell/dwell/recording"
)

// healthy is a machine on which everything can be recorded.
func healthy() machine {
	return machine{
		arch: "amd64", release: "6.8.0-45-generic",
		caps: 1<<41 - 1, initialUsers: true, initialPIDs: true,
		lockdown: "integrity", paranoid: "4", mptcp: "1", uprobes: true, tracefs: true,
	}
}

// Each row breaks one thing and names the checks that must then fail; all others must pass.
func TestChecks(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(*machine)
		fails string
	}{
		{"nothing", func(*machine) {}, ""},
		{"riscv64", func(m *machine) { m.arch = "riscv64" }, "architecture"},
		{"old kernel", func(m *machine) { m.release = "5.14.0-503.el9" }, ""},
		{"too old a kernel", func(m *machine) { m.release = "5.10.0-30-amd64" }, "kernel"},
		{"no BTF", func(m *machine) { m.btf = errors.New("not found") }, "kernel types (BTF)"},
		{"no rights", func(m *machine) { m.caps = 0 }, "rights, process details, uprobes, stacks"},
		{"capabilities for programs only", func(m *machine) { m.caps = 1<<unix.CAP_BPF | 1<<unix.CAP_PERFMON }, "process details"},
		{"rootless container", func(m *machine) { m.initialUsers = false }, "rights, process details, uprobes, stacks"},
		{"container", func(m *machine) { m.initialPIDs = false }, "pid namespace"},
		{"confidentiality", func(m *machine) { m.lockdown = "confidentiality" }, "lockdown"},
		{"no securityfs", func(m *machine) { m.lockdown = "" }, ""},
		{"no uprobes", func(m *machine) { m.uprobes = false }, "uprobes"},
		{"services", func(m *machine) {
			m.running = map[recording.Runtime]int{recording.RuntimeJVM: 2, recording.RuntimeRuby: 1}
			m.rubies = []rubyBuild{{"3.1.2", true, true}, {"3.4.1", false, false}}
		}, ""},
		{"stripped Ruby that hides its state", func(m *machine) { m.rubies = []rubyBuild{{"3.3.8", true, false}} }, "stacks of Ruby"},
		{"no PSI", func(m *machine) { m.pressure = errors.New("off") }, "pressure (PSI)"},
		{"no cgroups", func(m *machine) { m.throttling = errors.New("off") }, "cgroup throttling"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := healthy()
			c.spoil(&m)
			var failed []string
			for _, check := range examine(m) {
				if check.OK != (check.Remedy == "") || check.Detail == "" {
					t.Errorf("%+v: a remedy belongs to what fails, a detail to all", check)
				}
				if !check.OK {
					failed = append(failed, check.Name)
				}
			}
			if got := strings.Join(failed, ", "); got != c.fails {
				t.Errorf("failed: %q, want %q", got, c.fails)
			}
		})
	}
}

func TestReleaseAtLeast(t *testing.T) {
	for release, want := range map[string]bool{
		"6.3": true, "6.18.44-fc": true, "7.0-rc1": true, "6.2.16": false, "5.19.0": false, "": false, "x": false,
	} {
		if got := releaseAtLeast(release, 6, 3); got != want {
			t.Errorf("%q: %v", release, got)
		}
	}
}

// Doctor's data about this machine agrees with other interfaces of the kernel.
func TestDoctor(t *testing.T) {
	checks := Doctor()
	at := slices.IndexFunc(checks, func(c Check) bool { return c.Name == "kernel" })
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		t.Fatal(err)
	}
	if release := unix.ByteSliceToString(name.Release[:]); at < 0 || checks[at].Detail != release {
		t.Errorf("kernel %+v, want %s", checks, release)
	}
	if chosen("none [integrity] confidentiality\n") != "integrity" || chosen("") != "" {
		t.Error("the chosen lockdown is misread")
	}
}
