package handoffs

import (
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// An asyncio loop that hands work to a thread wakes it in the context of the task that asked for it. So the request
// is known, although the loop serves many at once. If threads take from one queue, this says nothing: the woken
// thread may find that another was faster, and take the next task instead. A thread that the loop creates takes what
// the loop then puts in, unless threads share the queue.

// word is a place in the memory of a process: a futex, or a queue.
type word struct {
	process recording.ProcessID
	at      int64
}

// findQueues finds the words at which several strands waited for work at once. Strands that wait at one word one
// after the other need not share a queue: each wait may be for a new lock at the address of an earlier one.
func (h *jobFinder) findQueues() {
	if h.contexts == nil {
		return
	}
	h.shared = map[word]bool{}
	last := map[word]*job{} // the last job whose strand was woken there
	for _, j := range h.inOrder() {
		if j.by == timeline.None || j.context == 0 || j.made {
			continue
		}
		w := word{h.t.Strands[j.strand].Process, j.word}
		if x := last[w]; x != nil && x.strand != j.strand && j.slept < x.from {
			h.shared[w] = true
		}
		last[w] = j
	}
}

// tellsOf returns the request in whose context a loop woke or created a job's strand for work of its own, or None.
func (h *jobFinder) tellsOf(j *job) timeline.RequestID {
	if h.contexts == nil || !h.contexts.loops[j.by] || h.sharesQueue(j) {
		return timeline.None
	}
	r := h.handedFor(j.by, j.from, j.context)
	if j.made && r != timeline.None && seenFor(h.activity, j, r, j.to).other {
		return timeline.None
	}
	return r
}

// madeFor returns the request in whose context a loop created a strand, or None.
func (h *jobFinder) madeFor(s timeline.StrandID) timeline.RequestID {
	th := &h.f.Threads[s]
	if by := h.f.Strand(th.Creator); h.contexts != nil && by != timeline.None && h.contexts.loops[by] {
		return h.handedFor(by, th.Born, th.Context)
	}
	return timeline.None
}

// wokenFor returns the request in whose context a loop ended a sleep, or None.
func (h *jobFinder) wokenFor(off *timeline.Off) timeline.RequestID {
	if h.contexts == nil || !timeline.HandedOn(off) || off.Context == recording.NoContext {
		return timeline.None
	}
	if by := h.f.Strand(off.Waker); by != timeline.None && h.contexts.loops[by] {
		return h.handedFor(by, off.Woken, off.Context)
	}
	return timeline.None
}

// turnsTo reports that a strand certainly began to work for a request when a loop woke it in the context of that
// request: the first request in whose context the strand then woke others is the same. So it had waited for work,
// whether its stack shows that or not. The waits for locks are excluded, as a lock is released in any context.
func (h *jobFinder) turnsTo(s timeline.StrandID, off *timeline.Off, r timeline.RequestID) bool {
	if off.Timed == 1 || off.Owner != recording.NoThread || h.purposeOf(s, off) == forOther {
		return false
	}
	return seenFor(h.activity, &job{strand: s, from: off.Woken}, r, h.t.Requests[r].End).last != recording.NoTime
}

// sharesQueue reports whether other strands may have taken the work for which a job's strand was woken or created.
// If the strand was created, this shows in two ways: it takes from an executor's queue, or strands share the place
// where it waits next.
func (h *jobFinder) sharesQueue(j *job) bool {
	at := j.word
	switch {
	case j.made && len(h.f.Threads[j.strand].Taken) > 0:
		return true
	case j.made && j.rest != nil:
		at = j.rest.Arg
	}
	return h.shared[word{h.t.Strands[j.strand].Process, at}]
}

// seenIn says in which requests' contexts a strand woke others.
type seenIn struct {
	last  recording.Time // the last time in the context of the given request, before any in another's; NoTime: never
	other bool           // the first time was in the context of another request
}

// seenFor looks at the wake-ups that a job's strand made before a time, to see whether it then worked for this
// request.
func seenFor(h *activity, j *job, r timeline.RequestID, until recording.Time) seenIn {
	seen := seenIn{last: recording.NoTime}
	for _, w := range within(h.strands[j.strand].woke, j.from, until, func(w wake) recording.Time { return w.at }) {
		k := facts.ContextKey{Process: h.t.Strands[j.strand].Process, ID: w.off.Context}
		if k.ID == recording.NoContext {
			continue
		}
		of, _ := h.contexts.owner(k, w.at)
		switch of {
		case timeline.None:
		case r:
			seen.last = w.at
		default:
			seen.other = seen.last == recording.NoTime
			return seen
		}
	}
	return seen
}

// tellAll finds the jobs whose strand was woken in the context of a request.
func (h *jobFinder) tellAll() {
	h.eachJob(func(j *job) {
		if j.by == timeline.None || h.owner(j.by, j.from) != timeline.None {
			return
		}
		if r := h.tellsOf(j); r != timeline.None {
			j.claim, j.root, j.told = r, j.from-recording.Time(submitLead), true
		}
	})
}

// byContext: the only call of a job belongs to the request that the strand was woken for. So do all its calls if the
// strand waited for work again before that request was answered. Otherwise it went on with a task of another request.
func (h *decisions) byContext(j *job, all []decision) {
	if len(j.calls) > 1 && j.to > h.t.Requests[j.claim].End {
		return
	}
	for i := range all {
		all[i].say(j.claim, timeline.WhyHandOff)
	}
}

// wentOn reports whether a strand did not wait for work before the end of the request for which it was woken, and
// has made a call since then. That call may belong to another request.
func (h *activity) wentOn(j *job) bool {
	calls, end := h.strands[j.strand].calls, h.t.Requests[j.claim].End
	k := sort.Search(len(calls), func(k int) bool { return h.sent(calls[k]) >= end })
	return k < len(calls) && h.sent(calls[k]) < j.to
}

// wokeLoop returns when a strand first woke the loop that had woken it, before a time; NoTime: it did not. The loop
// may then have given it a task of another request.
func (h *activity) wokeLoop(j *job, at recording.Time) recording.Time {
	steps := h.f.Threads[j.by].Steps
	k := sort.Search(len(steps), func(k int) bool { return steps[k].At > j.from })
	for ; k < len(steps) && (steps[k].Off == nil || steps[k].Off.Since < at); k++ {
		off := steps[k].Off
		if off != nil && timeline.PollWait(off.Syscall) && off.WakerKind == recording.WakerThread && h.f.Strand(off.Waker) == j.strand && off.Woken > j.from && off.Woken < at {
			return off.Woken
		}
	}
	return recording.NoTime
}

// addTold adds a job without calls to the parts of the request that the strand was woken for. If the strand did not
// wait for work again before the request ended, it may have gone on to another request after it woke the loop with
// its result, unless it woke other strands in the request's context later.
func (h *partList) addTold(j *job) {
	if !j.told || len(j.calls) > 0 {
		return
	}
	to, end := j.to, h.t.Requests[j.claim].End
	if to > end {
		to = max(h.wokeLoop(j, end), seenFor(h.activity, j, j.claim, end).last)
	}
	if to != recording.NoTime {
		h.add(j.claim, timeline.Part{Strand: j.strand, From: j.from, To: to}, j.by)
	}
}
