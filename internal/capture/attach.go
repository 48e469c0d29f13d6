//go:build linux && (amd64 || arm64)

package capture

import (
	"errors"
	"fmt"
	"os"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"github.com/getdwell/dwell/recording"
)

// load brings maps and programs into the kernel.
func (s *Session) load() error {
	spec, err := loadProbes()
	if err != nil {
		return fmt.Errorf("read the built-in programs: %w", err)
	}
	prepareProbes(spec)
	if s.opts.RingBytes > 0 {
		spec.Maps[probesMapEvents].MaxEntries = uint32(s.opts.RingBytes)
	}
	if err := spec.LoadAndAssign(&s.objects, nil); err != nil {
		return explain(err)
	}
	return nil
}

// explain names the remedy of a failure to load or attach.
func explain(err error) error {
	var refused *ebpf.VerifierError
	switch {
	case errors.As(err, &refused) && mayLoad():
		return fmt.Errorf("load programs: the kernel's verifier refused one: %w (please report it with the output of dwell doctor)", err)
	case errors.Is(err, os.ErrPermission) || errors.Is(err, unix.EPERM) || !mayLoad():
		return fmt.Errorf("%w (%s)", ErrNotPermitted, permitRemedy(os.Geteuid()))
	case errors.Is(err, btf.ErrNotFound) || errors.Is(err, ebpf.ErrNotSupported):
		if _, statErr := os.Stat("/sys/kernel/btf/vmlinux"); statErr != nil {
			return fmt.Errorf("load programs: %w: %w", ErrNoBTF, err)
		}
		return fmt.Errorf("load programs: %w: %w", ErrOldKernel, err)
	}
	return fmt.Errorf("load programs: %w (run dwell doctor to see what this kernel allows)", err)
}

// mayLoad reports whether this process has the capabilities that loading needs. A
// refusal may come as another error: features that may not be probed look absent.
func mayLoad() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if unix.Capget(&header, &sets[0]) != nil {
		return true // unknown: let the error speak
	}
	has := func(capability int) bool {
		return sets[capability/32].Effective&(1<<(capability%32)) != 0
	}
	return has(unix.CAP_SYS_ADMIN) || has(unix.CAP_BPF) && has(unix.CAP_PERFMON)
}

// permitRemedy says what to do for a user whom the kernel refused.
func permitRemedy(user int) string {
	if user == 0 {
		return "root lacks CAP_BPF or CAP_PERFMON here, as in a container, or the kernel is locked down: see dwell doctor"
	}
	return "try sudo, or grant CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE"
}

// attach hooks every tracing program up. The iterators run on demand, the probes of
// Node when a Node process is found.
func (s *Session) attach() error {
	o := &s.objects
	s.always, s.inWindows = &hooks{programs: []*ebpf.Program{
		o.ProcessFork, o.ProcessExec, o.ProcessExit, o.TaskRenamed, o.SocketState, o.Sent,
	}}, &hooks{programs: []*ebpf.Program{o.SchedSwitch, o.SchedWaking, o.DataReady, o.Received}}
	s.closers = append(s.closers, s.always, s.inWindows)
	return errors.Join(s.always.attach(), s.inWindows.attach())
}

// hooks are tracing programs that are attached and detached together.
type hooks struct {
	programs []*ebpf.Program
	links    []link.Link
}

func (h *hooks) attach() error {
	for _, p := range h.programs {
		l, err := link.AttachTracing(link.TracingOptions{Program: p})
		if err != nil {
			return explain(fmt.Errorf("attach %s: %w", p, err))
		}
		h.links = append(h.links, l)
	}
	return nil
}

// Close detaches them.
func (h *hooks) Close() error {
	var errs []error
	for _, l := range h.links {
		errs = append(errs, l.Close())
	}
	h.links = nil
	return errors.Join(errs...)
}

func (s *Session) programs() []meteredProgram {
	o := &s.objects
	return []meteredProgram{
		{recording.HookSched, o.SchedSwitch}, {recording.HookWakings, o.SchedWaking},
		{recording.HookProcesses, o.ProcessFork}, {recording.HookProcesses, o.ProcessExec},
		{recording.HookProcesses, o.ProcessExit}, {recording.HookProcesses, o.TaskRenamed},
		{recording.HookSockets, o.SocketState}, {recording.HookArrivals, o.DataReady},
		{recording.HookIO, o.Received}, {recording.HookIO, o.Sent},
		{recording.HookBoundaries, o.RunTimers}, {recording.HookBoundaries, o.CheckImmediate},
		{recording.HookSamples, o.Sample},
	}
}
