package running

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// sight is a goroutine seen on a thread; NoGoroutine: the thread went idle.
type sight struct {
	At        recording.Time
	Goroutine recording.GoroutineID
	until     recording.Time // idle: when the thread ran again
	timer     bool           // idle: a timer woke the thread
	Left      bool           // the previous goroutine left the thread to wait; the thread continued
	yields    bool           // left: it was preempted so that others could run
	begins    bool           // it was put on the thread at this time
	waits     bool           // it waits for another goroutine right after this
}

// goStints lists where each goroutine ran, in order of time.
func goStints(f *facts.Facts, byThread [][]sight) map[timeline.GoroutineKey][]timeline.ThreadStint {
	stints := map[timeline.GoroutineKey][]timeline.ThreadStint{}
	for id, sights := range byThread {
		addStints(stints, sights, timeline.StrandID(id), f.Threads[id].Process)
	}
	for _, list := range stints {
		slices.SortStableFunc(list, func(a, b timeline.ThreadStint) int { return cmp.Compare(a.From, b.From) })
	}
	return stints
}

// addStints cuts the sights on one thread into stints.
func addStints(stints map[timeline.GoroutineKey][]timeline.ThreadStint, sights []sight, thread timeline.StrandID, p recording.ProcessID) {
	var open timeline.ThreadStint
	owner := recording.NoGoroutine
	flush := func(at recording.Time) {
		if owner != recording.NoGoroutine {
			open.To = at
			k := timeline.GoroutineKey{Process: p, Goroutine: owner}
			stints[k] = append(stints[k], open)
		}
	}
	fresh, timer := recording.NoTime, false // since when the thread has run without a goroutine being seen on it
	var last sight
	for _, s := range sights {
		switch {
		case s.Left:
			open.Yields = s.yields
			flush(s.At)
			owner, fresh, timer = recording.NoGoroutine, s.At, false
		case s.Goroutine == recording.NoGoroutine:
			flush(s.At)
			owner, fresh, timer = recording.NoGoroutine, s.until, s.timer
		case s.Goroutine == owner && s.begins:
			flush(last.At) // it was away, with nothing else on the thread
			open = timeline.ThreadStint{From: s.At, Thread: thread, Exact: true}
		case s.Goroutine != owner:
			open = started(s, last, fresh, flush)
			open.Thread, open.Timer = thread, open.Timer && timer
			owner, fresh, timer = s.Goroutine, recording.NoTime, false
		}
		last = s
	}
	if n := len(sights); n > 0 {
		flush(sights[n-1].At)
	}
}

// started ends the current stint at a sight of another goroutine and begins that goroutine's stint. It begins when the
// goroutine was seen to begin; otherwise when the thread began to run or the previous goroutine began to wait;
// otherwise at the sight.
func started(s, last sight, fresh recording.Time, flush func(recording.Time)) timeline.ThreadStint {
	open := timeline.ThreadStint{From: s.At, Exact: s.begins}
	switch {
	case fresh != recording.NoTime && fresh < s.At:
		open.Timer = true
		if !s.begins {
			open.From = fresh
		}
	case last.waits && !s.begins:
		open.From = last.At
	}
	flush(open.From)
	return open
}

