package handoffs

import (
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/recording"
)

// A task whose result no thread waits for yet when it is done wakes no thread. Its request then lacks a result that
// others of its endpoint have. While such a request is open, what a worker did up to a result may be two tasks.

// silence is what is known of the tasks of a process that woke no thread.
type silence struct {
	h      *taskFinder
	spans  []timeline.Stint // when such tasks may have been done; disjoint, in order
	quiet  recording.Duration
	steady bool // nearly all requests of an endpoint get the same number of results
	// waits for work; odd: before them, work was done that woke no thread and is outside the spans
	ended causality.Tally
}

const (
	leastQuiet recording.Duration = 200_000 // ns
	mostQuiet  recording.Duration = 500_000 // ns
	quietPart                     = 4

	fewSilent  = 8  // so many waits for work are needed to judge whether tasks wake a thread
	manySilent = 64 // so many if the number of results does not decide
	oddSilent  = 31 // for so many waits, one may follow what is no task
	rareSilent = 16 // of so many requests of an endpoint, one may get another number of results
)

// newSilence examines the work spans of a process' workers.
func (h *taskFinder) newSilence(list []workSpan) *silence {
	q := &silence{h: h}
	q.findSpans(list)
	q.quiet = h.quietWork(list)
	worked := false // since it last waited for work, the worker gave a result
	for i := range list {
		x := &list[i]
		if !x.last {
			worked = worked || x.request != timeline.None
			continue
		}
		busy := (x.sure || x.by != timeline.None) && h.busyIn(x) > q.quiet && !(q.steady && meets(q.spans, x.from, x.to))
		if busy || worked {
			q.ended.Add(busy)
		}
		worked = false
	}
	return q
}

// quietWork returns for how long workers may be busy with what is no task: a part of the duration of work spans that
// end with a result.
func (h *taskFinder) quietWork(list []workSpan) recording.Duration {
	var all []recording.Duration
	for i := range list {
		if list[i].request != timeline.None {
			all = append(all, h.busyIn(&list[i]))
		}
	}
	if len(all) == 0 {
		return leastQuiet
	}
	slices.Sort(all)
	return min(max(leastQuiet, all[len(all)/2]/quietPart), mostQuiet)
}

// findSpans finds the requests that may lack results.
func (q *silence) findSpans(list []workSpan) {
	t := q.h.t
	results, process := map[timeline.RequestID]int{}, t.Strands[list[0].strand].Process
	for i := range list {
		if r := list[i].request; r != timeline.None {
			results[r]++
		}
	}
	of := counts{}
	for i := range t.Requests {
		r := &t.Requests[i]
		if r.Process != process || r.Cut {
			continue
		}
		of.add(r.Endpoint, results[r.ID])
	}
	usual := map[string]int{}
	all, steady := 0, 0
	for e, of := range of {
		n, most := usualOf(of)
		all, steady = all+n, steady+of[most]
		if usual[e] = most; of[most]*rareSilent < n*(rareSilent-1) {
			usual[e] = unsure
		}
	}
	q.steady = steady*rareSilent >= all*(rareSilent-1)
	var open []timeline.Stint
	for i := range t.Requests {
		r := &t.Requests[i]
		if n := usual[r.Endpoint]; r.Process == process && (r.Cut || n == unsure || results[r.ID] < n) {
			open = append(open, timeline.Stint{From: r.FirstRead, To: r.End, Request: r.ID})
		}
	}
	q.spans = timeline.MergeStints(open)
}

// meets reports whether one of the spans of MergeStints overlaps another span.
func meets(list []timeline.Stint, from, to recording.Time) bool {
	i := sort.Search(len(list), func(k int) bool { return list[k].To > from })
	return i < len(list) && list[i].From < to
}

// usualOf returns how many requests there are, and the most frequent number; the higher one of two equally frequent
// numbers.
func usualOf(of map[int]int) (all, most int) {
	for n, k := range of {
		if all += k; k > of[most] || k == of[most] && n > most {
			most = n
		}
	}
	return all, most
}

// tells reports that a work span was the task whose result ended it, and nothing else.
func (q *silence) tells(x *workSpan) bool {
	if !x.sure && x.by == timeline.None || x.request == timeline.None {
		return false
	}
	r := &q.h.t.Requests[x.request]
	if early := *x; x.from < r.FirstRead {
		if early.to = r.FirstRead; q.h.busyIn(&early) > q.quiet {
			return false
		}
	}
	by := timeline.RequestID(timeline.None)
	if x.by != timeline.None {
		by = q.h.o.At(x.by, x.from)
	}
	own := by == x.request
	switch {
	case by != timeline.None && !own:
		return false // it may have done what that request put in before
	case !x.sure && !own:
		return false
	case q.steady:
		return q.ended.Holds(fewSilent, oddSilent) && !meets(q.spans, x.from, x.to)
	case own:
		return q.ended.Holds(fewSilent, fewSilent-1)
	}
	return q.ended.Rule(manySilent)
}
