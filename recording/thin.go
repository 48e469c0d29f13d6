package recording

import (
	"slices"
	"sort"
)

// thinner passes on the facts inside some windows. Between them it passes on only facts that describe what exists,
// such as processes, threads, code and the host. The result is what a recorder writes that pauses between its
// windows. Each gap is reported. What began before a window is clipped to it. Connections that last get another id in
// each window. Spans that cross the edge of a window become a ThreadState at that edge. Such a ThreadState, and a
// Late fact, is passed on later than its time.
type thinner struct {
	windows  []Span
	each     func(Event)
	next     int     // index into windows: the one that is open, or comes next
	open     bool    // it has begun
	rested   Time    // start of the current gap, if no window is open
	begun    bool    // there was an event
	last     Time    // time of the last event
	held     []Event // declarations in a gap, passed on when it ends
	threads  map[ThreadID]*thinThread
	conns    *thinConns
	recent   []Event // latest declarations before the window, of things whose end is not reported
	declared int     // number of declarations since the last window began
	unborn   unborn
	requests int64 // within windows
}

// manyRecent bounds how many goroutines, contexts and files declared before a window are known in it.
const manyRecent = 1 << 16

// unborn holds the indexes in thinner.held of declarations whose threads and processes may end before a window
// begins.
type unborn struct {
	threads   map[ThreadID]int
	processes map[ProcessID][]int
}

func newUnborn() unborn { return unborn{map[ThreadID]int{}, map[ProcessID][]int{}} }

func newThinner(windows []Span, o *outline, each func(Event)) *thinner {
	return &thinner{windows: windows, each: each, threads: map[ThreadID]*thinThread{}, conns: newThinConns(windows, o, each), unborn: newUnborn()}
}

// stays reports whether facts of a kind are also passed on between windows.
func (k Kind) stays() bool {
	switch k {
	case KindManifest, KindClock, KindLoss, KindOverhead, KindHost, KindEnd, KindProcess, KindExec, KindProcessExit, KindThread, KindThreadExit,
		KindListen, KindMissing, KindFrame, KindStack, KindMemory, KindBlockIO, KindUnseen, KindGoProcs, KindNeighbour:
		return true
	}
	return false
}

// lasts reports whether a fact between windows may matter for what happens within one.
func (row *readerRow) lasts() bool {
	if row.spec == nil {
		return false
	}
	switch row.spec.Kind {
	case KindThreadState, KindOff, KindPark, KindGoroutine, KindContext, KindFile, KindGap,
		KindConn, KindClosed, KindConnProtocol, KindLate, KindTunnel, KindTLS, KindHTTPRequest, KindHTTPResponse, KindCommand, KindReply:
		return true
	}
	return row.spec.Kind.stays()
}

// take takes the next event.
func (t *thinner) take(e Event) {
	if !t.begun {
		t.begun, t.rested = true, e.Time
	}
	t.last = e.Time
	t.advance(e.Time)
	w := Span{}
	if t.open {
		w = t.windows[t.next]
	}
	switch x := e.Fact.(type) {
	case *Off:
		t.off(e.Time, x)
		return
	case *ThreadState:
		t.state(e.Time, x)
	case *Thread:
		if x.Creator != NoThread {
			t.thread(x.ID) // it is running from now on
		}
	case *ThreadExit:
		t.thread(x.Thread).ran(t, x.Thread, e.Time)
		delete(t.threads, x.Thread)
	case *Loss:
		t.conns.lost()
	case *Gap:
		if !t.open {
			t.rested = min(t.rested, x.From)
			return
		}
	case *Park:
		t.park(e.Time, x)
	default:
		if id := t.conns.of(e.Fact); id != NoConn {
			if t.conns.take(e, id, w) {
				t.asked(id, e.Fact)
			}
			return
		}
	}
	if t.open {
		if clip(e.Fact, w.From) {
			t.each(e)
		}
		return
	}
	t.keep(e)
}

// asked counts the inbound requests within windows.
func (t *thinner) asked(id ConnID, fact Fact) {
	if _, ok := fact.(*HTTPRequest); ok && t.conns.inbound.has(id) {
		t.requests++
	}
}

