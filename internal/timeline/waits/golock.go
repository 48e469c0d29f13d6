package waits

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// AddParks makes Waits of the waits of goroutines. If a goroutine is woken for a mutex, but another goroutine took it
// first and it waits again, both are one Wait.
func (s *Sleeps) AddParks() {
	t, f := s.t, s.f
	if len(f.Parks.Parks) == 0 {
		return
	}
	index, ends := facts.IndexGoroutines(t), f.Unparked()
	s.ParkedBy = make(map[*timeline.Off]timeline.StrandID, len(f.Parks.Parks))
	open := map[timeline.StrandID]int{} // the last sleep of each strand
	for _, k := range lists.Sorted(len(f.Parks.Parks), func(i int) recording.Time { return f.Parks.Parks[i].Since }) {
		p := f.Parks.Parks[k]
		key := f.GoKeyOf(p.Left, p.Goroutine)
		ended := ends.Ending(key.Process, p)
		x := s.parkSleep(index.Of(key), p, ended)
		if x.strand == timeline.None || x.from >= x.to {
			continue
		}
		if ended != nil {
			s.ParkedBy[x.off] = index.Of(timeline.GoroutineKey{Process: key.Process, Goroutine: ended.Goroutine})
		}
		last, ok := open[x.strand]
		if ok && s.all[last].back > x.from {
			continue // its end was not seen
		}
		if ok && s.goesOn(&s.all[last], &x) {
			x.wait = s.all[last].wait
			w := &t.Waits[x.wait]
			w.To, w.Back, w.Off = x.to, x.back, x.off
			x.from = s.all[last].to // it still wanted the mutex
		} else {
			x.wait = timeline.WaitID(len(t.Waits))
			t.Waits = append(t.Waits, waitOf(&x))
		}
		open[x.strand] = len(s.all)
		s.all = append(s.all, x)
	}
	s.order()
}

// order sorts the Waits by start, and lists those of each strand.
func (s *Sleeps) order() {
	t := s.t
	place := make([]timeline.WaitID, len(t.Waits))
	for k, i := range lists.Sorted(len(t.Waits), func(i int) recording.Time { return t.Waits[i].From }) {
		place[i] = timeline.WaitID(k)
	}
	lists.SortByTime(t.Waits, func(w *timeline.Wait) recording.Time { return w.From })
	for i := range s.all {
		if w := &s.all[i].wait; *w != timeline.None {
			*w = place[*w]
		}
	}
	for i, list := range lists.Grouped[timeline.WaitID](len(t.Strands), len(t.Waits), func(i int) int { return int(t.Waits[i].Strand) }).Lists() {
		t.Strands[i].Waits = list
	}
}

// goesOn reports whether a goroutine waits again for the mutex that it was woken for.
func (s *Sleeps) goesOn(before, x *sleepAt) bool {
	return before.verdict.cause == timeline.CauseLock && x.verdict.cause == timeline.CauseLock && before.off.Arg == x.off.Arg &&
		before.stack == x.stack && x.from-before.back <= triesAgain
}

// parkSleep returns one wait of a goroutine as a sleep. Its Off has the form of a thread's sleep.
func (s *Sleeps) parkSleep(strand timeline.StrandID, p facts.Park, u *facts.Unpark) sleepAt {
	x := sleepAt{strand: strand, from: max(p.Since, s.t.Start), to: p.At, back: p.At, state: timeline.StateSleeping, quality: timeline.Exact, stack: timeline.None}
	if i := s.f.Stacks.StackIndex.Get(p.Stack); i != timeline.None {
		x.stack = timeline.StackID(i)
	}
	off := recording.Off{Thread: p.Left, Since: p.Since, Woken: p.At, Goroutine: p.Goroutine, Syscall: "futex", Arg: p.Object}
	timer := false
	if u != nil {
		x.to = max(min(u.At, p.At), x.from+1)
		off.Woken = x.to
		off.WakerKind, off.Waker, off.Release = recording.WakerThread, u.Thread, 1
		timer = s.t.OnStack(s.f.Stacks.StackIndex.Get(u.Stack), "time.sendTime")
	}
	x.off = s.parked.Of(&off)
	x.verdict = s.parkVerdict(p.Park, x.stack)
	if timer && x.verdict.code == timeline.RuleGoChannel {
		x.verdict = verdict{timeline.RuleGoTimer, timeline.CauseSleep, timeline.None}
	}
	return x
}

// parkVerdicts are the reasons for waits of goroutines that determine the verdict alone.
var parkVerdicts = map[recording.ParkReason]verdict{
	recording.ParkMutex:     {timeline.RuleGoMutex, timeline.CauseLock, timeline.None},
	recording.ParkRead:      {timeline.RuleGoRWMutex, timeline.CauseLock, timeline.None},
	recording.ParkWrite:     {timeline.RuleGoRWMutex, timeline.CauseLock, timeline.None},
	recording.ParkWaitGroup: {timeline.RuleGoWaitGroup, timeline.CauseCondition, timeline.None},
	recording.ParkCollector: {timeline.RuleGoAssist, timeline.CauseGC, timeline.None},
	recording.ParkSleep:     {timeline.RuleGoSleep, timeline.CauseSleep, timeline.None},
}

// parkVerdict returns what a goroutine waited for. For conditions and channels, which may mean anything, the stack may
// say more.
func (s *Sleeps) parkVerdict(p *recording.Park, stack timeline.StackID) verdict {
	if v, told := parkVerdicts[p.Reason]; told {
		return v
	}
	if v := s.book.of(stack, recording.RuntimeGo); v.code != "" {
		return v
	}
	if p.Reason == recording.ParkCond {
		return verdict{timeline.RuleGoCond, timeline.CauseCondition, timeline.None}
	}
	if p.Reason == recording.ParkSend {
		return verdict{timeline.RuleGoSend, timeline.CauseCondition, timeline.None}
	}
	return verdict{timeline.RuleGoChannel, timeline.CauseCondition, timeline.None}
}

// assignParks gives the waits of goroutines that serve no request to the request that one of their ancestors serves.
func (s *Sleeps) assignParks(served ServedBy) {
	if s.ParkedBy == nil {
		return
	}
	for i := range s.t.Waits {
		w := &s.t.Waits[i]
		if st := &s.t.Strands[w.Strand]; w.Request == timeline.None && w.Rule != timeline.RuleIdle && st.Goroutine != recording.NoGoroutine {
			w.Request = served(timeline.GoroutineKey{Process: st.Process, Goroutine: st.Goroutine}, w.From)
		}
	}
}
