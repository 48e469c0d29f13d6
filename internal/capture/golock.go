//go:build linux && (amd64 || arm64)

package capture

import (
	"fmt"
	"slices"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"

	"github.com/getdwell/dwell/internal/capture/target"
	"github.com/getdwell/dwell/recording"
)

// groupGoWaits is the group of probeObjects.
const groupGoWaits = "go-waits"

// Codes of what is missing about goroutines that wait for each other.
const (
	missingParks  = "go-locks" // nothing is known about locks, for some of the time
	missingOthers = "go-waits" // the same for channels, conditions or pauses
)

// The sets of probes on waits, in the order in which the programs count their hits.
const (
	parkLocks      = int(golocksParkSetPARK_LOCKS)
	parkConditions = int(golocksParkSetPARK_CONDITIONS)
	parkChannels   = int(golocksParkSetPARK_CHANNELS)
	parkPauses     = int(golocksParkSetPARK_PAUSES)
	parkSleeps     = int(golocksParkSetPARK_SLEEPS)
	parkSets       = int(golocksParkSetPARK_SETS)
)

// newParkSets makes the sets of probes.
func newParkSets() [parkSets]*probeSet {
	sets := [...]*probeSet{
		parkLocks:      {what: "goroutines that wait for locks", code: missingParks, name: "go-locks"},
		parkConditions: {what: "goroutines that wait for a sync.Cond", code: missingOthers, name: "go-conditions", rank: rankConditions},
		parkChannels:   {what: "goroutines that wait for channels", code: missingOthers, name: "go-channels", rank: rankChannels},
		parkPauses:     {what: "pauses of all goroutines", code: missingOthers, name: "go-pauses", rank: 1},
		parkSleeps:     {what: "goroutines that sleep", code: missingOthers, name: "go-sleeps", rank: 2},
	}
	for i, set := range sets {
		set.park = i + 1
	}
	return sets
}

// goParks watches where goroutines wait for each other.
type goParks struct {
	maps     golocksMaps
	programs map[string]*ebpf.Program // without the programs of sets that the kernel refused
	refused  []*loaded                // the sets that the kernel refused
	loaded   bool
	err      error // why it is not loaded
	sets     [parkSets]*probeSet
}

// parkPlace is a place in a function of the runtime, or of the standard library, where a program runs.
type parkPlace struct {
	set    int
	name   string // of the function
	calls  string // the program runs where the function calls this one; "": at its entry
	at     string // the program
	ends   string // the program that runs after that call, or when the function returns; "": none
	always bool   // no waits are probed in a Go program that has none of these functions
}

