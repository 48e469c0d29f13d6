package build

import (
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// parkFacts are the facts about goroutines that wait for each other, in order of time.
type parkFacts struct {
	parks   []parkAt
	unparks []unparkAt
	pauses  []pauseAt
}

type parkAt struct {
	at recording.Time
	*recording.Park
}

type unparkAt struct {
	at recording.Time
	*recording.Unpark
}

type pauseAt struct {
	at recording.Time
	*recording.Pause
}

// parkFact takes them.
func (f *facts) parkFact(at recording.Time, fact recording.Fact) bool {
	switch x := fact.(type) {
	case *recording.Park:
		f.see(x.Left, x.Since)
		f.see(x.Thread, at)
		f.parks.parks = append(doubled(f.parks.parks), parkAt{at, x})
	case *recording.Unpark:
		f.see(x.Thread, at)
		f.parks.unparks = append(doubled(f.parks.unparks), unparkAt{at, x})
	case *recording.Pause:
		f.see(x.Thread, at)
		f.parks.pauses = append(f.parks.pauses, pauseAt{at, x})
	default:
		return false
	}
	return true
}

// addParkStrands adds a Strand for each goroutine that waited for another one, or let
// one go, and lists the pauses.
func addParkStrands(t *timeline.Timeline, f *facts) {
	if len(f.parks.parks)+len(f.parks.unparks) > 0 {
		index := indexGoroutines(t)
		for _, p := range f.parks.parks {
			index.add(t, f.goKeyOf(p.Left, p.Goroutine))
		}
		for _, u := range f.parks.unparks {
			index.add(t, f.goKeyOf(u.Thread, u.Goroutine))
			index.add(t, f.goKeyOf(u.Thread, u.Woken))
		}
	}
	for _, p := range f.parks.pauses {
		if k := f.goKeyOf(p.Thread, 0); p.Since < p.at {
			t.Pauses = append(t.Pauses, timeline.Pause{Process: k.Process, From: p.Since, To: p.at})
		}
	}
}

// parkSights adds to what was seen on threads that a goroutine left one to wait, and
// where it ran again.
func parkSights(f *facts, see func(recording.ThreadID, recording.Time, recording.GoroutineID), left func(recording.ThreadID, recording.Time)) {
	for _, p := range f.parks.parks {
		see(p.Left, p.Since, p.Goroutine)
		left(p.Left, p.Since)
		if p.Open == 0 {
			see(p.Thread, p.at, p.Goroutine)
		}
	}
	for _, u := range f.parks.unparks {
		see(u.Thread, u.at, u.Goroutine)
	}
}

// wordKey is where something is let go: an address, or a goroutine.
type wordKey struct {
	process recording.ProcessID
	word    int64
	woken   recording.GoroutineID
}

// unparked finds who let something go.
type unparked map[wordKey][]unparkAt

func (f *facts) unparked() unparked {
	of := unparked{}
	for _, u := range f.parks.unparks {
		k := wordKey{f.goKeyOf(u.Thread, 0).Process, u.Word, 0}
		if u.Word == 0 {
			k.woken = u.Woken
		}
		of[k] = append(of[k], u)
	}
	return of
}

// ending returns what ended a wait: the last of what let it go within it.
func (x unparked) ending(process recording.ProcessID, p parkAt) *unparkAt {
	k := wordKey{process, p.Word, 0}
	if p.Word == 0 {
		k.woken = p.Goroutine
	}
	list := x[k]
	i := sort.Search(len(list), func(n int) bool { return list[n].at > p.at })
	if i == 0 || list[i-1].at < p.Since || p.Open == 1 {
		return nil
	}
	return &list[i-1]
}

// addParks makes Waits of the waits of goroutines. A goroutine that was woken for a
// mutex which another one took, and waits for it again, goes on with one Wait.
func (s *sleeper) addParks() {
	t, f := s.t, s.f
	if len(f.parks.parks) == 0 {
		return
	}
	index, ends := indexGoroutines(t), f.unparked()
	s.parkedBy = make(map[*timeline.Off]timeline.StrandID, len(f.parks.parks))
	open := map[timeline.StrandID]int{} // the last sleep of each strand
	for _, k := range lists.Sorted(len(f.parks.parks), func(i int) recording.Time { return f.parks.parks[i].Since }) {
		p := f.parks.parks[k]
		key := f.goKeyOf(p.Left, p.Goroutine)
		x := s.parkSleep(index.of(key), p, ends.ending(key.Process, p))
		if x.strand == timeline.None || x.from >= x.to {
			continue
		}
		if u := ends.ending(key.Process, p); u != nil {
			s.parkedBy[x.off] = index.of(timeline.GoroutineKey{Process: key.Process, Goroutine: u.Goroutine})
		}
		last, ok := open[x.strand]
		if ok && s.all[last].back > x.from {
			continue // its end was not seen
		}
		if ok && s.goesOn(&s.all[last], &x) {
			x.wait = s.all[last].wait
			w := &t.Waits[x.wait]
			w.To, w.Back, w.Off = x.to, x.back, x.off
			x.from = s.all[last].to // it did not cease to want it
		} else {
			x.wait = timeline.WaitID(len(t.Waits))
			t.Waits = append(t.Waits, waitOf(&x))
		}
		open[x.strand] = len(s.all)
		s.all = append(s.all, x)
	}
	s.order()
	listWaits(t)
}

// order puts the Waits in order of their start.
func (s *sleeper) order() {
	t := s.t
	place := make([]timeline.WaitID, len(t.Waits))
	sorted := make([]timeline.Wait, len(t.Waits))
	for k, i := range lists.Sorted(len(t.Waits), func(i int) recording.Time { return t.Waits[i].From }) {
		sorted[k] = t.Waits[i]
		place[i] = timeline.WaitID(k)
	}
	t.Waits = sorted
	for i := range s.all {
		if w := &s.all[i].wait; *w != timeline.None {
			*w = place[*w]
		}
	}
}

// goesOn reports that a goroutine waits again for the mutex that it was woken for.
func (s *sleeper) goesOn(before, x *sleepAt) bool {
	return before.verdict.cause == timeline.CauseLock && x.verdict.cause == timeline.CauseLock && before.off.Arg == x.off.Arg &&
		before.stack == x.stack && x.from-before.back <= triesAgain
}

// parkSleep is one wait of a goroutine. The fact behind it stands for one of a thread.
func (s *sleeper) parkSleep(strand timeline.StrandID, p parkAt, u *unparkAt) sleepAt {
	x := sleepAt{strand: strand, from: max(p.Since, s.t.Start), to: p.at, back: p.at, state: timeline.StateSleeping, quality: timeline.Exact, stack: timeline.None}
	if i := s.f.stacks.stackIndex.Get(p.Stack); i != timeline.None {
		x.stack = timeline.StackID(i)
	}
	off := recording.Off{Thread: p.Left, Since: p.Since, Woken: p.at, Goroutine: p.Goroutine, Syscall: "futex", Arg: p.Object}
	timer := false
	if u != nil {
		x.to = max(min(u.at, p.at), x.from+1)
		off.Woken = x.to
		off.WakerKind, off.Waker, off.Release = recording.WakerThread, u.Thread, 1
		timer = onStack(s.t, s.f.stacks.stackIndex.Get(u.Stack), "time.sendTime")
	}
	x.off = s.parked.of(&off)
	x.verdict = s.parkVerdict(p.Park, x.stack)
	if timer && x.verdict.code == timeline.RuleGoChannel {
		x.verdict = verdict{timeline.RuleGoTimer, timeline.CauseSleep, timeline.None}
	}
	return x
}

// parkVerdict says what a goroutine waited for. Of conditions and channels, which can be
// anything, the stack may tell more.
func (s *sleeper) parkVerdict(p *recording.Park, stack timeline.StackID) verdict {
	switch p.Reason {
	case recording.ParkMutex:
		return verdict{timeline.RuleGoMutex, timeline.CauseLock, timeline.None}
	case recording.ParkRead, recording.ParkWrite:
		return verdict{timeline.RuleGoRWMutex, timeline.CauseLock, timeline.None}
	case recording.ParkWaitGroup:
		return verdict{timeline.RuleGoWaitGroup, timeline.CauseCondition, timeline.None}
	case recording.ParkCollector:
		return verdict{timeline.RuleGoAssist, timeline.CauseGC, timeline.None}
	case recording.ParkSleep:
		return verdict{timeline.RuleGoSleep, timeline.CauseSleep, timeline.None}
	}
	if v := s.book.of(stack, recording.RuntimeGo); v.code != "" {
		return v
	}
	if p.Reason == recording.ParkCond {
		return verdict{timeline.RuleGoCond, timeline.CauseCondition, timeline.None}
	}
	return verdict{timeline.RuleGoChannel, timeline.CauseCondition, timeline.None}
}

// onStack reports that a function is on a stack.
func onStack(t *timeline.Timeline, stack int, function string) bool {
	for id := timeline.StackID(stack); id >= 0 && int(id) < len(t.Stacks); id = t.Stacks[id].Caller {
		if t.Frames[t.Stacks[id].Frame].Function == function {
			return true
		}
	}
	return false
}

// listWaits lists the Waits of each strand, in order of time.
func listWaits(t *timeline.Timeline) {
	counts := make([]int32, len(t.Strands))
	for i := range t.Waits {
		counts[t.Waits[i].Strand]++
	}
	of := lists.Sized[timeline.WaitID](counts)
	for i := range t.Waits {
		strand := t.Waits[i].Strand
		of[strand] = append(of[strand], timeline.WaitID(i))
	}
	for i, list := range of {
		t.Strands[i].Waits = list
	}
}

// assignParks gives the waits of goroutines that serve no request to the one that an
// ancestor of theirs serves.
func (s *sleeper) assignParks(o owners) {
	if s.parkedBy == nil {
		return
	}
	in := goInput{owners: o, strands: indexGoroutines(s.t), facts: s.f}
	for i := range s.t.Waits {
		w := &s.t.Waits[i]
		if st := &s.t.Strands[w.Strand]; w.Request == timeline.None && w.Rule != timeline.RuleIdle && st.Goroutine != recording.NoGoroutine {
			w.Request = in.child(s.t, s.f, timeline.GoroutineKey{Process: st.Process, Goroutine: st.Goroutine}, w.From)
		}
	}
}
