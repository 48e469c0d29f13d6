package handoffs

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// activity is the state that all rules share: what strands did, and for which requests they worked, as far as found
// yet.
type activity struct {
	t        *timeline.Timeline
	f        *facts.Facts
	o        timeline.Stints                        // by strand: the requests that it read itself and worked for
	serving  timeline.Stints                        // by strand: the requests that other strands read and that it answers
	contexts *contexts                              // nil: none are known
	open     map[recording.ProcessID]*timeline.Open // the open requests of each process
	strands  []strand
	ways     []callWay  // by call; empty if no call may have been handed over
	loopEnds [][]result // by strand that woke a loop with many open requests: what the loop answered next, in order
}

// strand is what one strand did; each list is in order of time.
type strand struct {
	calls   []timeline.CallID // calls that it sent and that have no request yet
	answers []result          // responses to requests that another strand had read
	reads   []readAt
	woke    []wake
	jobs    []job
	takings []taking // what it worked on
	idle    idleAt
	handsOn int32 // how often it passed on an answer that another strand had read
	least   int   // the least number of calls that each of its tasks makes; unsure: not known
	even    bool  // all its tasks make the same number of calls
}

// callWay says which strands took part in a call besides the one that sent it.
type callWay struct {
	carried   bool              // sent by a strand that does not wait for the answer
	reader    timeline.StrandID // the strand that read its answer, or None
	own       bool              // the reader had also written the call
	delivered bool              // its answer was delivered to the strand that had asked
}

// manySteps bounds how many steps back a search goes.
const manySteps = 64

// unsure is the number of calls per task if too few tasks are known.
const unsure = -1

func newActivity(t *timeline.Timeline, f *facts.Facts, in Input) *activity {
	return &activity{
		t: t, f: f, o: in.Owners, contexts: in.Contexts,
		serving: make(timeline.Stints, len(in.Owners)), strands: make([]strand, len(t.Strands)),
	}
}

// wake is an edge between strands: one made the other runnable from inside a futex wake. A thread does that when it
// releases a lock, hands over work or delivers a result.
type wake struct {
	at     recording.Time
	by, of timeline.StrandID
	off    *timeline.Off // the sleep that it ended
}

// listWakes lists the edges of a recording by the strand that woke the other.
func (h *activity) listWakes() {
	counts := make([]int32, len(h.strands))
	each := func(visit func(wake)) {
		for i := range h.f.Threads {
			for _, s := range h.f.Threads[i].Steps {
				if !timeline.HandedOn(s.Off) {
					continue
				}
				if by := h.f.Strand(s.Off.Waker); by != timeline.None && int(by) != i {
					visit(wake{s.Off.Woken, by, timeline.StrandID(i), s.Off})
				}
			}
		}
	}
	each(func(w wake) { counts[w.by]++ })
	all := lists.Sized[wake](counts)
	each(func(w wake) { all[w.by] = append(all[w.by], w) })
	for s, list := range all {
		h.strands[s].woke = lists.ByTime(list, func(w *wake) recording.Time { return w.at })
	}
}

// mayBeHanded reports a call on a strand that may have made it for a request of another strand.
func (h *activity) mayBeHanded(c *timeline.Call) bool {
	return c.Strand != timeline.None && int(c.Strand) < len(h.f.Threads) && (c.Why == timeline.WhyNoOwner || c.Why == timeline.WhyContext) && !h.t.Strands[c.Strand].Loop
}

// sort puts each strand's calls in order of being sent, and its answers in order of time.
func (h *activity) sort() {
	for i := range h.strands {
		s := &h.strands[i]
		slices.SortFunc(s.calls, func(a, b timeline.CallID) int { return cmp.Compare(h.sent(a), h.sent(b)) })
		s.answers = lists.ByTime(s.answers, func(r *result) recording.Time { return r.at })
	}
}

// sent is when a call was written, or began if it was never written.
func (h *activity) sent(c timeline.CallID) recording.Time {
	if at := h.t.Calls[c].SendFrom; at != recording.NoTime {
		return at
	}
	return h.t.Calls[c].Start
}