// places lists all of them. If a function has different names in several versions of Go, each has its own entry.
func (g *goParks) places() []parkPlace {
	return []parkPlace{
		{set: parkLocks, name: "internal/sync.runtime_SemacquireMutex", at: "park_mutex", ends: "park_end", always: true},
		{set: parkLocks, name: "sync.runtime_SemacquireMutex", at: "park_mutex", ends: "park_end", always: true}, // before Go 1.24
		{set: parkLocks, name: "sync.runtime_SemacquireRWMutexR", at: "park_read", ends: "park_end"},
		{set: parkLocks, name: "sync.runtime_SemacquireRWMutex", at: "park_write", ends: "park_end"},
		{set: parkLocks, name: "sync.runtime_SemacquireWaitGroup", at: "park_group", ends: "park_end"},
		{set: parkLocks, name: "sync.runtime_Semacquire", at: "park_group", ends: "park_end"}, // before Go 1.24
		{set: parkLocks, name: "internal/sync.runtime_Semrelease", at: "park_release"},
		{set: parkLocks, name: "sync.runtime_Semrelease", at: "park_release"},
		{set: parkConditions, name: "sync.runtime_notifyListWait", at: "park_cond", ends: "park_cond_end"},
		// If no goroutine waits, these two return before this call. In net/http that happens once or more in each
		// request.
		{set: parkConditions, name: "sync.runtime_notifyListNotifyOne", calls: "runtime.lock2", at: "park_notify"},
		{set: parkConditions, name: "sync.runtime_notifyListNotifyAll", calls: "runtime.lock2", at: "park_notify"},
		{set: parkChannels, name: "runtime.chanrecv", calls: "runtime.gopark", at: "park_receive", ends: "park_channel_end"},
		{set: parkChannels, name: "runtime.chansend", calls: "runtime.gopark", at: "park_send", ends: "park_channel_end"},
		{set: parkChannels, name: "database/sql.(*DB).conn", calls: "runtime.selectgo", at: "park_select", ends: "park_channel_end"},
		{set: parkChannels, name: "golang.org/x/sync/semaphore.(*Weighted).Acquire", calls: "runtime.selectgo", at: "park_select", ends: "park_channel_end"},
		{set: parkChannels, name: "runtime.send", at: "park_ready"},
		{set: parkChannels, name: "runtime.recv", at: "park_ready"},
		{set: parkChannels, name: "runtime.closechan", calls: "runtime.goready", at: "park_closed"},
		{set: parkChannels, name: "runtime.closechan", calls: "runtime.systemstack", at: "park_closing"},
		{set: parkPauses, name: "runtime.gcParkAssist", at: "park_collector", ends: "park_rare_end"},
		// When a collection is due, or may be done, every goroutine that allocates handles that itself, one after
		// another.
		{set: parkPauses, name: "runtime.gcStart", calls: "runtime.semacquire1", at: "park_collector", ends: "park_rare_end"},
		{set: parkPauses, name: "runtime.gcMarkDone", calls: "runtime.semacquire1", at: "park_collector", ends: "park_rare_end"},
		{set: parkPauses, name: "runtime.stopTheWorldWithSema", at: "park_stop", ends: "park_stopped"},
		{set: parkPauses, name: "runtime.startTheWorldWithSema", at: "park_start"},
		{set: parkSleeps, name: "time.Sleep", calls: "runtime.gopark", at: "park_sleep", ends: "park_sleep_end"},
		{set: parkSleeps, name: "golang.org/x/time/rate.(*Limiter).wait", calls: "runtime.selectgo", at: "park_sleep", ends: "park_sleep_end"},
	}
}

// followGoParks declares the stacks that came in.
func (s *Session) followGoParks() {
	for _, f := range s.decoder.golang.parks.declared() {
		s.decoder.emit(s.declaring(s.drained), f)
	}
}

// finishGoParks records the goroutines that still wait, and what was lost.
func (s *Session) finishGoParks() {
	s.decoder.finishParks()
	s.goFinder.mu.Lock()
	defer s.goFinder.mu.Unlock()
	for _, l := range s.goParks.refused {
		s.decoder.unseen(recording.NoProcess, l.name, absence{s.begun, clock()})
	}
	missing, a := s.goParks.missing()
	s.decoder.note(missing)
	for _, set := range s.goParks.sets {
		if len(missing) > 0 {
			s.decoder.unseen(recording.NoProcess, set.name, absence{max(a.from, s.begun), a.to})
		}
	}
}

// load loads the programs into the kernel, once, and measures what a hit costs.
func (g *goParks) load(s *Session) error {
	if g.loaded || g.err != nil {
		return g.err
	}
	g.sets = newParkSets()
	if err := g.loadSets(s); err != nil {
		s.hooking.refuse(groupGoWaits)
		g.err = fmt.Errorf("load the programs for Go's locks: %w", err)
		return g.err
	}
	g.loaded = true
	hit := s.trapCost(g.programs["park_end"])
	for i, set := range g.sets {
		set.hit = hit
		set.hits = func() (uint64, time.Duration) { return hitsOf(g.maps.ParkCosts, i) }
	}
	s.goLedgers.enter(&s.goLedgers.often, g.sets[parkConditions], g.sets[parkChannels])
	s.goLedgers.enter(&s.goLedgers.waits, g.sets[parkLocks], g.sets[parkPauses], g.sets[parkSleeps])
	return nil
}

