//go:build linux && amd64

package capture

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"github.com/getdwell/dwell/internal/capture/target"
	"github.com/getdwell/dwell/recording"
)

const (
	// copyTraps is how often a hit of the probe traps: an instruction that returns is run by
	// itself, and then the process goes on behind it.
	copyTraps = 2
	// copyPerMille is what numbering contexts may cost a process, in thousandths of one CPU.
	copyPerMille = 30
	// copySaved is the credit that a process begins with, and may save.
	copySaved = 2 * time.Second * copyPerMille / 1000
	// pythonRetry is how often a process is asked that has run nothing in a context so far.
	pythonRetry = 5 * time.Second
	// maxBases bounds the threads of one process that are looked at.
	maxBases = 32
)

// pythonProbes number the contexts of Python as they are copied, so that it is known which
// task made which, and an address that is used again is not taken for the context before.
type pythonProbes struct {
	mu      sync.Mutex
	failed  error         // why the program could not be loaded
	hit     time.Duration // what one hit of the probe costs the process, as far as that can be measured
	links   map[int][]io.Closer
	notes   []recording.Missing // to be written by the goroutine that records
	objects struct {
		Copied *ebpf.Program  `ebpf:"context_copied"`
		Hits   *ebpf.Variable `ebpf:"hits"`
		Hit    *ebpf.Variable `ebpf:"hit_cost"`
	}
}

// resolvePython finds where a process keeps the contexts of its threads, and readies the
// numbering of them; copies is where they are made, nil if that is not known.
func (s *Session) resolvePython(pid int, r *resolution) error {
	bases, err := s.threadBases(pid)
	if err != nil {
		return err
	}
	l, err := target.FindPython(pid, bases)
	if err != nil {
		return err
	}
	r.watch.PyState, r.watch.PyContext = int32(l.State), int32(l.Context)
	copies, err := target.FindPythonCopies(pid)
	if err != nil {
		r.python.missing = []recording.Missing{missingContexts(err.Error())}
		return nil
	}
	r.watch.PyCopies, r.watch.PyType = 1, copies.Type
	r.watch.Credit, r.watch.Credited = uint64(copySaved), uint64(clock())
	r.python.copies = &copies
	return nil
}

// pythonFound is where a Python process copies contexts, or why that is not known.
type pythonFound struct {
	copies  *target.PythonCopies
	missing []recording.Missing
}

// threadBases lists the thread pointers of a process.
func (s *Session) threadBases(pid int) (bases []uint64, err error) {
	data, err := iterate(link.IterOptions{Program: s.objects.DumpBases})
	if err != nil {
		return nil, fmt.Errorf("list the threads of process %d: %w", pid, err)
	}
	size := int(unsafe.Sizeof(probesBaseRecord{}))
	for ; len(data) >= size && len(bases) < maxBases; data = data[size:] {
		if r := view[probesBaseRecord](data); int(r.Tgid) == pid {
			bases = append(bases, r.Base)
		}
	}
	return bases, nil
}

// hookPython numbers the contexts of a process from now on. It returns what stands in the way.
func (s *Session) hookPython(pid int, f *pythonFound) []recording.Missing {
	if f.copies == nil {
		return f.missing
	}
	p := &s.python
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.links[pid]; known {
		return nil
	}
	if err := p.load(s); err != nil {
		return []recording.Missing{missingContexts(err.Error())}
	}
	links, err := probeSite{pid: pid, path: f.copies.Path}.attach(p.objects.Copied, f.copies.Returns)
	if err != nil {
		if gone(err) {
			return nil
		}
		return []recording.Missing{missingContexts(err.Error())}
	}
	p.links[pid] = links
	return nil
}

// hookPythonLater does so beside the recording: the kernel takes its time.
func (s *Session) hookPythonLater(pid int, f pythonFound) {
	if f.copies == nil && f.missing == nil {
		return
	}
	s.workers.Go(func() {
		missing := s.hookPython(pid, &f)
		s.python.mu.Lock()
		defer s.python.mu.Unlock()
		s.python.notes = append(s.python.notes, missing...)
	})
}

// load loads the program, once.
func (p *pythonProbes) load(s *Session) error {
	if p.links != nil || p.failed != nil {
		return p.failed
	}
	spec, err := loadPython()
	if err != nil {
		return fmt.Errorf("read the built-in programs for Python: %w", err)
	}
	prepareProbes(spec)
	p.failed = errors.Join(
		spec.Variables[pythonVarShare].Set(uint64(1000/copyPerMille)),
		spec.Variables[pythonVarMost].Set(uint64(copySaved)))
	if p.failed == nil {
		p.failed = spec.LoadAndAssign(&p.objects, &ebpf.CollectionOptions{MapReplacements: map[string]*ebpf.Map{
			pythonMapEvents: s.objects.Events, pythonMapWatched: s.objects.Watched,
			pythonMapWatchedHints: s.objects.WatchedHints, pythonMapContexts: s.objects.Contexts,
			pythonMapLosses: s.objects.Losses, pythonMapReported: s.objects.Reported,
		}})
	}
	if p.failed == nil {
		p.hit = copyTraps * trapCost(p.objects.Copied)
		p.failed = p.objects.Hit.Set(uint64(p.hit))
	}
	if p.failed == nil {
		p.links = map[int][]io.Closer{}
		s.keep(p)
	}
	return p.failed
}

// drop ends the numbering of a process.
func (p *pythonProbes) drop(pid int) {
	p.mu.Lock()
	links := p.links[pid]
	if links != nil {
		p.links[pid] = nil // it is not begun again
	}
	p.mu.Unlock()
	closeAll(links)
}

// cost is what numbering has cost the processes so far, in ns.
func (p *pythonProbes) cost() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	var hits uint64
	if p.objects.Hits == nil || p.objects.Hits.Get(&hits) != nil {
		return 0
	}
	return int64(hits) * int64(p.hit)
}

// Close ends all numbering.
func (p *pythonProbes) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, links := range p.links {
		closeAll(links)
	}
	p.links = map[int][]io.Closer{}
	return p.objects.Copied.Close()
}

// followPython describes Python processes that were forked, and ends the numbering of those
// that have ended or that it costs too much.
func (s *Session) followPython(ended []uint32) {
	d := &s.decoder.python
	for _, pid := range d.forks {
		s.resolveLater(int(pid))
	}
	for _, pid := range d.spent {
		s.decoder.note([]recording.Missing{missingContexts(fmt.Sprintf(
			"which task made which was seen at first only: a process makes so many that seeing it would have cost it more than %d %% of a CPU", copyPerMille/10))})
		s.workers.Go(func() { s.python.drop(int(pid)) })
	}
	for _, pid := range ended {
		s.workers.Go(func() { s.python.drop(int(pid)) })
	}
	s.python.mu.Lock()
	defer s.python.mu.Unlock()
	s.decoder.noteOnce(s.python.notes)
	s.python.notes = nil
	d.forks, d.spent = d.forks[:0], d.spent[:0]
}

// missingContexts says what is not known of the tasks of Python.
func missingContexts(why string) recording.Missing { return missingFact("contexts", why) }