// goSights collects, by thread, which goroutines were seen there, in order of time.
func goSights(f *facts.Facts) [][]sight {
	sights := make([][]sight, len(f.Threads))
	see := func(th recording.ThreadID, x sight) {
		none := x.Goroutine == recording.NoGoroutine && !x.Left && !x.begins && x.until == recording.NoTime
		if s := f.Strand(th); s != timeline.None && !none {
			sights[s] = append(sights[s], x)
		}
	}
	for i := range f.Conns {
		goMoves(&f.Conns[i], see)
	}
	for _, s := range f.Samples {
		see(s.Thread, sight{At: s.At, Goroutine: s.Goroutine})
	}
	for _, p := range f.Parks.Parks {
		see(p.Left, sight{At: p.Since, Goroutine: p.Goroutine})
		see(p.Left, sight{At: p.Since, Left: true})
		if p.Open == 0 {
			see(p.Thread, sight{At: p.At, Goroutine: p.Goroutine})
		}
	}
	for _, u := range f.Parks.Unparks {
		see(u.Thread, sight{At: u.At, Goroutine: u.Goroutine})
	}
	for _, r := range f.Goroutines.Runs {
		if r.Yields != 0 {
			see(r.Thread, sight{At: r.At, Left: true, yields: true})
		} else {
			see(r.Thread, sight{At: r.At, Goroutine: r.Goroutine, begins: true})
		}
	}
	goSleeps(f, see)
	for k := 1; k < len(f.Windows); k++ { // what runs between windows is not known
		for i := range sights {
			sights[i] = append(sights[i], sight{At: f.Windows[k-1].To, until: f.Windows[k].From})
		}
	}
	for _, list := range sights {
		slices.SortStableFunc(list, func(a, b sight) int { return cmp.Compare(a.At, b.At) })
	}
	return sights
}

// goSleeps reports what threads of Go programs ran when they left their processors, and when they went idle.
func goSleeps(f *facts.Facts, see func(recording.ThreadID, sight)) {
	came := goArrivals(f)
	for i := range f.Threads {
		if f.Runtime(f.Threads[i].Process) != recording.RuntimeGo {
			continue
		}
		for _, s := range f.Threads[i].Steps {
			switch {
			case s.Off == nil:
			case s.Off.Goroutine != recording.NoGoroutine:
				see(f.Threads[i].ID, sight{At: s.Off.Since, Goroutine: s.Off.Goroutine})
				see(f.Threads[i].ID, sight{At: s.At, Goroutine: s.Off.Goroutine})
			case s.Off.State == recording.OffSleep:
				until := s.Off.Woken
				if until == recording.NoTime {
					until = s.At
				}
				// A thread that looks for work sleeps for some microseconds between attempts.
				timer := s.Off.Timed == 1 && s.Off.WakerKind == recording.WakerInterrupt && s.Off.Syscall != "nanosleep" && !came.near(until)
				see(f.Threads[i].ID, sight{At: s.Off.Since, until: until, timer: timer})
			}
		}
	}
}

// goMoves reports the goroutines that read and wrote on a connection. On a pooled connection its goroutines, and the
// one that handed it a request, wait for each other right after that.
func goMoves(c *facts.Conn, see func(recording.ThreadID, sight)) {
	pooled := len(c.GoCalls) > 0
	for _, chunks := range c.Chunks {
		for _, x := range chunks {
			see(x.Thread, sight{At: x.At, Goroutine: x.Goroutine, waits: pooled})
		}
	}
	for _, x := range c.GoCalls {
		see(x.Thread, sight{At: x.At, Goroutine: x.GoCall.Goroutine, waits: true})
	}
}

// arrivals lists when bytes and connections arrived for Go programs, in order.
type arrivals []recording.Time

// goArrivals collects arrivals: a wake-up by an arrival's interrupt looks like an expired timer.
func goArrivals(f *facts.Facts) arrivals {
	var list arrivals
	for i := range f.Conns {
		c := &f.Conns[i]
		if f.Runtime(c.Decl.Process) != recording.RuntimeGo {
			continue
		}
		list = append(list, c.At, c.Established, c.ClosedAt)
		for _, x := range c.Chunks[recording.Read] {
			list = append(list, x.Arrived, x.Last())
		}
	}
	for _, d := range f.DNS {
		if d.Part == recording.DNSAnswer && f.RuntimeOf(d.Thread) == recording.RuntimeGo {
			list = append(list, cmp.Or(d.Arrived, d.At))
		}
	}
	slices.Sort(list)
	return list
}

// near reports whether something arrived right before a time.
func (a arrivals) near(at recording.Time) bool {
	i, _ := slices.BinarySearch(a, at-recording.Time(timeline.WakeLatency))
	return i < len(a) && a[i] <= at
}

