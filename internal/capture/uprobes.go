//go:build linux && amd64

package capture

import (
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/features"
	"github.com/cilium/ebpf/link"

	"github.com/getdwell/dwell/internal/capture/target"
)

// probeSite is a place in the code of one process at which a program is to run. Other
// processes that run the same executable do not trap there and pay nothing.
type probeSite struct {
	pid    int
	path   string // of the executable
	offset uint64 // in the file
}

// attach hooks a program up there, for all threads of the process.
func (p probeSite) attach(program *ebpf.Program) (link.Link, error) {
	exe, err := link.OpenExecutable(p.path)
	if err != nil {
		return nil, fmt.Errorf("open the executable of process %d: %w", p.pid, err)
	}
	l, err := probeAt(exe, program, p.offset, p.pid)
	if err != nil {
		return nil, fmt.Errorf("probe process %d: %w", p.pid, err)
	}
	return l, nil
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

// trapInService is what one hit of a probe costs a busy service. A hit in a loop of its
// own took 1 us, but three a request made a saturated net/http server use 27 us more of
// CPU a request, in the same virtual machine: there nothing that a hit needs is in the
// caches. It also stands where nothing can be measured.
const trapInService = 8 * time.Microsecond

// trapCost measures what one hit of a probe takes on this machine, which the kernel's
// own statistics of programs do not hold: how much longer a function of dwell runs with
// a program at it that does nothing.
func trapCost(program *ebpf.Program) time.Duration {
	const name, batches, calls = "github.com/getdwell/dwell/internal/capture.probed", 8, 25
	exe, err := target.GoFunctions(os.Getpid(), name)
	f, found := exe.Functions[name]
	if err != nil || !found {
		return trapInService
	}
	l, err := probeSite{os.Getpid(), exe.Path, f.Probe}.attach(program)
	if err != nil {
		return trapInService
	}
	defer l.Close()
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
	return max(best, 100*time.Nanosecond)
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

// hitBudget bounds what hits of probes cost: a share of one CPU, averaged over a second.
// Where more is asked for the probes are taken away, and come back after ten times as
// long: what is always too much costs a tenth of the share.
type hitBudget struct {
	share float64       // of one CPU
	hit   time.Duration // what one takes
	left  time.Duration
	at    time.Time // of the last reading
	hits  uint64    // then
}

// restFor is how many seconds' worth of budget must come in after it was spent.
const restFor = 10

// fill begins with all of the budget.
func (b *hitBudget) fill(now time.Time) {
	b.left, b.at = b.most(), now
}

// most is what may be spent at once.
func (b *hitBudget) most() time.Duration {
	return time.Duration(b.share * float64(time.Second))
}

// spend takes the hits so far into account and reports whether the probes may stay, or
// come back.
func (b *hitBudget) spend(hits uint64, now time.Time, attached bool) bool {
	b.left += time.Duration(b.share*float64(now.Sub(b.at))) - time.Duration(hits-b.hits)*b.hit
	b.left = min(b.left, b.most())
	b.at, b.hits = now, hits
	if attached && b.left <= 0 {
		b.left -= restFor * b.most()
	}
	return b.left > 0
}

// probeSet is one program at places of several processes, within a budget. Attaching
// and detaching wait for the kernel, for longer than the event buffer may be left alone:
// that is done beside the recording.
type probeSet struct {
	program  *ebpf.Program
	hits     func() uint64 // so far
	budget   hitBudget
	changing sync.Mutex // held while probes come or go
	sites    []probeSite
	links    []io.Closer // of all sites, or none
	detached int64       // how often the budget was spent
	spared   time.Duration
	since    time.Time // of that, now
}

// add probes one more process, unless the budget is spent: then it waits with the others.
func (p *probeSet) add(site probeSite) error {
	p.changing.Lock()
	defer p.changing.Unlock()
	if slices.Contains(p.sites, site) {
		return nil
	}
	if len(p.sites) == 0 || len(p.links) > 0 {
		l, err := site.attach(p.program)
		if err != nil {
			return err
		}
		p.links = append(p.links, l)
	}
	p.sites = append(p.sites, site)
	return nil
}

// keepWithin takes the probes away when their budget is spent, and brings them back,
// beside what runs now. It reports what it did.
func (p *probeSet) keepWithin(now time.Time, beside func(func())) (came, went bool) {
	if !p.changing.TryLock() {
		return false, false
	}
	attached := len(p.links) > 0
	within := len(p.sites) > 0 && p.budget.spend(p.hits(), now, attached)
	if len(p.sites) == 0 || attached == within {
		p.changing.Unlock()
		return false, false
	}
	if within {
		p.spared += now.Sub(p.since)
	} else {
		p.detached++
		p.since = now
	}
	beside(func() {
		defer p.changing.Unlock()
		if within {
			p.attach()
		} else {
			p.detach()
		}
	})
	return within, !within
}

func (p *probeSet) detach() {
	closeAll(p.links)
	p.links = nil
}

// closeAll takes probes away all at once: for each the kernel waits a tenth of a second,
// and as long as a probe is there it costs.
func closeAll(links []io.Closer) {
	var all sync.WaitGroup
	for _, l := range links {
		all.Go(func() { l.Close() })
	}
	all.Wait()
}

// attach probes all sites again; those of processes that have ended are given up.
func (p *probeSet) attach() {
	p.sites = slices.DeleteFunc(p.sites, func(site probeSite) bool {
		l, err := site.attach(p.program)
		if err == nil {
			p.links = append(p.links, l)
		}
		return err != nil
	})
}

// off is for how long the probes were away.
func (p *probeSet) off(now time.Time) time.Duration {
	p.changing.Lock()
	defer p.changing.Unlock()
	if p.detached > 0 && len(p.links) == 0 {
		return p.spared + now.Sub(p.since)
	}
	return p.spared
}
