package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/truth/kernels/outcome"
)

// sound is an outcome with which nothing is wrong.
func sound() *outcome.Outcome {
	return &outcome.Outcome{
		Kernel: "6.12.1", Arch: "arm64", Doctor: outcome.Doctor{CanRecord: true, Without: []string{"stacks"}},
		Demo:  outcome.Demo{Live: true, Findings: []string{theFault}, Requests: 96, Associated: 1, Events: 5000, Lost: 6, Before: 48_000_000, Saving: 47_000_000, After: 800_000},
		Truth: outcome.Truth{Requests: 61, Matched: 60, Cut: 1, Exchanges: 122, Right: 122, Events: 3000},
	}
}

func TestProblems(t *testing.T) {
	if err := problems(sound()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		spoil func(*outcome.Outcome)
		says  string
	}{
		{func(o *outcome.Outcome) { o.Kmsg = "BUG: scheduling while atomic" }, "scheduling while atomic"},
		{func(o *outcome.Outcome) { o.Doctor.CanRecord = false }, "doctor: cannot record"},
		{func(o *outcome.Outcome) { o.Demo.Live = false }, "demo: live false"},
		{func(o *outcome.Outcome) { o.Demo.Findings = []string{"slow-peer"} }, "found [slow-peer], not connection-churn"},
		{func(o *outcome.Outcome) { o.Demo.Repaired = []string{theFault} }, "in the repaired variant"},
		{func(o *outcome.Outcome) { o.Demo.Associated = 0.98 }, "98.0 % of the calls"},
		{func(o *outcome.Outcome) { o.Truth.Matched = 58 }, "61 requests sent, 58 found"},
		{func(o *outcome.Outcome) { o.Truth.Extra = 2 }, "2 extra"},
		{func(o *outcome.Outcome) { o.Truth.Wrong = 1 }, "1 to another"},
		{func(o *outcome.Outcome) { o.Truth = outcome.Truth{Error: "torn"} }, "torn"},
		{func(o *outcome.Outcome) { o.Demo.Lost = 60 }, "60 of 5000 events lost"},
		{func(o *outcome.Outcome) { o.Truth.Lost = 70 }, "70 of 3000 events lost"},
	} {
		o := sound()
		c.spoil(o)
		if err := problems(o); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("problems: %v, want %q", err, c.says)
		}
	}
}

func TestTable(t *testing.T) {
	got := table([]row{{"6.12.1-cloud-arm64", sound()}, {"6.1", nil}})
	const want = heading +
		"| 6.12.1-cloud-arm64 | ok, without stacks | connection-churn; repaired: none | 100.0 % | 48.00 -> 1.00 -> 0.80 | 60 of 61 (1 cut), 122 of 122 right, 0 wrong | 6 | none |\n" +
		"| 6.1 | did not come to a result | | | | | | |\n"
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestReadOutcome(t *testing.T) {
	const line = "\n" + outcome.Mark + `{"kernel":"6.12.1","arch":"arm64"}`
	for console, want := range map[string]string{
		"[    1.0] booted\r\nguest: demo" + line + "\r\n[  9.0] reboot: Power down": "6.12.1",
		"[    1.0] Kernel panic - not syncing":                                      "",
		line[:len(line)-4]:                                                          "", // torn
	} {
		var got string
		if o := readOutcome([]byte(console)); o != nil {
			got = o.Kernel
		}
		if got != want {
			t.Errorf("%q: kernel %q, want %q", console, got, want)
		}
	}
}

func TestReleasesAreOrderedByNumbers(t *testing.T) {
	releases := []string{"6.12.9+deb13-cloud-amd64", "6.12.117+deb12-cloud-amd64", "7.0.4+deb13-cloud-amd64", "6.1.0-56-cloud-amd64", "6.1.0-9-cloud-amd64"}
	slices.SortFunc(releases, byNumbers)
	const want = "6.1.0-9 6.1.0-56 6.12.9+deb13 6.12.117+deb12 7.0.4+deb13"
	if got := strings.ReplaceAll(strings.Join(releases, " "), "-cloud-amd64", ""); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if hasPatch("6.12-cloud-amd64") || !hasPatch("6.1.0-56-cloud-amd64") {
		t.Error("a package that leads to a kernel is taken for one, or the other way round")
	}
}

// A kernel may be a file, too: nothing is fetched then.
func TestOwnKernel(t *testing.T) {
	a := &archive{dir: t.TempDir()}
	k, err := a.kernel(t.Context(), "/boot/vmlinuz-5.15.0-204-generic")
	if err != nil || k.release != "5.15.0-204-generic" || k.image != "/boot/vmlinuz-5.15.0-204-generic" || processors(k) > 2 {
		t.Errorf("%+v, %v", k, err)
	}
}

func TestProcessors(t *testing.T) {
	for k, want := range map[kernel]int{
		{release: "6.1.0-56-cloud-amd64", arch: "amd64"}:       1,
		{release: "6.12.117+deb12-cloud-amd64", arch: "amd64"}: 2,
		{release: "6.1.0-56-cloud-arm64", arch: "arm64"}:       2,
	} {
		if got := processors(k); got != want {
			t.Errorf("%s: %d processors, want %d", k.release, got, want)
		}
	}
}

// The archive is read by the program that everybody reads such with.
func TestCpio(t *testing.T) {
	reader, err := exec.LookPath("cpio")
	if err != nil {
		t.Skip("no cpio here")
	}
	var archive bytes.Buffer
	w := &cpio{out: &archive}
	w.add("bin", modeDir|0o755, nil)
	w.add("bin/it", modeFile|0o755, []byte("hello"))
	w.add("TRAILER!!!", 0, nil)
	dir := t.TempDir()
	read := exec.Command(reader, "-id", "--quiet")
	read.Dir, read.Stdin = dir, &archive
	if out, err := read.CombinedOutput(); err != nil || w.err != nil {
		t.Fatalf("%v %v: %s", err, w.err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "bin", "it"))
	if err != nil || string(text) != "hello" {
		t.Errorf("%q, %v", text, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "bin", "it")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}