// advance moves on to the window or the gap that contains a time.
func (t *thinner) advance(at Time) {
	for t.next < len(t.windows) {
		w := t.windows[t.next]
		switch {
		case t.open && at >= w.To:
			t.open, t.rested = false, w.To
			t.next++
			t.conns.leave()
		case !t.open && at >= w.From:
			t.flush()
			if t.rested < w.From {
				t.each(Event{w.From, &Gap{From: t.rested}})
			}
			t.open = true
		default:
			return
		}
	}
}

// keep keeps a declaration made between windows, unless its subject ends before the next window.
func (t *thinner) keep(e Event) {
	kind := e.Fact.Kind()
	switch x := e.Fact.(type) {
	case *Goroutine, *Context, *File:
		t.declare(e)
	case *Thread:
		t.unborn.threads[x.ID] = len(t.held)
	case *ThreadExit:
		if i, ok := t.unborn.threads[x.Thread]; ok {
			t.held[i].Fact = nil
			return
		}
	case *Process:
		t.unborn.processes[x.ID] = append(t.unborn.processes[x.ID], len(t.held))
	case *Exec:
		if list, ok := t.unborn.processes[x.Process]; ok {
			t.unborn.processes[x.Process] = append(list, len(t.held))
		}
	case *ProcessExit:
		if list, ok := t.unborn.processes[x.Process]; ok {
			for _, i := range list {
				t.held[i].Fact = nil
			}
			return
		}
	}
	if kind.stays() {
		t.held = append(t.held, e)
	}
}

// declare keeps a declaration of something whose end is not reported. It replaces the oldest one if there are too
// many.
func (t *thinner) declare(e Event) {
	if len(t.recent) < manyRecent {
		t.recent = append(t.recent, e)
	} else {
		t.recent[t.declared%manyRecent] = e
	}
	t.declared++
}

// flush passes on the declarations that hold when a gap is over.
func (t *thinner) flush() {
	list := append(t.held, t.recent...)
	list = slices.DeleteFunc(list, func(e Event) bool { return e.Fact == nil })
	sortEvents(list)
	for _, e := range list {
		t.each(e)
	}
	t.held, t.recent, t.declared, t.unborn = t.held[:0], t.recent[:0], 0, newUnborn()
}

// end is called after the last event.
func (t *thinner) end() {
	var ids []ThreadID
	for id := range t.threads {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		t.threads[id].left(t, id)
	}
	if t.open {
		return
	}
	t.recent = nil // no later fact names them
	list := slices.DeleteFunc(t.held, func(e Event) bool { return e.Fact == nil })
	gap, place := Event{t.last, &Gap{From: t.rested}}, len(list)
	if place > 0 && list[place-1].Fact.Kind() == KindEnd {
		place--
	}
	for _, e := range slices.Insert(list, place, gap) {
		t.each(e)
	}
}

// clip clips a fact to the part from a time on. It returns false if nothing is left.
func clip(f Fact, from Time) bool {
	switch x := f.(type) {
	case *ThreadState:
		if x.Since != NoTime {
			x.Since = max(x.Since, from)
		}
	case *MemoryWait:
		x.Since = max(x.Since, from)
	case *Sync:
		x.Since = max(x.Since, from)
	case *Park:
		x.Since = max(x.Since, from)
	case *Pause:
		x.Since = max(x.Since, from)
		if x.Stopped != NoTime {
			x.Stopped = max(x.Stopped, from)
		}
	case *Taken:
		if x.Put < from {
			x.Putter, x.Put, x.Context, x.Executor = NoThread, NoTime, NoContext, 0
		}
	case *DNS:
		x.Arrived = after(x.Arrived, from)
	case *Late:
		return x.Left >= from
	case *Chunk:
		x.Arrived, x.Last = after(x.Arrived, from), after(x.Last, from)
		if x.First != NoTime {
			x.First = max(x.First, from)
		}
	}
	return true
}

// after returns a time, or NoTime if it is before from.
func after(at, from Time) Time {
	if at < from {
		return NoTime
	}
	return at
}

// park reports, in the gap after a window, a goroutine's wait that was still open when the window ended.
func (t *thinner) park(at Time, x *Park) {
	if t.open || t.next == 0 || x.Open == 1 {
		return
	}
	if w := t.windows[t.next-1]; x.Since < w.To && at >= w.To {
		t.each(Event{w.To, &Park{
			Thread: x.Left, Goroutine: x.Goroutine, Parent: x.Parent, Left: x.Left, Since: max(x.Since, w.From),
			Reason: x.Reason, Object: x.Object, Word: x.Word, Stack: x.Stack, Open: 1,
		}})
	}
}

