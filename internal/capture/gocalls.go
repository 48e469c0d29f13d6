//go:build linux && (amd64 || arm64)

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
	name     string // in the facts that say when it was not told
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
		golangGoProgramGO_CALL:  {"net/http.(*persistConn).roundTrip", "outgoing calls of net/http", missingGoCalls, "go-calls", rankCalls},
		golangGoProgramGO_RUN:   {"runtime.execute", "which goroutine runs where", missingGoRuns, "go-runs", rankRuns},
		golangGoProgramGO_YIELD: {"runtime.goschedImpl", "which goroutines have to let others run", missingGoRuns, "go-yields", rankYields},
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

// goCallNames are the functions that are looked for.
func goCallNames() (names []string) {
	for _, place := range goPlaces() {
		names = append(names, place.function)
	}
	return names
}

// find lists the probes in an executable by program. What it does not have, for it makes
// no such calls, needs none.
func (g *goProbes) find(exe *target.GoProgram) (probes [golangGoProgramGO_PROGRAMS][]goProbe) {
	for i, place := range goPlaces() {
		if f, ok := exe.Functions[place.function]; ok {
			probes[i] = []goProbe{{g.programs[i], f.Probe}}
		}
	}
	return probes
}

// load brings the programs into the kernel, once, and finds out what a hit costs.
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
