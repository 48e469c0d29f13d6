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

// probeSite is a place in the code of one process at which a program is to run. Other
// processes that run the same executable do not trap there and pay nothing.
type probeSite struct {
	pid    int
	file   target.CodeFile
	offset uint64 // in the file
}

// attach hooks a program up at instructions of the executable that the site names, for
// all threads of the process.
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

// executable opens a file for probes, by what was opened rather than by its path, which may
// lead elsewhere the next moment.
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

// probeAt hooks a program up to an instruction of an executable in one process. Its
// link, where the kernel has one for probes, needs no more rights than its program did;
// a perf event for a probe needs CAP_SYS_ADMIN, since Linux 6.16 and the fixes of those
// before it, which is given up once recording has begun.
func probeAt(exe *link.Executable, program *ebpf.Program, offset uint64, pid int) (link.Link, error) {
	if probesHaveLinks() {
		return exe.UprobeMulti(nil, program, &link.UprobeMultiOptions{Addresses: []uint64{offset}, PID: uint32(pid)})
	}
	return exe.Uprobe("", program, &link.UprobeOptions{Address: offset, PID: pid})
}

// probesHaveLinks reports whether the kernel attaches probes by links, as since 6.6.
func probesHaveLinks() bool {
	version, err := features.LinuxVersionCode()
	return err == nil && version >= 6<<16|6<<8
}

// prepareProbes makes the programs of a collection ones that probeAt can attach here.
func prepareProbes(spec *ebpf.CollectionSpec) {
	for _, p := range spec.Programs {
		if p.AttachType == ebpf.AttachTraceUprobeMulti && !probesHaveLinks() {
			p.AttachType = ebpf.AttachNone
		}
	}
}

// A hit of a probe costs a busy service several times what it costs in a loop of its
// own: there nothing that a hit needs is in the caches. In a virtual machine where one
// took 0.75 us in a loop, those of a saturated net/http server cost it 4 to 9 us each,
// by its CPU a request; that is what budgets are to count.
const (
	inService   = 8
	trapUnknown = time.Microsecond // in a loop, where that cannot be measured
)

// measureTrap measures what one hit of a probe takes in a loop of its own: how long a function of
// dwell runs with a program at it that does nothing. The probe is still there.
func measureTrap(program *ebpf.Program) (time.Duration, []io.Closer) {
	const batches, calls = 8, 25
	links, err := probeSelf(program)
	if err != nil {
		return trapUnknown, nil
	}
	best := time.Duration(0)
	for range batches { // the fastest is the one that nothing else disturbed
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

// probed is called with a probe at it. It begins as functions that call others do.
//
//go:noinline
func probed(i int) string {
	if i < 0 {
		return fmt.Sprint(i)
	}
	return ""
}
