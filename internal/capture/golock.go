//go:build linux && amd64

package capture

import (
	"fmt"
	"time"

	"github.com/cilium/ebpf"

	"github.com/getdwell/dwell/internal/capture/target"
	"github.com/getdwell/dwell/recording"
)

// Codes of what is missing of goroutines that wait for each other.
const (
	missingParks  = "go-locks" // nothing is known of locks, for some of the time
	missingOthers = "go-waits" // of channels, conditions or pauses
)

// The sets of probes on waits, in the order in which the programs count their hits.
const (
	parkLocks = iota
	parkConditions
	parkChannels
	parkPauses
	parkSets
)

// newParkSets are the sets of probes.
func newParkSets() [parkSets]*probeSet {
	return [...]*probeSet{
		parkLocks:      {what: "goroutines that wait for locks", code: missingParks},
		parkConditions: {what: "goroutines that wait for a sync.Cond", code: missingOthers, rank: rankConditions},
		parkChannels:   {what: "goroutines that wait for channels", code: missingOthers, rank: rankChannels},
		parkPauses:     {what: "pauses of all goroutines", code: missingOthers, rank: 1},
	}
}

// goParks watches where goroutines wait for each other.
type goParks struct {
	objects golocksObjects
	loaded  bool
	err     error // why it is not loaded
	sets    [parkSets]*probeSet
}

// parkPlace is where in a function of the runtime, or of the standard library, a
// program is to run.
type parkPlace struct {
	set    int
	name   string // of the function
	calls  string // the program is to run where it calls this function; "" at its entry
	at     *ebpf.Program
	ends   *ebpf.Program // where it goes on after the call, or returns; nil nowhere
	always bool          // a program without it tells nothing of the set
}

// places are all of them. The names of a function in several versions of Go are apart.
func (g *goParks) places() []parkPlace {
	o := &g.objects
	return []parkPlace{
		{set: parkLocks, name: "internal/sync.runtime_SemacquireMutex", at: o.ParkMutex, ends: o.ParkEnd, always: true},
		{set: parkLocks, name: "sync.runtime_SemacquireMutex", at: o.ParkMutex, ends: o.ParkEnd, always: true}, // before Go 1.24
		{set: parkLocks, name: "sync.runtime_SemacquireRWMutexR", at: o.ParkRead, ends: o.ParkEnd},
		{set: parkLocks, name: "sync.runtime_SemacquireRWMutex", at: o.ParkWrite, ends: o.ParkEnd},
		{set: parkLocks, name: "sync.runtime_SemacquireWaitGroup", at: o.ParkGroup, ends: o.ParkEnd},
		{set: parkLocks, name: "sync.runtime_Semacquire", at: o.ParkGroup, ends: o.ParkEnd}, // before Go 1.24
		{set: parkLocks, name: "internal/sync.runtime_Semrelease", at: o.ParkRelease},
		{set: parkLocks, name: "sync.runtime_Semrelease", at: o.ParkRelease},
		{set: parkConditions, name: "sync.runtime_notifyListWait", at: o.ParkCond, ends: o.ParkCondEnd},
		{set: parkConditions, name: "sync.runtime_notifyListNotifyOne", at: o.ParkNotify},
		{set: parkConditions, name: "sync.runtime_notifyListNotifyAll", at: o.ParkNotify},
		{set: parkChannels, name: "runtime.chanrecv", calls: "runtime.gopark", at: o.ParkReceive, ends: o.ParkChannelEnd},
		{set: parkChannels, name: "runtime.chansend", calls: "runtime.gopark", at: o.ParkSend, ends: o.ParkChannelEnd},
		{set: parkChannels, name: "database/sql.(*DB).conn", calls: "runtime.selectgo", at: o.ParkSelect, ends: o.ParkChannelEnd},
		{set: parkChannels, name: "runtime.send", at: o.ParkReady},
		{set: parkChannels, name: "runtime.recv", at: o.ParkReady},
		{set: parkPauses, name: "runtime.gcParkAssist", at: o.ParkCollector, ends: o.ParkRareEnd},
		{set: parkPauses, name: "runtime.stopTheWorldWithSema", at: o.ParkStop, ends: o.ParkStopped},
		{set: parkPauses, name: "runtime.startTheWorldWithSema", at: o.ParkStart},
	}
}

// watchGoParks adds a process. What stands in the way is recorded as missing.
func (s *Session) watchGoParks(r resolution) {
	if r.process.Runtime != recording.RuntimeGo || r.err != nil || s.opts.NoGoProbes {
		return // without ids of goroutines nothing can be joined
	}
	g, pid := &s.goParks, r.process.PID
	if err := g.load(s); err != nil {
		s.lacks(missingParks, err)
		return
	}
	probes, err := g.find(pid)
	if err != nil {
		s.lacks(missingParks, err)
		return
	}
	s.decoder.golang.parks.open(pid)
	for i, set := range g.sets {
		s.lacks(set.code, set.add(probes[i]))
	}
}

