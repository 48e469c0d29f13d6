//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/getdwell/dwell/internal/capture/target"
)

func TestDoctorTellsRequiredFromOptional(t *testing.T) {
	checks := []target.Check{
		{Name: "kernel", OK: true, Required: true, Detail: "6.18.4"},
		{Name: "rights", Required: true, Detail: "not root", Remedy: "try sudo"},
		{Name: "uprobes", Detail: "locked down", Remedy: "boot without lockdown"},
	}
	const want = `ok       kernel   6.18.4
missing  rights   not root
                  -> try sudo
without  uprobes  locked down
                  -> boot without lockdown

dwell cannot record here until what is missing above is put right. It can still read recordings: dwell why REC.
`
	var got strings.Builder
	if err := printChecks(&got, checks, false, false); err != nil {
		t.Fatal(err)
	}
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
	if canRecord(checks) || !canRecord(checks[:1]) {
		t.Error("a missing requirement, and it alone, must prevent recording")
	}
}

// The process in a DaemonSet's container runs until it is told to end, and then exits with success.
func TestLiveDoctorStays(t *testing.T) {
	needBPF(t)
	ctx, end := context.WithCancel(t.Context())
	c := newConsole()
	out := &console{begun: make(chan struct{}), ready: "\ndwell can record"}
	w := c.world()
	w.out = consoleErr{out}
	status := make(chan int, 1)
	go func() { status <- execute(ctx, []string{"doctor", "--stay"}, w) }()
	select {
	case <-out.begun:
	case s := <-status:
		t.Fatalf("it ended by itself: status %d: %s", s, c.err.String())
	}
	end()
	if s := <-status; s != exitDone {
		t.Errorf("status %d: %s", s, c.err.String())
	}
}

// In a user namespace (rootless containers) and in a pid namespace (containers) the doctor says what prevents
// recording, in the words of its remedy, before it tries anything.
func TestDoctorInNamespaces(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to make a pid namespace")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		flags         uintptr
		check, remedy string
	}{
		{syscall.CLONE_NEWUSER, "rights", "record from the host"},
		{syscall.CLONE_NEWPID, "pid namespace", "--pid=host"},
	} {
		doctor := exec.Command(self, "doctor", "--json")
		doctor.Env = append(os.Environ(), "BE_DWELL=1")
		doctor.SysProcAttr = &syscall.SysProcAttr{Cloneflags: c.flags}
		if c.flags == syscall.CLONE_NEWUSER {
			all := []syscall.SysProcIDMap{{HostID: 0, ContainerID: 0, Size: 1}}
			doctor.SysProcAttr.UidMappings, doctor.SysProcAttr.GidMappings = all, all
		}
		text, err := doctor.Output()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Skipf("%s: %v (may no namespace be made here?)", c.check, err)
		}
		var said doctorJSON
		if exit == nil || json.Unmarshal(text, &said) != nil {
			t.Fatalf("%s: %v: %s", c.check, err, text)
		}
		at := slices.IndexFunc(said.Checks, func(k checkJSON) bool { return k.Name == c.check })
		if exit.ExitCode() != exitCannot || said.CanRecord || at < 0 || said.Checks[at].OK || !strings.Contains(said.Checks[at].Remedy, c.remedy) {
			t.Errorf("%s: status %d: %s", c.check, exit.ExitCode(), text)
		}
	}
}