// owner returns the request that a strand worked for at a time: one that it read itself, or one that it answered for
// the strand that had read it. None if there is no such request.
func (h *activity) owner(s timeline.StrandID, at recording.Time) timeline.RequestID {
	if r := h.o.At(s, at); r != timeline.None {
		return r
	}
	return h.serving.At(s, at)
}

// worksFor is the request that a strand worked for at a time: its own, the one for which the item was put in that it
// had taken from a queue, or the one for which it was woken; None: not known.
func (h *activity) worksFor(s timeline.StrandID, at recording.Time) timeline.RequestID {
	if r := h.owner(s, at); r != timeline.None {
		return r
	}
	if x := h.takingAt(s, at); x != nil {
		return x.request
	}
	if j := h.jobAt(s, at); j != nil && j.told && at < h.t.Requests[j.claim].End && !(h.wentOn(j) && h.wokeLoop(j, at) != recording.NoTime) {
		return j.claim
	}
	return timeline.None
}

// handedFor is the request for which a strand handed something over at a time. That is the request it worked for,
// unless it serves many at once; then it is the request in whose Python context it did so. None: not known.
func (h *activity) handedFor(by timeline.StrandID, at recording.Time, in recording.ContextID) timeline.RequestID {
	if many := h.t.Strands[by].Loop || h.contexts != nil && h.contexts.loops[by]; !many {
		if r := h.worksFor(by, at); r != timeline.None {
			return r
		}
	}
	if h.contexts == nil || in == recording.NoContext {
		return timeline.None
	}
	r, _ := h.contexts.owner(facts.ContextKey{Process: h.t.Strands[by].Process, ID: in}, at)
	return r
}

// ownAt returns the request that a woken strand was serving during the whole sleep.
func (h *activity) ownAt(w wake) timeline.RequestID {
	r := h.worksFor(w.of, w.off.Since)
	if r != timeline.None && h.worksFor(w.of, w.at) != r {
		return timeline.None
	}
	return r
}

// takingAt is what a strand worked on at a time; nil if that is not known.
func (h *activity) takingAt(s timeline.StrandID, at recording.Time) *taking {
	list := h.strands[s].takings
	i := sort.Search(len(list), func(k int) bool { return list[k].from > at })
	if i == 0 || at >= list[i-1].to {
		return nil
	}
	return &list[i-1]
}

// jobAt returns the job of a strand at a time, or nil.
func (h *activity) jobAt(s timeline.StrandID, at recording.Time) *job {
	list := h.strands[s].jobs
	i := sort.Search(len(list), func(k int) bool { return list[k].from > at })
	if i == 0 || at > list[i-1].to {
		return nil
	}
	return &list[i-1]
}

// turnedTo is the earliest time at which a job can have turned to its i-th call: the latest of its beginning, the end
// of the call before, and the delivery of the last result before.
func (h *activity) turnedTo(j *job, i int) recording.Time {
	at := j.from
	if i > 0 {
		at = h.t.Calls[j.calls[i-1]].End
	}
	for _, x := range j.results {
		if x.calls == i && x.at <= h.sent(j.calls[i]) {
			at = max(at, x.at)
		}
	}
	return at
}

func (h *activity) eachJob(visit func(*job)) {
	for s := range h.strands {
		for i := range h.strands[s].jobs {
			visit(&h.strands[s].jobs[i])
		}
	}
}

// inOrder lists all jobs in order of their start.
func (h *activity) inOrder() []*job {
	var all []*job
	h.eachJob(func(j *job) { all = append(all, j) })
	return lists.ByTime(all, func(j **job) recording.Time { return (*j).from })
}

// lost lists the spans in which facts were lost, and possibly a result among them.
func (h *activity) lost() []timeline.Stint {
	var list []timeline.Stint
	for _, l := range h.t.Losses {
		list = append(list, timeline.Stint{From: l.From, To: l.To, Request: timeline.None})
	}
	return timeline.MergeStints(list)
}
