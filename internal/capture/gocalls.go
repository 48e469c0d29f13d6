//go:build linux && amd64

package capture

import (
	"fmt"
	"time"

	"github.com/cilium/ebpf"

	"github.com/getdwell/dwell/internal/capture/target"
	"github.com/getdwell/dwell/recording"
)

// goRoundTrip is where net/http hands a request to a pooled connection: the goroutine
// that wants the answer still runs there. What then writes and reads are goroutines of
// the connection.
const goRoundTrip = "net/http.(*persistConn).roundTrip"

// goCallShare is what probing that place may cost, of one CPU: at 1 us a hit, as
// measured in a virtual machine, 25,000 calls a second.
const goCallShare = 0.025

// missingGoCalls is the code of what that leaves open.
const missingGoCalls = "go-calls"

// goCalls watches where goroutines hand over requests, within a budget.
type goCalls struct {
	objects golangObjects
	loaded  bool
	err     error // why it is not loaded
	set     probeSet
}

// findGoCalls finds where a Go program hands over requests; nothing if it makes none.
func findGoCalls(pid int) (*probeSite, error) {
	p, err := target.GoFunctions(pid, goRoundTrip)
	if err != nil {
		return nil, err
	}
	f, ok := p.Functions[goRoundTrip]
	if !ok {
		return nil, nil
	}
	return &probeSite{pid, p.Path, f.Probe}, nil
}

// watchGoCalls adds a process. What stands in the way is recorded as missing.
func (s *Session) watchGoCalls(site *probeSite) {
	if site == nil {
		return
	}
	err := s.goCalls.load(s)
	if err == nil {
		err = s.goCalls.set.add(*site)
	}
	if err != nil {
		s.decoder.noteOnce([]recording.Missing{missingFact(missingGoCalls, err.Error())})
	}
}

// load brings the program into the kernel, once, and finds out what a hit costs.
func (g *goCalls) load(s *Session) error {
	if g.loaded || g.err != nil {
		return g.err
	}
	spec, err := loadGolang()
	if err == nil {
		err = spec.LoadAndAssign(&g.objects, &ebpf.CollectionOptions{MapReplacements: map[string]*ebpf.Map{
			golangMapEvents: s.objects.Events, golangMapWatched: s.objects.Watched, golangMapWatchedHints: s.objects.WatchedHints,
			golangMapLosses: s.objects.Losses, golangMapReported: s.objects.Reported,
		}})
	}
	if err != nil {
		g.err = fmt.Errorf("load the program for Go's calls: %w", err)
		return g.err
	}
	g.loaded = true
	s.keep(&g.objects)
	g.set.program = g.objects.GoCall
	g.set.hits = func() uint64 { n, _ := g.hits(); return n }
	g.set.budget = hitBudget{share: goCallShare, hit: trapCost(g.objects.GoCall)}
	g.set.budget.hits = g.set.hits() // those of measuring
	g.set.budget.fill(time.Now())
	return nil
}

// hits is how often the program ran, and the time that took, in ns.
func (g *goCalls) hits() (runs uint64, ns int64) {
	var perCPU []probesCost
	if !g.loaded || g.objects.GoCosts.Lookup(uint32(0), &perCPU) != nil {
		return 0, 0
	}
	for _, c := range perCPU {
		runs += c.Runs
		ns += c.estimate()
	}
	return runs, ns
}

// cost is what the probes took so far, traps included, in ns.
func (g *goCalls) cost() int64 {
	runs, ns := g.hits()
	return max(ns, int64(runs)*int64(g.set.budget.hit))
}

// keepGoCallsWithin keeps the probes within their budget.
func (s *Session) keepGoCallsWithin(now time.Time) {
	s.goCalls.set.keepWithin(now, s.workers.Go)
}

// finish says what the budget left open.
func (g *goCalls) finish(now time.Time) []recording.Missing {
	if g.set.detached == 0 {
		return nil
	}
	return []recording.Missing{{What: missingGoCalls, Count: g.set.detached, Why: fmt.Sprintf(
		"probes on outgoing calls of net/http were off for %d ms: at %d ns a call they would have cost more than %d per mille of a CPU",
		g.set.off(now).Milliseconds(), g.set.budget.hit.Nanoseconds(), int(goCallShare*1000))}}
}

// close takes the probes away.
func (g *goCalls) close() { g.set.detach() }
