//go:build linux && amd64

package capture

import (
	"fmt"
	"time"

	"github.com/cilium/ebpf"

	"github.com/getdwell/dwell/internal/capture/target"
)

// goPlace is a function of Go at which a program runs.
type goPlace struct {
	function string
	what     string // it tells, to be said where it is missing
	code     string // of that
	rank     int    // in the order in which sets of probes are kept
}

// Codes of what is missing.
const (
	missingGoCalls = "go-calls"
	missingGoRuns  = "go-runs"
)

// The order in which sets of probes met in every request are kept where not all can be:
// whose call it is comes first.
const (
	rankCalls = iota
	rankConditions
	rankChannels
	rankYields
	rankRuns
)

// goPlaces are all of them, by enum go_program.
func goPlaces() [golangGoProgramGO_PROGRAMS]goPlace {
	return [...]goPlace{
		// The goroutine that wants the answer still runs there. What then writes and
		// reads are goroutines of the connection.
		golangGoProgramGO_CALL:  {"net/http.(*persistConn).roundTrip", "outgoing calls of net/http", missingGoCalls, rankCalls},
		golangGoProgramGO_RUN:   {"runtime.execute", "which goroutine runs where", missingGoRuns, rankRuns},
		golangGoProgramGO_YIELD: {"runtime.goschedImpl", "which goroutines have to let others run", missingGoRuns, rankYields},
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
	sets    [golangGoProgramGO_PROGRAMS]*probeSet

	programs [golangGoProgramGO_PROGRAMS]*ebpf.Program
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
	if s.opts.NoGoProbes {
		return
	}
	g := &s.goProbes
	for i, place := range goPlaces() {
		if sites[i].pid == 0 {
			continue
		}
		err := g.load(s)
		if err == nil {
			err = g.sets[i].add([]probe{{sites[i], g.programs[i]}})
		}
		s.lacks(place.code, err)
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
	g.programs = [...]*ebpf.Program{
		golangGoProgramGO_CALL: o.GoCall, golangGoProgramGO_RUN: o.GoRun, golangGoProgramGO_YIELD: o.GoYield,
	}
	hit := trapCost(o.GoCall)
	for i, place := range goPlaces() {
		g.sets[i] = &probeSet{what: place.what, code: place.code, rank: place.rank, hit: hit,
			hits: func() (uint64, time.Duration) { return hitsOf(o.GoCosts, i) }}
		g.sets[i].spent = g.sets[i].cost() // of measuring
	}
	s.goLedgers.often.enter(time.Now(), g.sets[:]...)
	return nil
}

// hitsOf is how often the programs of one slot of a map of costs ran, and the time that
// took, without the traps.
func hitsOf(costs *ebpf.Map, slot int) (runs uint64, took time.Duration) {
	var perCPU []probesCost
	if costs.Lookup(uint32(slot), &perCPU) != nil {
		return 0, 0
	}
	for _, c := range perCPU {
		runs += c.Runs
		took += time.Duration(c.estimate())
	}
	return runs, took
}
