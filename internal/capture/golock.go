//go:build linux && amd64

package capture

import (
	"fmt"
	"io"
	"slices"
	"sync"
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

// parkSet is a set of probes with a budget of its own: what is met too often does not
// take the others with it.
type parkSet struct {
	what  string
	code  string  // of what is missing without it
	share float64 // of one CPU that it may cost

	changing sync.Mutex // held while probes come or go, beside the recording
	probes   []parkProbe
	links    []io.Closer // of all probes, or none
	budget   hitBudget
	detached int64
	spared   time.Duration
	since    time.Time
}

// parkProbe is a program at a place in one process.
type parkProbe struct {
	site    probeSite
	program *ebpf.Program
}

// newParkSets are the sets, in the order in which the programs count their hits.
func newParkSets() []*parkSet {
	return []*parkSet{
		{what: "locks", code: missingParks, share: 0.02},
		{what: "sync.Cond", code: missingOthers, share: 0.005},
		{what: "channels", code: missingOthers, share: 0.01},
		{what: "pauses", code: missingOthers, share: 0.005},
	}
}

// goParks watches where goroutines wait for each other.
type goParks struct {
	objects golocksObjects
	loaded  bool
	err     error // why it is not loaded
	sets    []*parkSet
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
	const locks, conditions, channels, rare = 0, 1, 2, 3
	return []parkPlace{
		{set: locks, name: "internal/sync.runtime_SemacquireMutex", at: o.ParkMutex, ends: o.ParkEnd, always: true},
		{set: locks, name: "sync.runtime_SemacquireMutex", at: o.ParkMutex, ends: o.ParkEnd, always: true}, // before Go 1.24
		{set: locks, name: "sync.runtime_SemacquireRWMutexR", at: o.ParkRead, ends: o.ParkEnd},
		{set: locks, name: "sync.runtime_SemacquireRWMutex", at: o.ParkWrite, ends: o.ParkEnd},
		{set: locks, name: "sync.runtime_SemacquireWaitGroup", at: o.ParkGroup, ends: o.ParkEnd},
		{set: locks, name: "sync.runtime_Semacquire", at: o.ParkGroup, ends: o.ParkEnd}, // before Go 1.24
		{set: locks, name: "internal/sync.runtime_Semrelease", at: o.ParkRelease},
		{set: locks, name: "sync.runtime_Semrelease", at: o.ParkRelease},
		{set: conditions, name: "sync.runtime_notifyListWait", at: o.ParkCond, ends: o.ParkCondEnd},
		{set: conditions, name: "sync.runtime_notifyListNotifyOne", at: o.ParkNotify},
		{set: conditions, name: "sync.runtime_notifyListNotifyAll", at: o.ParkNotify},
		{set: channels, name: "runtime.chanrecv", calls: "runtime.gopark", at: o.ParkReceive, ends: o.ParkChannelEnd},
		{set: channels, name: "runtime.chansend", calls: "runtime.gopark", at: o.ParkSend, ends: o.ParkChannelEnd},
		{set: channels, name: "database/sql.(*DB).conn", calls: "runtime.selectgo", at: o.ParkSelect, ends: o.ParkChannelEnd},
		{set: channels, name: "runtime.send", at: o.ParkReady},
		{set: channels, name: "runtime.recv", at: o.ParkReady},
		{set: rare, name: "runtime.gcParkAssist", at: o.ParkCollector, ends: o.ParkRareEnd},
		{set: rare, name: "runtime.stopTheWorldWithSema", at: o.ParkStop, ends: o.ParkStopped},
		{set: rare, name: "runtime.startTheWorldWithSema", at: o.ParkStart},
	}
}

// watchGoParks adds a process. What stands in the way is recorded as missing.
func (s *Session) watchGoParks(r resolution) {
	if r.process.Runtime != recording.RuntimeGo || r.err != nil {
		return // without ids of goroutines nothing can be joined
	}
	g, pid := &s.goParks, r.process.PID
	if err := g.load(s); err != nil {
		s.decoder.noteOnce([]recording.Missing{missingFact(missingParks, err.Error())})
		return
	}
	probes, err := g.find(pid)
	if err != nil {
		s.decoder.note([]recording.Missing{missingFact(missingParks, err.Error())})
		return
	}
	s.decoder.golang.parks.open(pid)
	for i, set := range g.sets {
		if err := set.add(probes[i]); err != nil {
			s.decoder.note([]recording.Missing{missingFact(set.code, err.Error())})
		}
	}
}

// readyGoParks loads the programs before the recording starts, which takes a moment, if
// the process runs Go or is about to run who knows what.
func (s *Session) readyGoParks(p target.Process) {
	if p.Runtime == recording.RuntimeGo || isGate(p) {
		_ = s.goParks.load(s) // watchGoParks says why not
	}
}

// followGoParks keeps the probes within their budgets and declares the stacks that came
// in.
func (s *Session) followGoParks() {
	s.decoder.forgetParks(s.goParks.keepWithin(time.Now(), s.workers.Go))
	for _, f := range s.decoder.golang.parks.declared() {
		s.decoder.emit(s.begun, f)
	}
}

// finishGoParks tells who still waits, and what the budgets left open.
func (s *Session) finishGoParks() {
	s.decoder.finishParks()
	s.decoder.note(s.goParks.finish(time.Now()))
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
		set.budget = hitBudget{share: set.share, hit: hit}
		set.budget.hits, _ = g.hits(i)
		set.budget.fill(time.Now())
	}
	return nil
}