// thinThread is what a thinner knows about a thread.
type thinThread struct {
	until  Time         // its activity is reported up to this time
	asleep *ThreadState // the sleep it was last reported in, if it has not run since
}

func (t *thinner) thread(id ThreadID) *thinThread {
	th := t.threads[id]
	if th == nil {
		th = &thinThread{until: t.last}
		t.threads[id] = th
	}
	return th
}

// from returns the windows that end after a time.
func (t *thinner) from(at Time) []Span {
	return t.windows[sort.Search(len(t.windows), func(i int) bool { return t.windows[i].To > at }):]
}

// ran reports that a thread ran up to a time: at the start of each window that began meanwhile.
func (th *thinThread) ran(t *thinner, id ThreadID, to Time) {
	for _, w := range t.from(th.until) {
		if w.From >= to {
			break
		}
		if w.From > th.until {
			t.each(Event{w.From, &ThreadState{Thread: id, On: 1}})
		}
	}
	th.until = max(th.until, to)
}

// off reports a span off the CPU: to each window, the part that lies in it.
func (t *thinner) off(at Time, x *Off) {
	th := t.thread(x.Thread)
	was := th.until
	th.ran(t, x.Thread, x.Since)
	for _, w := range t.from(max(was, x.Since)) {
		if w.From > at {
			break
		}
		if part, ends := x.within(at, w, was); part != nil {
			t.each(Event{ends, part})
		} else {
			t.sleeps(w, &ThreadState{Thread: x.Thread, State: x.State, Since: x.Since, Syscall: x.Syscall})
		}
	}
	th.until, th.asleep = max(th.until, at), nil
}

// sleeps reports a sleep that lasted beyond the end of a window.
func (t *thinner) sleeps(w Span, x *ThreadState) {
	since := max(x.Since, w.From)
	t.each(Event{since, &ThreadState{Thread: x.Thread, State: x.State, Since: since, Syscall: x.Syscall}})
}

// within returns the part of a span, which ended at a time, that lies in a window, and when that part ends. It
// returns nil if the thread slept on when the window ended. Counts such as Ran are kept only if they too began in the
// window.
func (x *Off) within(at Time, w Span, before Time) (*Off, Time) {
	if at < w.To && x.Since >= w.From && before >= w.From {
		return x, at
	}
	slept := at
	if x.Woken != NoTime {
		slept = x.Woken
	}
	if at >= w.To && slept >= w.To {
		return nil, 0
	}
	part := *x
	part.Since = max(x.Since, w.From)
	if x.Woken != NoTime {
		part.Woken = max(x.Woken, w.From)
	}
	if before < w.From {
		part.Ran, part.Minor, part.Major, part.Fetched, part.In, part.Out = 0, 0, 0, 0, 0, 0
	}
	return &part, min(at, w.To)
}

// state takes note of a thread's state as a recorder reported it.
func (t *thinner) state(at Time, x *ThreadState) {
	th := t.thread(x.Thread)
	if x.On == 1 {
		th.ran(t, x.Thread, at)
		th.asleep = nil
		return
	}
	if x.Since == NoTime {
		x.Since = th.until
	}
	th.ran(t, x.Thread, x.Since)
	th.slept(t, x, at)
	th.until, th.asleep = max(th.until, at), x
}

// slept reports a sleep to each window that began before a time.
func (th *thinThread) slept(t *thinner, x *ThreadState, to Time) {
	for _, w := range t.from(max(x.Since, th.until)) {
		if w.From >= to {
			break
		}
		t.sleeps(w, x)
	}
}

// left reports the last known state of a thread about which no more facts come.
func (th *thinThread) left(t *thinner, id ThreadID) {
	if th.asleep != nil {
		th.slept(t, th.asleep, t.last)
		return
	}
	if list := t.from(th.until); len(list) > 0 && list[0].From <= th.until && list[0].To <= t.last {
		t.each(Event{list[0].To, &ThreadState{Thread: id, State: OffOther, Since: th.until}})
	}
}
