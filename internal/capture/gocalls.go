//go:build linux && amd64

package capture

import (
	"fmt"
	"time"

	"github.com/cilium/ebpf"

	"github.com/getdwell/dwell/internal/capture/target"
	"github.com/getdwell/dwell/recording"
)

// goPlace is a function of Go at which a program runs.
type goPlace struct {
	function string
	what     string  // what it tells, to be said where it is missing
	code     string  // of that
	share    float64 // of one CPU that it may cost
}

// Codes of what is missing.
const (
	missingGoCalls = "go-calls"
	missingGoRuns  = "go-runs"
)

// goPlaces are all of them, by enum go_program. A hit takes 1 us, as measured in a
// virtual machine: the budgets last for 25,000 calls a second, and as many switches
// between goroutines.
func goPlaces() [golangGoProgramGO_PROGRAMS]goPlace {
	return [...]goPlace{
		// The goroutine that wants the answer still runs there. What then writes and
		// reads are goroutines of the connection.
		golangGoProgramGO_CALL:  {"net/http.(*persistConn).roundTrip", "outgoing calls of net/http", missingGoCalls, 0.025},
		golangGoProgramGO_RUN:   {"runtime.execute", "which goroutine runs where", missingGoRuns, 0.025},
		golangGoProgramGO_YIELD: {"runtime.goschedImpl", "which goroutines have to let others run", missingGoRuns, 0.005},
	}
}

// goSites are where those functions are in one process; those that it does not have,
// for it makes no such calls, are zero.
type goSites [golangGoProgramGO_PROGRAMS]probeSite

// goProbes watches what goroutines do, within budgets.
type goProbes struct {
	objects golangObjects
	loaded  bool
	err     error // why it is not loaded
	sets    [golangGoProgramGO_PROGRAMS]probeSet
}

// findGoSites finds the places in a Go program.
func findGoSites(pid int) (sites goSites, err error) {
	var names []string
	for _, place := range goPlaces() {
		names = append(names, place.function)
	}
	p, err := target.GoFunctions(pid, names...)
	if err != nil {
		return sites, err
	}
	for i, name := range names {
		if f, ok := p.Functions[name]; ok {
			sites[i] = probeSite{pid, p.Path, f.Probe}
		}
	}
	return sites, nil
}

// watchGo adds a process. What stands in the way is recorded as missing.
func (s *Session) watchGo(sites goSites) {
	g := &s.goProbes
	for i, place := range goPlaces() {
		if sites[i].pid == 0 {
			continue
		}
		err := g.load(s)
		if err == nil {
			err = g.sets[i].add(sites[i])
		}
		if err != nil {
			s.decoder.noteOnce([]recording.Missing{missingFact(place.code, err.Error())})
		}
	}
}

// load brings the programs into the kernel, once, and finds out what a hit costs.
func (g *goProbes) load(s *Session) error {
	if g.loaded || g.err != nil {
		return g.err
	}
	spec, err := loadGolang()
	if err == nil {
		prepareProbes(spec)
		err = spec.LoadAndAssign(&g.objects, &ebpf.CollectionOptions{MapReplacements: map[string]*ebpf.Map{
			golangMapEvents: s.objects.Events, golangMapWatched: s.objects.Watched, golangMapWatchedHints: s.objects.WatchedHints,
			golangMapLosses: s.objects.Losses, golangMapReported: s.objects.Reported,
		}})
	}
	if err != nil {
		g.err = fmt.Errorf("load the programs for Go: %w", err)
		return g.err
	}
	g.loaded = true
	s.keep(&g.objects)
	o := &g.objects
	programs := [...]*ebpf.Program{
		golangGoProgramGO_CALL: o.GoCall, golangGoProgramGO_RUN: o.GoRun, golangGoProgramGO_YIELD: o.GoYield,
	}
	hit := max(trapCost(o.GoCall), trapInService) // they are met in every request
	for i, place := range goPlaces() {
		set := &g.sets[i]
		set.program = programs[i]
		set.hits = func() uint64 { n, _ := g.hits(i); return n }
		set.budget = hitBudget{share: place.share, hit: hit, hits: set.hits()} // those of measuring
		set.budget.fill(time.Now())
	}
	return nil
}

// hits is how often a program ran, and the time that took, in ns.
func (g *goProbes) hits(program int) (runs uint64, ns int64) {
	var perCPU []probesCost
	if !g.loaded || g.objects.GoCosts.Lookup(uint32(program), &perCPU) != nil {
		return 0, 0
	}
	for _, c := range perCPU {
		runs += c.Runs
		ns += c.estimate()
	}
	return runs, ns
}

// cost is what the probes took so far, traps included, in ns.
func (g *goProbes) cost() (total int64) {
	for i := range g.sets {
		runs, ns := g.hits(i)
		total += max(ns, int64(runs)*int64(g.sets[i].budget.hit))
	}
	return total
}

// keepGoWithin keeps the probes within their budgets.
func (s *Session) keepGoWithin(now time.Time) {
	for i := range s.goProbes.sets {
		s.goProbes.sets[i].keepWithin(now, s.workers.Go)
	}
}

// finish says what the budgets left open.
func (g *goProbes) finish(now time.Time) (missing []recording.Missing) {
	for i, place := range goPlaces() {
		set := &g.sets[i]
		if set.detached == 0 {
			continue
		}
		missing = append(missing, recording.Missing{What: place.code, Count: set.detached, Why: fmt.Sprintf(
			"%s was not followed for %d ms: at %d ns each it would have cost more than %d per mille of a CPU",
			place.what, set.off(now).Milliseconds(), set.budget.hit.Nanoseconds(), int(place.share*1000))})
	}
	return missing
}

// close takes the probes away.
func (g *goProbes) close() {
	for i := range g.sets {
		g.sets[i].detach()
	}
}
