//go:build linux && (amd64 || arm64)

package capture

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"golang.org/x/sys/unix"
)

// Refusal is why this kernel does not accept a program.
type Refusal struct {
	Group, Program string
	Cause          error
	Log            []string // the verifier's complete log; nil: it was not reached
}

// errForTest stands in for a kernel that refuses a program.
var errForTest = errors.New("refused on demand (DWELL_REFUSE)")

func refusal(group, program string, err error) *Refusal {
	r := &Refusal{Group: group, Program: program, Cause: err}
	var refused *ebpf.VerifierError
	if errors.As(err, &refused) {
		r.Log = refused.Log
	}
	return r
}

// Error names the program, its group, the kernel's last message, and the remedy.
func (r *Refusal) Error() string {
	what := "program " + r.Program + " (" + r.Group + ")"
	if r.Program == "" { // several programs; the cause names one
		what = r.Group
	}
	return fmt.Sprintf("%s: %s (%s)", what, r.Said(), r.remedy())
}

// Said is the kernel's message in one line.
func (r *Refusal) Said() string {
	err := r.Cause
	var refused *ebpf.VerifierError
	if errors.As(err, &refused) {
		err = refused.Cause
	}
	said := strings.TrimPrefix(err.Error(), "program "+r.Program+": ")
	for i := len(r.Log) - 1; i >= 0; i-- {
		if line := strings.TrimSpace(r.Log[i]); line != "" && !strings.HasPrefix(line, "processed ") {
			return said + ": " + line
		}
	}
	return said
}

// Unwrap supports errors.Is and errors.As.
func (r *Refusal) Unwrap() error { return r.Cause }

// refused is why all ways of a group failed.
func (l *loaded) refused() error {
	err := error(l.refusals[0])
	for _, r := range l.refusals[1:] {
		err = fmt.Errorf("%w; %w", err, r)
	}
	return err
}

func (r *Refusal) remedy() string {
	switch {
	case errors.Is(r.Cause, errForTest):
		return "unset it"
	case r.Log != nil:
		return "the kernel's verifier does not take it: please report it with the output of dwell doctor --why-not"
	case errors.Is(r.Cause, unix.EPERM) || errors.Is(r.Cause, os.ErrPermission):
		return permitRemedy(os.Geteuid())
	case errors.Is(r.Cause, btf.ErrNotFound) || errors.Is(r.Cause, ebpf.ErrNotSupported) || errors.Is(r.Cause, os.ErrNotExist):
		return "this kernel has no place for it; newer ones have"
	}
	return "see dwell doctor"
}

// explain adds the remedy to an error that prevents recording.
func explain(err error) error {
	_, noTypes := os.Stat("/sys/kernel/btf/vmlinux")
	switch {
	case !mayLoad():
		return fmt.Errorf("%w (%s)", ErrNotPermitted, permitRemedy(os.Geteuid()))
	case noTypes != nil:
		return fmt.Errorf("load programs: %w: %w", ErrNoBTF, err)
	case olderThan(5, 14):
		return fmt.Errorf("%w: this is %s", ErrOldKernel, kernelRelease())
	case errors.Is(err, unix.EPERM):
		return fmt.Errorf("%w: %w", ErrNotPermitted, err)
	}
	return fmt.Errorf("load programs: %w", err)
}

// olderThan compares the release of this kernel.
func olderThan(major, minor int) bool {
	var a, b int
	if _, err := fmt.Sscanf(kernelRelease(), "%d.%d", &a, &b); err != nil {
		return false
	}
	return a < major || a == major && b < minor
}

// mayLoad reports whether this process has the capabilities that loading needs. Without them the kernel may return
// another error, because features that may not be probed appear to be missing.
func mayLoad() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if unix.Capget(&header, &sets[0]) != nil {
		return true // unknown: keep the original error
	}
	has := func(capability int) bool {
		return sets[capability/32].Effective&(1<<(capability%32)) != 0
	}
	return has(unix.CAP_SYS_ADMIN) || has(unix.CAP_BPF) && has(unix.CAP_PERFMON)
}

// permitRemedy is the remedy for a user whom the kernel refused.
func permitRemedy(user int) string {
	switch {
	case user != 0:
		return "try sudo, or grant CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE"
	case !mayLoad():
		return "root lacks CAP_BPF or CAP_PERFMON here, as in a container: see dwell doctor"
	}
	return "the kernel is hardened against it, or a seccomp filter is: see dwell doctor"
}