// find lists the probes of one process by set. Functions that the linker left out, as
// nobody calls them, need none.
func (g *goParks) find(pid int) ([][]parkProbe, error) {
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
	probes, locks := make([][]parkProbe, len(g.sets)), false
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
func (p *parkPlace) probes(pid int, exe *target.GoProgram) (list []parkProbe, err error) {
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
			list = append(list, parkProbe{probeSite{pid, exe.Path, at}, program})
		}
	}
	if p.ends != nil {
		add(end, p.ends) // first: what begins is to be seen to end
	}
	add(begin, p.at)
	return list, nil
}

// add attaches the probes of one process, unless the budget is spent.
func (p *parkSet) add(probes []parkProbe) error {
	p.changing.Lock()
	defer p.changing.Unlock()
	if len(probes) > 0 && slices.Contains(p.probes, probes[0]) {
		return nil
	}
	off := len(p.probes) > 0 && len(p.links) == 0
	p.probes = append(p.probes, probes...)
	if off {
		return nil
	}
	for _, x := range probes {
		l, err := x.site.attach(x.program)
		if err != nil {
			return err
		}
		p.links = append(p.links, l)
	}
	return nil
}

// detach takes the probes away.
func (p *parkSet) detach() {
	closeAll(p.links)
	p.links = nil
}

// attach brings them back; those of processes that have ended are given up.
func (p *parkSet) attach() {
	p.probes = slices.DeleteFunc(p.probes, func(x parkProbe) bool {
		l, err := x.site.attach(x.program)
		if err == nil {
			p.links = append(p.links, l)
		}
		return err != nil
	})
}

// hits is how often the programs of a set ran, and the time that took, in ns.
func (g *goParks) hits(set int) (runs uint64, ns int64) {
	var perCPU []probesCost
	if !g.loaded || g.objects.ParkCosts.Lookup(uint32(set), &perCPU) != nil {
		return 0, 0
	}
	for _, c := range perCPU {
		runs += c.Runs
		ns += c.estimate()
	}
	return runs, ns
}

// cost is what the probes took so far, traps included, in ns.
func (g *goParks) cost() (total int64) {
	for i, set := range g.sets {
		runs, ns := g.hits(i)
		total += ns + int64(runs)*int64(set.budget.hit)
	}
	return total
}

// keepWithin takes sets of probes away when their budget is spent, and brings them back,
// beside what runs now. It returns those taken away: what they had seen begin will not be
// seen to end.
func (g *goParks) keepWithin(now time.Time, beside func(func())) (off []int) {
	for i, set := range g.sets {
		hits, _ := g.hits(i)
		if set.keepWithin(hits, now, beside) {
			off = append(off, i)
		}
	}
	return off
}

// keepWithin reports whether the set goes.
func (p *parkSet) keepWithin(hits uint64, now time.Time, beside func(func())) bool {
	if !p.changing.TryLock() {
		return false
	}
	attached := len(p.links) > 0
	within := len(p.probes) > 0 && p.budget.spend(hits, now, attached)
	if len(p.probes) == 0 || within == attached {
		p.changing.Unlock()
		return false
	}
	change := p.attach
	if within {
		p.spared += now.Sub(p.since)
	} else {
		p.detached++
		p.since = now
		change = p.detach
	}
	beside(func() {
		defer p.changing.Unlock()
		change()
	})
	return !within
}

// finish says what the budgets left open.
func (g *goParks) finish(now time.Time) (missing []recording.Missing) {
	for _, set := range g.sets {
		if set.detached == 0 {
			continue
		}
		set.changing.Lock()
		if len(set.links) == 0 {
			set.spared += now.Sub(set.since)
			set.since = now
		}
		set.changing.Unlock()
		missing = append(missing, recording.Missing{What: set.code, Count: set.detached, Why: fmt.Sprintf(
			"probes on goroutines that wait for %s were off for %d ms: at %d ns a hit they would have cost more than %d per mille of a CPU",
			set.what, set.spared.Milliseconds(), set.budget.hit.Nanoseconds(), int(set.share*1000))})
	}
	var perCPU []golocksLoss
	lost := uint64(0)
	if g.loaded && g.objects.ParkLosses.Lookup(uint32(0), &perCPU) == nil {
		for _, l := range perCPU {
			lost += l.Count
		}
		if lost > 0 {
			missing = append(missing, recording.Missing{What: missingParks, Count: int64(lost), Why: "waits of goroutines were lost because a buffer was full"})
		}
	}
	return missing
}

// close takes all probes away.
func (g *goParks) close() {
	for _, set := range g.sets {
		set.detach()
	}
}
