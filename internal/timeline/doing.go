package timeline

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// Activity is a span in which a strand did one thing, or waited for one thing.
type Activity struct {
	From, To Time
	Cause    Cause   // CauseOnCPU, CauseRunnable, CauseRemote, or the cause of its Wait; CauseUnknown if not known
	Phase    Phase   // of Call; PhaseHandler without one
	Asleep   bool    // for CauseUnknown: a goroutine that neither ran nor was ready to run
	Lingers  bool    // for CauseUnknown: it waited for more on a connection whose request it had answered
	Later    bool    // the goroutine's next release of something it held was called from Stack: so was all it did before
	Call     CallID  // the call of that strand that was open, or None
	Wait     WaitID  // the Wait it was in, or None; its Holds name the strands it waited for
	Stack    StackID // on a CPU: the nearest sample in time; asleep: where it blocked; or None
	Syscall  string  // asleep: the system call it slept in
}

// Doing returns what a strand did in [from, to), in order, without gaps or overlaps where its states are known. If the
// strand sleeps in a network system call while one of its calls is open, it waits for that call. Without an open call
// the cause is unknown: the strand may be idle. The time is linear in the number of facts within the span.
func (t *Timeline) Doing(s StrandID, from, to Time) []Activity {
	return t.DoingIn(nil, s, from, to)
}

// DoingIn is Doing, but reuses the memory of a list whose content is no longer needed.
func (t *Timeline) DoingIn(list []Activity, s StrandID, from, to Time) []Activity {
	list = list[:0]
	if s < 0 || int(s) >= len(t.Strands) || from >= to {
		return list
	}
	if t.Strands[s].Goroutine != recording.NoGoroutine {
		return t.doingGo(s, from, to)
	}
	for _, iv := range Clipped(t.Strands[s].Intervals, from, to) {
		a := Activity{From: max(iv.From, from), To: min(iv.To, to), Phase: PhaseHandler, Call: None, Wait: None, Stack: None}
		switch iv.State {
		case StateRunning:
			a.Cause = CauseOnCPU
			list = t.onCPU(s, iv, a, list)
			continue
		case StateRunnable:
			a.Cause = CauseRunnable
		case StateSleeping, StateDisk:
			list = t.asleep(s, iv, a, list)
			continue
		}
		list = append(list, a)
	}
	return list
}

// onCPU cuts a span on a CPU half-way between the samples taken in it.
func (t *Timeline) onCPU(s StrandID, iv Interval, a Activity, list []Activity) []Activity {
	end := a.To
	samples := t.StacksIn(s, iv.From, iv.To)
	for k := nextSample(samples, 0); k < len(samples); {
		x := samples[k]
		k = nextSample(samples, k+1)
		a.Stack, a.To = x.Stack, end
		if k < len(samples) {
			a.To = min(end, x.Time+(samples[k].Time-x.Time)/2)
		}
		if a.From >= a.To {
			continue
		}
		if n := len(list); n > 0 && list[n-1].To == a.From && list[n-1].Cause == CauseOnCPU && list[n-1].Stack == a.Stack {
			list[n-1].To = a.To
		} else {
			list = append(list, a)
		}
		a.From = a.To
	}
	if a.From < end {
		a.To = end
		list = append(list, a)
	}
	return list
}

// nextSample returns the index of the first on-CPU stack at or after an index.
func nextSample(stacks []StackAt, from int) int {
	for from < len(stacks) && stacks[from].Origin != recording.StackOnCPU {
		from++
	}
	return from
}

// asleep appends what a sleeping strand waited for: its Wait, or else the phases of its open call.
func (t *Timeline) asleep(s StrandID, iv Interval, a Activity, list []Activity) []Activity {
	if iv.Off != nil {
		a.Syscall = iv.Off.Syscall
	}
	if w := t.WaitAt(s, a.From); w != None {
		a.Wait, a.Cause, a.Stack = w, t.Waits[w].Cause, t.Waits[w].Stack
		return t.forAnswers(s, a, true, list)
	}
	if iv.Off != nil {
		a.Stack = t.blockedStack(s, iv)
	}
	if iv.State == StateDisk {
		a.Cause = CauseDisk
		return append(list, a)
	}
	if iv.Off == nil || !NetworkWait(iv.Off.Syscall) {
		return append(list, a)
	}
	a.Lingers = t.Lingers(iv.Off)
	return t.forAnswers(s, a, false, list)
}

