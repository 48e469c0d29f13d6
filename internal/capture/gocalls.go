//go:build linux && amd64

package capture

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/cilium/ebpf"

	"github.com/getdwell/dwell/internal/capture/target"
	"github.com/getdwell/dwell/recording"
)

// goRoundTrip is where net/http hands a request to a pooled connection: the goroutine
// that wants the answer still runs there. What then writes and reads are goroutines of
// the connection.
const goRoundTrip = "net/http.(*persistConn).roundTrip"

// goCallShare is what probing that place may cost, of one CPU: at 8 us a hit, as in
// virtual machines, 3,000 calls a second.
const goCallShare = 0.025

// missingGoCalls is the code of what that leaves open.
const missingGoCalls = "go-calls"

// goCalls watches where goroutines hand over requests, within a budget.
type goCalls struct {
	objects  golangObjects
	loaded   bool
	err      error // why it is not loaded
	sites    []probeSite
	links    []io.Closer // of all sites, or none
	budget   hitBudget
	detached int64 // how often the budget was spent
	spared   time.Duration
	since    time.Time // of that, now
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
	g := &s.goCalls
	if site == nil || slices.Contains(g.sites, *site) {
		return
	}
	if err := g.load(s); err != nil {
		s.decoder.noteOnce([]recording.Missing{missingFact(missingGoCalls, err.Error())})
		return
	}
	g.sites = append(g.sites, *site)
	if len(g.sites) > 1 && len(g.links) == 0 {
		return // they wait for their budget
	}
	l, err := site.attach(g.objects.GoCall)
	if err != nil {
		g.sites = g.sites[:len(g.sites)-1]
		s.decoder.note([]recording.Missing{missingFact(missingGoCalls, err.Error())})
		return
	}
	g.links = append(g.links, l)
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
	g.budget = hitBudget{share: goCallShare, hit: trapCost(g.objects.GoCall)}
	g.budget.hits, _ = g.hits()
	g.budget.fill(time.Now())
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
	return max(ns, int64(runs)*int64(g.budget.hit))
}

// keepWithin takes the probes away when their budget is spent, and brings them back.
func (g *goCalls) keepWithin(now time.Time) {
	if len(g.sites) == 0 {
		return
	}
	hits, _ := g.hits()
	attached := len(g.links) > 0
	switch within := g.budget.spend(hits, now, attached); {
	case attached && !within:
		g.detach()
		g.detached++
		g.since = now
	case !attached && within:
		g.spared += now.Sub(g.since)
		g.attach()
	}
}

func (g *goCalls) detach() {
	for _, l := range g.links {
		l.Close()
	}
	g.links = nil
}

// attach probes all sites again; those of processes that have ended are given up.
func (g *goCalls) attach() {
	g.sites = slices.DeleteFunc(g.sites, func(site probeSite) bool {
		l, err := site.attach(g.objects.GoCall)
		if err == nil {
			g.links = append(g.links, l)
		}
		return err != nil
	})
}

// finish says what the budget left open.
func (g *goCalls) finish(now time.Time) []recording.Missing {
	if g.detached == 0 {
		return nil
	}
	if len(g.links) == 0 {
		g.spared += now.Sub(g.since)
	}
	return []recording.Missing{{What: missingGoCalls, Count: g.detached, Why: fmt.Sprintf(
		"probes on outgoing calls of net/http were off for %d ms: at %d ns a call they would have cost more than %d per mille of a CPU",
		g.spared.Milliseconds(), g.budget.hit.Nanoseconds(), int(goCallShare*1000))}}
}

// close takes the probes away.
func (g *goCalls) close() { g.detach() }
