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
	// budgetSaved is the credit that a process begins with, and the most that it may save.
	budgetSaved = 2 * time.Second * budgetPerMille / 1000
)

// budgetedProbe is the programs of one object, attached to places in the code of processes that may become hot.
// budget.h ends them in a process in which they cost more than budgetPerMille.
type budgetedProbe struct {
	what    string // the runtime, in errors
	group   string // as in probeObjects
	name    string // of the program; of several, the one that is hit most
	spec    func() (*ebpf.CollectionSpec, error)
	loops   int           // what a hit costs a busy service, as a multiple of what a trap takes in a loop
	mu      sync.Mutex    // guards what follows
	failed  error         // why the object could not be loaded
	hit     time.Duration // what one hit costs the process, as far as that can be measured
	objects *ebpf.Collection
	links   map[int]budgetedLinks // by process
	notes   []recording.Missing   // to be written by the goroutine that records
}

// budgetedLinks are the links of a budgetedProbe in one process; none if the programs were ended there.
type budgetedLinks struct {
	in    target.CodeFile
	links map[string][]io.Closer // by program
}

// all lists the links of all programs.
func (l budgetedLinks) all() []io.Closer {
	return slices.Concat(slices.Collect(maps.Values(l.links))...)
}

// hook attaches the programs, each at its offsets, to a process. If they have been attached to this executable
// before, it does nothing; if the process now runs another executable, it attaches them again. It is no error if
// the process has ended meanwhile.
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

// note stores what prevents probing in a process, for the goroutine that records.
func (p *budgetedProbe) note(missing ...recording.Missing) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notes = append(p.notes, missing...)
}

// noted takes the stored notes.
func (p *budgetedProbe) noted() []recording.Missing {
	p.mu.Lock()
	defer p.mu.Unlock()
	notes := p.notes
	p.notes = nil
	return notes
}

// drop ends some programs in a process, or all if none are named. They are not attached again.
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

// Close ends the programs in all processes.
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