// readyGoParks loads the programs before the recording starts, which takes a moment, if
// the process runs Go or is about to run who knows what.
func (s *Session) readyGoParks(p target.Process) {
	if !s.opts.NoGoProbes && (p.Runtime == recording.RuntimeGo || isGate(p)) {
		_ = s.goParks.load(s) // watchGoParks says why not
	}
}

// followGoParks declares the stacks that came in.
func (s *Session) followGoParks() {
	for _, f := range s.decoder.golang.parks.declared() {
		s.decoder.emit(s.begun, f)
	}
}

// finishGoParks tells who still waits, and what was lost.
func (s *Session) finishGoParks() {
	s.decoder.finishParks()
	s.decoder.note(s.goParks.missing())
}

// load brings the programs into the kernel, once, and finds out what a hit costs.
func (g *goParks) load(s *Session) error {
	if g.loaded || g.err != nil {
		return g.err
	}
	spec, err := loadGolocks()
	if err == nil {
		prepareProbes(spec)
		err = spec.LoadAndAssign(&g.objects, &ebpf.CollectionOptions{MapReplacements: map[string]*ebpf.Map{
			golocksMapEvents: s.objects.Events, golocksMapWatched: s.objects.Watched, golocksMapWatchedHints: s.objects.WatchedHints,
		}})
	}
	if err != nil {
		g.err = fmt.Errorf("load the programs for Go's locks: %w", err)
		return g.err
	}
	g.loaded, g.sets = true, newParkSets()
	s.keep(&g.objects)
	hit := trapCost(g.objects.ParkEnd)
	for i, set := range g.sets {
		set.hit = hit
		set.hits = func() (uint64, time.Duration) { return hitsOf(g.objects.ParkCosts, i) }
		set.spent = set.cost() // of measuring
	}
	s.goLedgers.often.enter(time.Now(), g.sets[parkConditions], g.sets[parkChannels])
	s.goLedgers.waits.enter(time.Now(), g.sets[parkLocks], g.sets[parkPauses])
	return nil
}

// find lists the probes of one process by set. Functions that the linker left out, as
// nobody calls them, need none.
func (g *goParks) find(pid int) ([][]probe, error) {
	places := g.places()
	var names []string
	for _, p := range places {
		names = append(names, p.name)
		if p.calls != "" {
			names = append(names, p.calls)
		}
	}
	exe, err := target.GoFunctions(pid, names...)
	if err != nil {
		return nil, err
	}
	probes, locks := make([][]probe, len(g.sets)), false
	for _, p := range places {
		if _, ok := exe.Functions[p.name]; !ok {
			continue
		}
		locks = locks || p.always
		found, err := p.probes(pid, &exe)
		if err != nil {
			return nil, fmt.Errorf("find the locks of process %d: %w", pid, err)
		}
		probes[p.set] = append(probes[p.set], found...)
	}
	if !locks {
		return nil, fmt.Errorf("find the locks of process %d: its Go has none of the functions in which goroutines wait for one (Go 1.17 to 1.26 have)", pid)
	}
	return probes, nil
}

// probes are those of one place in one process.
func (p *parkPlace) probes(pid int, exe *target.GoProgram) (list []probe, err error) {
	begin, end := []uint64{exe.Functions[p.name].Probe}, []uint64(nil)
	if p.ends != nil || p.calls != "" {
		code, err := exe.CodeOf(p.name)
		if err != nil {
			return nil, err
		}
		end = code.Returns
		if p.calls != "" {
			begin, end = code.Calls(exe.Functions[p.calls])
		}
	}
	add := func(offsets []uint64, program *ebpf.Program) {
		for _, at := range offsets {
			list = append(list, probe{probeSite{pid, exe.Path, at}, program})
		}
	}
	if p.ends != nil {
		add(end, p.ends) // first: what begins is to be seen to end
	}
	add(begin, p.at)
	return list, nil
}

// missing says what was lost.
func (g *goParks) missing() []recording.Missing {
	var perCPU []golocksLoss
	lost := int64(0)
	if g.loaded && g.objects.ParkLosses.Lookup(uint32(0), &perCPU) == nil {
		for _, l := range perCPU {
			lost += int64(l.Count)
		}
	}
	if lost == 0 {
		return nil
	}
	return []recording.Missing{{What: missingParks, Count: lost, Why: "waits of goroutines were lost because a buffer was full"}}
}