// goBusy lists, for each Go process, the spans in which a ready goroutine waits for a processor. In these spans as many
// of the process's threads ran as it has processors, limited by GOMAXPROCS too, or one of its threads was runnable and
// would have taken the goroutine. These spans are Runnable; all others are Sleeping.
func goBusy(t *timeline.Timeline, f *facts.Facts) map[recording.ProcessID]goBusyTime {
	type edge struct {
		at        recording.Time
		step, one int // change in the number of threads that run, and that are runnable
	}
	edges := map[recording.ProcessID][]edge{}
	for i := range f.Threads {
		p := f.Threads[i].Process
		if f.Runtime(p) != recording.RuntimeGo {
			continue
		}
		for _, iv := range t.Strands[i].Intervals {
			switch iv.State {
			case timeline.StateRunning:
				edges[p] = append(edges[p], edge{iv.From, 1, 0}, edge{iv.To, -1, 0})
			case timeline.StateRunnable:
				edges[p] = append(edges[p], edge{iv.From, 0, 1}, edge{iv.To, 0, -1})
			}
		}
	}
	busy := map[recording.ProcessID]goBusyTime{}
	for p, list := range edges {
		slices.SortStableFunc(list, func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(b.step+b.one, a.step+a.one)) })
		run, ready, tl := 0, 0, tiler{cursor: t.Start}
		most := int(max(1, t.Manifest.CPUs))
		if i, ok := f.ProcIndex[p]; ok && f.Processes[i].Procs > 0 {
			most = min(most, int(f.Processes[i].Procs))
		}
		for _, e := range list {
			state := timeline.StateSleeping
			if run >= most || ready > 0 {
				state = timeline.StateRunnable
			}
			tl.to(e.at, state, nil)
			run += e.step
			ready += e.one
		}
		tl.to(t.End, timeline.StateSleeping, nil)
		busy[p] = newGoBusyTime(tl.list)
	}
	return busy
}

// goBusyTime is when all processors of a Go process were busy.
type goBusyTime struct {
	List  []timeline.Interval
	ready []recording.Duration // before each interval: how long a ready goroutine would have waited since the beginning
}

func newGoBusyTime(list []timeline.Interval) goBusyTime {
	b := goBusyTime{List: list, ready: make([]recording.Duration, len(list))}
	for i := 1; i < len(list); i++ {
		b.ready[i] = b.ready[i-1] + b.of(i-1, list[i-1].To)
	}
	return b
}

// of returns how much of an interval, up to a time, a ready goroutine would have waited: all of it if the processors
// were busy, or idle for no longer than it takes to wake one.
func (b goBusyTime) of(i int, to recording.Time) recording.Duration {
	iv := b.List[i]
	if iv.State != timeline.StateRunnable && iv.To.Sub(iv.From) > timeline.WakeLatency {
		return 0
	}
	return min(to, iv.To).Sub(iv.From)
}

// Waited returns how long a ready goroutine would have waited since the beginning.
func (b goBusyTime) Waited(at recording.Time) recording.Duration {
	i := sort.Search(len(b.List), func(k int) bool { return b.List[k].From > at }) - 1
	if i < 0 {
		return 0
	}
	return b.ready[i] + b.of(i, at)
}

// GoRuns is where and when goroutines ran; its maps are nil if there are no Go programs.
type GoRuns struct {
	Sights [][]sight // by thread
	Stints map[timeline.GoroutineKey][]timeline.ThreadStint
	Busy   map[recording.ProcessID]goBusyTime
	Moves  map[timeline.GoroutineKey][]timeline.Move // of goroutines that let others continue
}

// Goroutines finds where and when the goroutines of Go programs ran.
func Goroutines(t *timeline.Timeline, f *facts.Facts) GoRuns {
	for i := range f.Processes {
		if f.Processes[i].Runtime == recording.RuntimeGo {
			sights := goSights(f)
			return GoRuns{sights, goStints(f, sights), goBusy(t, f), goMoved(f)}
		}
	}
	return GoRuns{}
}
