//go:build linux && (amd64 || arm64)

package capture

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/cilium/ebpf"

	"github.com/getdwell/dwell/internal/capture/target"
	"github.com/getdwell/dwell/recording"
)

const (
	// budgetPerMille is what the hits of a probe may cost a process, in thousandths of one CPU.
	budgetPerMille = 30
	// budgetSaved is the credit that a process begins with, and may save.
	budgetSaved = 2 * time.Second * budgetPerMille / 1000
)

// budgetedProbe is the programs of an object of their own, at places in the code of processes where
// they may get hot: budget.h ends them in a process that they cost more than budgetPerMille.
type budgetedProbe struct {
	what    string // of which runtime, in errors
	group   string // as in probeObjects
	name    string // of the program, or that of its programs which is hit most
	spec    func() (*ebpf.CollectionSpec, error)
	loops   int           // what a hit costs a busy service: so many times what a trap takes in a loop
	mu      sync.Mutex    // of what follows
	failed  error         // why the object could not be loaded
	hit     time.Duration // what one hit costs the process, as far as that can be measured
	objects *ebpf.Collection
	links   map[int]budgetedLinks // by process
	notes   []recording.Missing   // to be written by the goroutine that records
}

// budgetedLinks are a budgetedProbe's in one process; none where it has ended there.
type budgetedLinks struct {
	in    target.CodeFile
	links map[string][]io.Closer // by program
}

// all are those of all programs.
func (l budgetedLinks) all() []io.Closer {
	return slices.Concat(slices.Collect(maps.Values(l.links))...)
}

// hook attaches the programs, each at its offsets, to a process from now on; not again where they
// have been, but for another executable that the process runs now. Where the process has ended
// meanwhile nothing stands in the way.
func (p *budgetedProbe) hook(s *Session, site probeSite, places map[string][]uint64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.links[site.pid]
	if before.in == site.file {
		return nil
	}
	if err := p.load(s); err != nil {
		return err
	}
	here := budgetedLinks{site.file, map[string][]io.Closer{}}
	for name, offsets := range places {
		added, err := site.attach(p.objects.Programs[name], offsets)
		if err != nil {
			closeAll(here.all())
			if gone(err) {
				return nil
			}
			return err
		}
		here.links[name] = added
	}
	p.links[site.pid] = here
	closeAll(before.all())
	return nil
}

// load loads the object, once.
func (p *budgetedProbe) load(s *Session) error {
	if p.links != nil || p.failed != nil {
		return p.failed
	}
	spec, err := p.spec()
	if err != nil {
		return fmt.Errorf("read the built-in programs for %s: %w", p.what, err)
	}
	prepareProbes(spec)
	p.failed = errors.Join(
		spec.Variables["share"].Set(uint64(1000/budgetPerMille)),
		spec.Variables["most"].Set(uint64(budgetSaved)))
	if p.failed == nil {
		p.failed = s.sharing(p.group, spec, func(shared *ebpf.CollectionOptions) (err error) {
			p.objects, err = ebpf.NewCollectionWithOptions(spec, *shared)
			return err
		})
	}
	if p.failed == nil {
		p.hit = time.Duration(p.loops) * s.loopTrap(p.objects.Programs[p.name])
		p.failed = p.objects.Variables["hit_cost"].Set(uint64(p.hit))
	}
	if p.failed != nil {
		s.hooking.refuse(p.group)
		return p.failed
	}
	p.links = map[int]budgetedLinks{}
	s.keep(p)
	return nil
}

// note notes what stands in the way of a process, for the goroutine that records.
func (p *budgetedProbe) note(missing ...recording.Missing) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notes = append(p.notes, missing...)
}

// noted takes what was noted.
func (p *budgetedProbe) noted() []recording.Missing {
	p.mu.Lock()
	defer p.mu.Unlock()
	notes := p.notes
	p.notes = nil
	return notes
}

// drop ends some programs in a process, or all if none are named. They are not begun again.
func (p *budgetedProbe) drop(pid int, programs ...string) {
	p.mu.Lock()
	here := p.links[pid]
	var links []io.Closer
	for name, list := range here.links {
		if len(programs) == 0 || slices.Contains(programs, name) {
			links = append(links, list...)
			delete(here.links, name)
		}
	}
	p.mu.Unlock()
	closeAll(links)
}

// cost is what the hits have cost the processes so far, in ns.
func (p *budgetedProbe) cost() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	var hits uint64
	if p.objects == nil || p.objects.Variables["hits"].Get(&hits) != nil {
		return 0
	}
	return int64(hits) * int64(p.hit)
}

// Close ends it everywhere.
func (p *budgetedProbe) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, here := range p.links {
		closeAll(here.all())
	}
	p.links = map[int]budgetedLinks{}
	p.objects.Close()
	return nil
}