// forAnswers cuts a sleep at the strand's calls: while a call is open, the strand waits for its answer. A wait for
// another thread (carried) is cut only at calls that other threads carry.
func (t *Timeline) forAnswers(s StrandID, a Activity, carried bool, list []Activity) []Activity {
	if a.Cause != CauseCondition && a.Cause != CauseUnknown {
		return append(list, a)
	}
	end := a.To
	for a.From < end {
		piece := a
		c, until := t.openCall(s, a.From)
		piece.To = min(end, until)
		if c != None && (t.Calls[c].Carried || !carried) {
			piece.Call, piece.Cause, piece.Wait, piece.Lingers = c, CauseRemote, None, false
			piece.Phase, until = t.Calls[c].phaseAt(a.From)
			piece.To = min(piece.To, until)
		}
		list = append(list, piece)
		a.From = piece.To
	}
	return list
}

// blockedStack returns the stack taken when a strand began the sleep of an interval.
func (t *Timeline) blockedStack(s StrandID, iv Interval) StackID {
	since := iv.From
	if iv.Off.Since != recording.NoTime {
		since = min(since, iv.Off.Since)
	}
	for _, x := range t.StacksIn(s, since-StackEarly, iv.To) {
		if x.Origin == recording.StackBlocked {
			return x.Stack
		}
	}
	return None
}

// StackEarly is how long before a sleep begins its stack may be stamped.
const StackEarly Time = 50_000

// openCall returns the call that a strand had open at a time, and the time until which that stays true. Of several open
// calls it returns the one that began last. Without an open call it returns None and the start of the next call. The
// returned time is at least one nanosecond later.
func (t *Timeline) openCall(s StrandID, at Time) (CallID, Time) {
	if int(s) >= len(t.callsOn) {
		return None, max(at, t.End) + 1
	}
	list := t.callsOn[s]
	i, _ := slices.BinarySearchFunc(list, at+1, func(c CallID, at Time) int { return cmp.Compare(t.Calls[c].Start, at) })
	next := max(at, t.End) + 1
	if i < len(list) {
		next = t.Calls[list[i]].Start
	}
	for k := i - 1; k >= 0 && k >= i-openCalls; k-- {
		if c := &t.Calls[list[k]]; at < c.End {
			return list[k], min(next, c.End)
		}
	}
	return None, next
}

// openCalls bounds how many calls before a time are checked for one that is still open: a thread that blocks has one
// open call.
const openCalls = 8

// phaseAt returns the phase of a call at a time within it, and the end of that phase, which is always later than that
// time.
func (c *Call) phaseAt(at Time) (Phase, Time) {
	end := c.Start
	for p, d := range c.Phases {
		if end += Time(d); at < end {
			return Phase(p), end
		}
	}
	return PhaseReceive, max(at+1, c.End)
}

// IndexCalls lists the calls of each strand, in order of start.
func (t *Timeline) IndexCalls() {
	t.callsOn = lists.Grouped[CallID](len(t.Strands), len(t.Calls), func(i int) int { return int(t.Calls[i].Strand) }).Lists()
	for s, list := range t.callsOn {
		t.callsOn[s] = lists.ByTime(list, func(c *CallID) Time { return t.Calls[*c].Start })
	}
}

// CallBehind returns the call whose answer is awaited in a segment that belongs to no call itself. The strand that made
// the call works for others. It returns None if the call is not known.
func (t *Timeline) CallBehind(g *Segment) CallID {
	if g.Call != None || g.Cause != CauseRemote || g.Strand == None || t.Strands[g.Strand].Loop {
		return None
	}
	for _, a := range t.Doing(g.Strand, g.From, g.From+1) {
		return a.Call
	}
	return None
}
