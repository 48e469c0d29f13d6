package handoffs

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// Some event loops hand requests to worker threads. When a worker is done it wakes the loop, and the request that the
// loop answers next is the one the worker worked for. This holds only if the loop was waiting for events. It does not
// hold for asyncio, whose loop runs tasks in an order of its own.

// loopAnswers lists the requests that each loop answered, in order of time.
func loopAnswers(h *activity) map[timeline.StrandID][]*timeline.Request {
	of := map[timeline.StrandID][]*timeline.Request{}
	for i := range h.t.Requests {
		r := &h.t.Requests[i]
		if r.Strand == timeline.None || !leaves(h, r.Strand) {
			continue
		}
		of[r.Strand] = append(of[r.Strand], r)
	}
	for _, list := range of {
		slices.SortStableFunc(list, func(a, b *timeline.Request) int { return cmp.Compare(a.End, b.End) })
	}
	return of
}

// leaves reports whether a strand is a loop that may leave work to threads whose lives are cut into jobs, and that
// answers in the order in which they wake it.
func leaves(h *activity, loop timeline.StrandID) bool {
	switch h.f.Runtime(h.t.Strands[loop].Process) {
	case recording.RuntimePython, recording.RuntimeNode, recording.RuntimeGo:
		return false
	}
	return h.t.Strands[loop].Loop
}

// findLoopEnds finds what loops answered after strands woke them; false if there is nothing.
func findLoopEnds(h *activity) (any bool) {
	h.loopEnds = make([][]result, len(h.strands))
	answers := loopAnswers(h)
	for s := range h.f.Threads { // threads only: no goroutines
		if list := answers[timeline.StrandID(s)]; len(list) > 0 {
			endsAt(h, timeline.StrandID(s), list)
		}
	}
	for s := range h.loopEnds {
		slices.SortStableFunc(h.loopEnds[s], func(a, b result) int { return cmp.Compare(a.at, b.at) })
		any = any || len(h.loopEnds[s]) > 0
	}
	return any
}

// endsAt lists, by the strand that woke a loop, what the loop answered next, before it waited for events again.
func endsAt(h *activity, loop timeline.StrandID, answers []*timeline.Request) {
	steps := h.f.Threads[loop].Steps
	for i := range steps {
		off := steps[i].Off
		if off == nil || !timeline.PollWait(off.Syscall) || off.WakerKind != recording.WakerThread {
			continue
		}
		by := h.f.Strand(off.Waker)
		k := sort.Search(len(answers), func(k int) bool { return answers[k].End >= off.Woken })
		if by != timeline.None && by != loop && k < len(answers) && !polled(h.f, loop, off.Woken, answers[k].End) {
			h.loopEnds[by] = append(h.loopEnds[by], result{at: off.Woken, request: answers[k].ID, since: off.Since, place: place{loop, 0}})
		}
	}
}

// polled reports whether a loop began to wait for events within a span.
func polled(f *facts.Facts, loop timeline.StrandID, from, to recording.Time) bool {
	steps := f.Threads[loop].Steps
	k := sort.Search(len(steps), func(k int) bool { return steps[k].At > from })
	for ; k < len(steps) && (steps[k].Off == nil || steps[k].Off.Since < to); k++ {
		if off := steps[k].Off; off != nil && timeline.PollWait(off.Syscall) && off.Since >= from {
			return true
		}
	}
	return false
}
