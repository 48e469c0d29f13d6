//go:build linux && (amd64 || arm64)

package capture

import (
	"fmt"
	"time"

	"github.com/cilium/ebpf"

	"github.com/getdwell/dwell/internal/capture/target"
)

// goPlace is a set of places in Go's runtime and standard library where one program runs.
type goPlace struct {
	places []parkPlace
	what   string // what the program reports, named in the message if it is missing
	code   string // the code of that message
	name   string // in the facts that say when it was not reported
	rank   int    // lower ranks are kept first if the budget does not allow all sets of probes
}

// Codes of what is missing.
const (
	missingGoCalls = "go-calls"
	missingGoRuns  = "go-runs"
)

// Ranks of the sets of probes that every request hits. If the budget does not allow all of them, the first ones are
// kept: which goroutine makes a call matters most.
const (
	rankCalls = iota
	rankConditions
	rankChannels
	rankYields
	rankRuns
)

// goPlaces lists all of them, by enum go_program.
func goPlaces() [golangGoProgramGO_PROGRAMS]goPlace {
	return [...]goPlace{
		// The goroutine that wants the answer still runs here. Later, goroutines of the connection write and read.
		golangGoProgramGO_CALL:  {[]parkPlace{{name: "net/http.(*persistConn).roundTrip"}}, "outgoing calls of net/http", missingGoCalls, "go-calls", rankCalls},
		golangGoProgramGO_RUN:   {[]parkPlace{{name: "runtime.execute"}}, "which goroutine runs where", missingGoRuns, "go-runs", rankRuns},
		golangGoProgramGO_YIELD: {goYields(), "which goroutines have to let others run", missingGoRuns, "go-yields", rankYields},
	}
}

// goYields lists where a goroutine that could run on is taken off its thread, in all versions of Go. The sweeper
// lets others run after each page, which is of no interest: it passes none of these places.
func goYields() []parkPlace {
	return []parkPlace{
		{name: "runtime.newstack", calls: "runtime.goschedImpl"}, // it ran for 10 ms, or all goroutines have to stop
		{name: "runtime.gopreempt_m", calls: "runtime.goschedImpl"},
		{name: "runtime.asyncPreempt2.func1", calls: "runtime.goschedImpl"},
		{name: "runtime.preemptPark"},    // the collector scans its stack
		{name: "runtime.goyield_m"},      // it handed a lock to a goroutine that had waited for long
		{name: "runtime.exitsyscallNoP"}, // its system call took so long that another goroutine has its turn
		{name: "runtime.exitsyscall0"},   // the same, before Go 1.26
		{name: "runtime.Gosched"},
	}
}

// goProbes watches what goroutines do, within budgets.
type goProbes struct {
	objects golangObjects
	loaded  bool
	err     error // why it is not loaded
	sets    [golangGoProgramGO_PROGRAMS]*probeSet

	programs [golangGoProgramGO_PROGRAMS]*ebpf.Program
}

// goCallNames lists the functions to look for.
func goCallNames() (names []string) {
	for _, place := range goPlaces() {
		names = append(names, namesOf(place.places)...)
	}
	return names
}

// find lists the probes in an executable, by program. A function that the executable lacks needs no probe. If a
// place is not found in a function's code, only that place is lost; the error is the first of these.
func (g *goProbes) find(exe *target.GoProgram) (probes [golangGoProgramGO_PROGRAMS][]goProbe, lost error) {
	for i, place := range goPlaces() {
		for _, p := range place.places {
			if _, ok := exe.Functions[p.name]; !ok {
				continue
			}
			found, err := p.probes(exe, map[string]*ebpf.Program{p.at: g.programs[i]})
			if lost == nil {
				lost = err
			}
			probes[i] = append(probes[i], found...)
		}
	}
	return probes, lost
}

// load loads the programs into the kernel, once, and measures what a hit costs.
func (g *goProbes) load(s *Session) error {
	if g.loaded || g.err != nil {
		return g.err
	}
	if err := s.loadInto(&g.objects, "go-calls", loadGolang); err != nil {
		g.err = fmt.Errorf("load the programs for Go: %w", err)
		return g.err
	}
	g.loaded = true
	s.keep(&g.objects)
	o := &g.objects
	g.programs = [...]*ebpf.Program{
		golangGoProgramGO_CALL: o.GoCall, golangGoProgramGO_RUN: o.GoRun, golangGoProgramGO_YIELD: o.GoYield,
	}
	hit := s.trapCost(o.GoCall)
	for i, place := range goPlaces() {
		g.sets[i] = &probeSet{what: place.what, code: place.code, name: place.name, rank: place.rank, hit: hit,
			hits: func() (uint64, time.Duration) { return hitsOf(o.GoCosts, i) }}
	}
	s.goLedgers.enter(&s.goLedgers.often, g.sets[:]...)
	return nil
}

// hitsOf returns how often the programs of one slot of a cost map ran, and the time that this took, without the
// traps.
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
