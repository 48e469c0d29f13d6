package handoffs

import (
	"slices"
	"sort"
	"strings"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// A Python task can be assigned even if it makes no call. A request's thread waits for a result until a worker wakes
// it, and what the worker did since its last result, or since it was woken for work, is the task. This holds if every
// task ends that way. A task whose result no thread waits for, or not yet, wakes no thread, and would count as part
// of the next one. So we check what workers did between their last result and waiting for work again. If that was
// work, tasks are assigned only to a request that is open alone.

// workSpan is what a worker did up to a result, or until it waited for work.
type workSpan struct {
	strand   timeline.StrandID
	from, to recording.Time
	by       timeline.StrandID  // the strand that woke it for that; None: it had gone on without waiting
	request  timeline.RequestID // the request whose result ended it, or None
	sure     bool               // it began with the task: the worker had waited for work, or given a result
	last     bool               // it ended with a wait for work, as a stack shows
}

// awaitsTasks reports whether requests of Python wait for results.
func awaitsTasks(h *activity) bool {
	for i := range h.t.Waits {
		if w := &h.t.Waits[i]; len(h.o[w.Strand]) > 0 && taskResult(w) {
			return true
		}
	}
	return false
}

// taskResult reports a wait of a Python thread for what another thread was asked for.
func taskResult(w *timeline.Wait) bool { return w.Rule == "py-future" || w.Rule == "py-event" }

// taskFinder finds such tasks, in addition to the parts that are known.
type taskFinder struct{ *partList }

// find lists the tasks of requests that no call reveals.
func (h *taskFinder) find() {
	of := map[recording.ProcessID][]workSpan{}
	for s := range h.f.Threads {
		if id := timeline.StrandID(s); h.doesTasks(id) {
			p := h.t.Strands[s].Process
			of[p] = append(of[p], h.workSpans(id)...)
		}
	}
	others, lost := h.partsByStrand(), h.lost()
	for p, list := range of {
		if len(list) == 0 {
			continue
		}
		quiet := h.newSilence(list)
		for i := range list {
			x := &list[i]
			r := x.request
			if !quiet.tells(x) {
				r = h.onlyFor(h.open[p], x)
			}
			if r == timeline.None || h.otherwise(others, x) || meets(lost, x.from, x.to) {
				continue
			}
			by := timeline.StrandID(timeline.None)
			if x.by != timeline.None && h.o.At(x.by, x.from) == r {
				by = x.by
			}
			h.add(r, timeline.Part{Strand: x.strand, From: x.from, To: x.to}, by)
		}
	}
}

// doesTasks reports a Python thread that serves no requests itself.
func (h *taskFinder) doesTasks(s timeline.StrandID) bool {
	st := &h.t.Strands[s]
	return h.f.Runtime(st.Process) == recording.RuntimePython && !st.Loop && len(h.o[s]) == 0 && len(h.serving[s]) == 0
}

// workSpans cuts the life of a worker where it may have waited for work and where it gave results. It returns none if
// the worker gave no results, or is a loop, which has several tasks under way.
func (h *taskFinder) workSpans(s timeline.StrandID) []workSpan {
	loop := func(st facts.Step) bool { return st.Off != nil && strings.HasPrefix(st.Off.Syscall, "epoll_") }
	if slices.ContainsFunc(h.f.Threads[s].Steps, loop) {
		return nil
	}
	var list []workSpan
	given, any, rested := h.strands[s].woke, false, false // rested: it surely waited for work before
	for _, j := range h.stretches(s, func(st facts.Step) bool { return h.mayRest(s, st.Off) }) {
		next := workSpan{from: j.from, by: j.by, sure: rested}
		for ; len(given) > 0 && given[0].at <= j.to; given = given[1:] {
			w := given[0]
			ends, sure := h.endsTask(w)
			if !ends || next.from >= w.at {
				continue
			}
			next.strand, next.to, next.request = s, w.at, timeline.None
			if sure {
				next.request, any = h.ownAt(w), true
			}
			if !h.again(list, &next) {
				list = append(list, next)
			}
			next = workSpan{from: w.at, by: timeline.None, sure: sure}
		}
		if rested = j.rest != nil && h.purposeOf(s, j.rest) == forWork; j.rest != nil && next.from < j.to {
			next.strand, next.to, next.request, next.last = s, j.to, timeline.None, rested || h.shown(s, j.rest)
			list = append(list, next)
		}
	}
	if !any {
		return nil
	}
	return list
}

// again reports that a work span is part of the one before it: the thread that waited for the result was woken for
// it, and once more when the lock was free at which it had waited.
func (h *taskFinder) again(list []workSpan, x *workSpan) bool {
	n := len(list)
	return n > 0 && x.by == timeline.None && x.request != timeline.None && list[n-1].request == x.request && list[n-1].to == x.from && h.busyIn(x) <= leastQuiet
}

// endsTask reports a wake-up by which a task may have ended; sure: it did.
func (h *taskFinder) endsTask(w wake) (ends, sure bool) {
	switch h.purposeOf(w.of, w.off) {
	case forWork, forOther:
		return false, false // it woke a worker, or released a lock
	case forResult:
		return true, h.ownAt(w) != timeline.None
	}
	return true, false
}

// shown reports a sleep for which a stack says that it is no wait for a lock.
func (h *taskFinder) shown(s timeline.StrandID, off *timeline.Off) bool {
	id := h.waitOf(s, off)
	return id != timeline.None && h.t.Waits[id].Stack != timeline.None
}

// mayRest reports a sleep in which a worker may have waited for work; a wait for an event may be that too.
func (h *taskFinder) mayRest(s timeline.StrandID, off *timeline.Off) bool {
	if !timeline.OnFutex(off) {
		return false
	}
	switch h.purposeOf(s, off) {
	case unknown, forWork:
		return true
	case forResult:
		return strings.HasSuffix(h.t.Waits[h.waitOf(s, off)].Rule, "-event")
	}
	return false
}

// busyIn is how long a worker did something, or waited for something, in a work span, except for a processor or a
// lock.
func (h *taskFinder) busyIn(x *workSpan) recording.Duration {
	sum := recording.Duration(0)
	for _, iv := range timeline.Clipped(h.t.Strands[x.strand].Intervals, x.from, x.to) {
		if iv.State == timeline.StateRunnable {
			continue
		}
		if id := h.t.WaitAt(x.strand, iv.From); iv.State == timeline.StateSleeping && id != timeline.None && (h.t.Waits[id].Cause == timeline.CauseInterpreterLock || h.t.Waits[id].Cause == timeline.CauseLock) {
			continue
		}
		sum += min(iv.To, x.to).Sub(max(iv.From, x.from))
	}
	return sum
}

// onlyFor returns the request that a work span can only have been for: a worker was woken for it while no other
// request was open or opened, and the span ended with its result.
func (h *taskFinder) onlyFor(open *timeline.Open, x *workSpan) timeline.RequestID {
	if x.by == timeline.None || x.request == timeline.None {
		return timeline.None
	}
	r := h.o.At(x.by, x.from)
	if r == timeline.None || open.Throughout(x.from, x.to) != r || x.request != r {
		return timeline.None
	}
	return r
}

// partsByStrand lists the parts that are known so far.
func (h *taskFinder) partsByStrand() timeline.Stints {
	on := make(timeline.Stints, len(h.t.Strands))
	for r, list := range h.parts {
		for _, p := range list {
			on[p.Strand] = append(on[p.Strand], timeline.Stint{From: p.From, To: p.To, Request: timeline.RequestID(r)})
		}
	}
	for s := range on {
		on[s] = timeline.MergeStints(on[s])
	}
	return on
}

// otherwise reports that a work span is decided by other means: the worker made a call in it.
func (h *taskFinder) otherwise(parts timeline.Stints, x *workSpan) bool {
	calls := h.strands[x.strand].calls
	k := sort.Search(len(calls), func(k int) bool { return h.t.Calls[calls[k]].End > x.from })
	if k < len(calls) && h.sent(calls[k]) < x.to {
		return true
	}
	return meets(parts[x.strand], x.from, x.to)
}
