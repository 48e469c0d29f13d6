//go:build linux && (amd64 || arm64)

package capture

import (
	"fmt"
	"io"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/features"
	"github.com/cilium/ebpf/link"

	"github.com/getdwell/dwell/internal/capture/elffile"
	"github.com/getdwell/dwell/internal/capture/target"
)

// probeSite is a place in the code of one process at which a program runs. Other processes that run the same
// executable do not trap there and have no cost.
type probeSite struct {
	pid    int
	file   target.CodeFile
	offset uint64 // in the file
}

// attach attaches a program to instructions of the site's executable, for all threads of the process.
func (p probeSite) attach(program *ebpf.Program, offsets []uint64) ([]io.Closer, error) {
	exe, opened, err := executable(p.file)
	if err != nil {
		return nil, fmt.Errorf("open the code of process %d: %w", p.pid, err)
	}
	defer opened.Close()
	if probesHaveLinks() {
		l, err := exe.UprobeMulti(nil, program, &link.UprobeMultiOptions{Addresses: offsets, PID: uint32(p.pid)})
		if err != nil {
			return nil, fmt.Errorf("probe process %d: %w", p.pid, err)
		}
		return []io.Closer{l}, nil
	}
	var links []io.Closer
	for _, offset := range offsets {
		l, err := probeAt(exe, program, offset, p.pid)
		if err != nil {
			closeAll(links)
			return nil, fmt.Errorf("probe process %d: %w", p.pid, err)
		}
		links = append(links, l)
	}
	return links, nil
}

// executable opens a file for probes through the opened descriptor rather than its path, because the path may lead to
// another file the next moment.
func executable(file target.CodeFile) (*link.Executable, io.Closer, error) {
	opened, err := file.Open()
	if err != nil {
		return nil, nil, err
	}
	exe, err := elffile.Ask(opened, func(fd int) (*link.Executable, error) {
		return link.OpenExecutable(fmt.Sprintf("/proc/self/fd/%d", fd))
	})
	if err != nil {
		opened.Close()
		return nil, nil, err
	}
	return exe, opened, nil
}

// probeAt attaches a program to an instruction of an executable in one process. If the kernel has links for probes, a
// link needs no more rights than loading its program. A perf event for a probe needs CAP_SYS_ADMIN since Linux 6.16,
// and in earlier versions with the backported fix; recording gives up that capability once it has begun.
func probeAt(exe *link.Executable, program *ebpf.Program, offset uint64, pid int) (link.Link, error) {
	if probesHaveLinks() {
		return exe.UprobeMulti(nil, program, &link.UprobeMultiOptions{Addresses: []uint64{offset}, PID: uint32(pid)})
	}
	return exe.Uprobe("", program, &link.UprobeOptions{Address: offset, PID: pid})
}

// probesHaveLinks reports whether the kernel attaches probes by links, as it does since 6.6.
func probesHaveLinks() bool {
	version, err := features.LinuxVersionCode()
	return err == nil && version >= 6<<16|6<<8
}

// prepareProbes adapts the programs of a collection so that probeAt can attach them on this kernel.
func prepareProbes(spec *ebpf.CollectionSpec) {
	for _, p := range spec.Programs {
		if p.AttachType == ebpf.AttachTraceUprobeMulti && !probesHaveLinks() {
			p.AttachType = ebpf.AttachNone
		}
	}
}

// A hit of a probe costs a busy service several times what it costs in a tight loop, because nothing that the hit
// needs is in the caches. In a virtual machine where a hit took 0.75 us in a loop, hits cost a saturated net/http
// server 4 to 9 us each, measured by its CPU time per request. Budgets have to count that cost.
const (
	inService   = 8
	trapUnknown = time.Microsecond // in a loop, if it cannot be measured
)

// measureTrap measures what one hit of a probe takes in a tight loop: how long a function of dwell runs with an empty
// program attached to it. The probe is still attached when it returns.
func measureTrap(program *ebpf.Program) (time.Duration, []io.Closer) {
	const batches, calls = 8, 25
	links, err := probeSelf(program)
	if err != nil {
		return trapUnknown, nil
	}
	best := time.Duration(0)
	for range batches { // the fastest batch is the undisturbed one
		began := time.Now()
		for i := range calls {
			probed(i)
		}
		if took := time.Since(began) / calls; best == 0 || took < best {
			best = took
		}
	}
	return max(best, 100*time.Nanosecond), links
}

// probed is called with a probe attached to it. It begins like functions that call other functions.
//
//go:noinline
func probed(i int) string {
	if i < 0 {
		return fmt.Sprint(i)
	}
	return ""
}