// loadSets loads what the kernel accepts, each set by itself. It fails only if the set for locks is refused: most
// other waits are distinguished from waits for locks.
func (g *goParks) loadSets(s *Session) error {
	spec, err := loadGolocks()
	if err != nil {
		return err
	}
	prepareProbes(spec)
	return s.sharing(groupGoWaits, spec, func(shared *ebpf.CollectionOptions) error {
		o, err := s.newObject(spec)
		if err != nil {
			return err
		}
		s.keep(o)
		if err := o.maps.Assign(&g.maps); err != nil {
			return err
		}
		return g.loadFrom(o, shared.Cache)
	})
}

// loadFrom loads the sets of an object whose maps exist already.
func (g *goParks) loadFrom(o *object, types *btf.Cache) error {
	g.programs = map[string]*ebpf.Program{}
	for i, set := range g.sets {
		l := o.load(group{name: set.name, ways: [][]string{g.programsOf(i)}, lacks: set.what}, types)
		if !l.ok() {
			g.refused = append(g.refused, l)
			if i == parkLocks {
				return l.refused()
			}
		}
		for n, name := range l.way {
			g.programs[name] = l.programs[n]
		}
	}
	return nil
}

// programsOf lists the names of a set's programs.
func (g *goParks) programsOf(set int) (names []string) {
	for _, p := range g.places() {
		for _, name := range []string{p.ends, p.at} {
			if p.set == set && name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// lacks lists what is not seen because the kernel refused it.
func (g *goParks) lacks() (missing []recording.Missing) {
	for _, l := range g.refused {
		missing = append(missing, missingFact(missingOthers, fmt.Sprintf("%s are not seen: %v", l.lacks, l.refused())))
	}
	return missing
}

// namesOf lists the functions to look for.
func namesOf(places []parkPlace) (names []string) {
	for _, p := range places {
		names = append(names, p.name)
		if p.calls != "" {
			names = append(names, p.calls)
		}
	}
	return names
}

// find lists the probes in an executable, by set. Functions that the linker left out because nothing calls them
// need none.
func (g *goParks) find(pid int, exe *target.GoProgram) (probes [parkSets][]goProbe, err error) {
	locks := false
	for _, p := range g.places() {
		if _, ok := exe.Functions[p.name]; !ok || g.programs[p.at] == nil {
			continue
		}
		locks = locks || p.always
		found, err := p.probes(exe, g.programs)
		if err != nil {
			return [parkSets][]goProbe{}, fmt.Errorf("find the locks of process %d: %w", pid, err)
		}
		probes[p.set] = append(probes[p.set], found...)
	}
	if !locks {
		return [parkSets][]goProbe{}, fmt.Errorf("find the locks of process %d: its Go has none of the functions in which goroutines wait for one (Go 1.17 to 1.26 have)", pid)
	}
	return probes, nil
}

// probes lists the probes of one place.
func (p *parkPlace) probes(exe *target.GoProgram, programs map[string]*ebpf.Program) (list []goProbe, err error) {
	begin, end := []uint64{exe.Functions[p.name].Probe}, []uint64(nil)
	if p.ends != "" || p.calls != "" {
		code, err := exe.CodeOf(p.name)
		if err != nil {
			return nil, err
		}
		end = code.Returns
		if p.calls != "" {
			begin, end = code.Calls(exe.Functions[p.calls])
		}
	}
	if p.ends != "" { // first: a wait that is seen to begin must also be seen to end
		for _, at := range end {
			list = append(list, goProbe{programs[p.ends], at})
		}
	}
	for _, at := range begin {
		list = append(list, goProbe{programs[p.at], at})
	}
	return list, nil
}

// missing returns what was lost, and between which times.
func (g *goParks) missing() (missing []recording.Missing, between absence) {
	var perCPU []golocksLoss
	lost := int64(0)
	if g.loaded && g.maps.ParkLosses.Lookup(uint32(0), &perCPU) == nil {
		for _, l := range perCPU {
			if l.Count == 0 {
				continue
			}
			if first := recording.Time(l.First); lost == 0 || first < between.from {
				between.from = first
			}
			between.to = max(between.to, recording.Time(l.Last)+1)
			lost += int64(l.Count)
		}
	}
	if lost == 0 {
		return nil, between
	}
	return []recording.Missing{{What: missingParks, Count: lost, Timed: 1, Why: "waits of goroutines were lost because a buffer was full"}}, between
}
