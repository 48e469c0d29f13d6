package handoffs

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// job is a span in which a strand that serves no request of its own worked: from being woken for work, or created,
// until it waits for work again. It may have taken several tasks meanwhile without waiting.
type job struct {
	strand   timeline.StrandID
	from, to recording.Time
	slept    recording.Time      // since when it had waited for work before
	rest     *timeline.Off       // the wait for work that ended it; nil: none did
	by       timeline.StrandID   // the strand that woke or created it; None: not known
	context  recording.ContextID // Python context in which it was woken or created
	word     int64               // futex at which it was woken
	made     bool                // its strand was created for it
	calls    []timeline.CallID   // calls that it made, in order
	results  []result            // results that it delivered, in order

	claim timeline.RequestID // the request that by worked for, as far as the job's own start shows
	root  recording.Time     // since when work for that request was submitted
	told  bool               // the job is for claim, by the Python context in which it was woken or created
	late  bool               // it started while a worker that was woken for another request had yet to begin
}

// result is a wake-up of a strand that waited for a result, or the answer to a request.
type result struct {
	at      recording.Time
	request timeline.RequestID
	since   recording.Time // when that strand began to wait for it
	calls   int            // how many of the job's calls were made before
	place   place
	answer  bool // it is the request's response
	sure    bool // nearly all that is delivered at the place follows a call
}

// place is where in its code a strand waits. The depth of its stack distinguishes the places of one strand. CPython
// keeps its own frames elsewhere: there the word that is waited on says more.
type place struct {
	strand timeline.StrandID
	key    int64
}

// jobFinder cuts the lives of workers into jobs.
type jobFinder struct {
	*activity
	ended  causality.Tallies[place] // waits of requests; odd: not ended by a strand that only works for others
	shared map[word]bool            // words where several strands waited for work at once and were woken in contexts
}

// find lists the jobs of all strands, with their calls and results.
func (h *jobFinder) find() {
	for i := range h.f.Threads {
		if rt := h.f.Runtime(h.t.Strands[i].Process); rt != recording.RuntimeGo && rt != recording.RuntimeNode && !h.t.Strands[i].Loop {
			h.strands[i].jobs = h.cutJobs(timeline.StrandID(i))
		}
	}
	h.findQueues()
	h.tellAll()
	h.countEnds()
	h.eachJob(h.fill)
	h.dropBegins()
	h.dropLocks()
}

// cutJobs cuts the life of a strand at its waits for work, and around the requests of its own.
func (h *jobFinder) cutJobs(s timeline.StrandID) []job {
	begun := recording.NoTime // when it was last woken for work
	var list []job
	whose := h.madeFor(s) // for whom it last was, by the context of that
	for _, next := range h.stretches(s, func(st facts.Step) bool {
		r := h.wokenFor(st.Off)
		if h.rests(s, st.Off) || r != timeline.None && r != whose && h.turnsTo(s, st.Off, r) {
			begun, whose = st.At, r
			return true
		}
		lingers := h.lingers(s, st.Off, begun)
		if lingers {
			h.t.Linger(st.Off)
		}
		return lingers
	}) {
		to := next.to
		for _, own := range h.o.From(s, next.from) {
			if own.From >= to {
				break
			}
			if next.to = own.From; next.to > next.from {
				list = append(list, next)
			}
			next = newJob(s, max(next.from, own.To))
		}
		if next.to = to; next.to > next.from {
			list = append(list, next)
		}
	}
	return list
}

// newJob returns a job of which only the beginning is known.
func newJob(s timeline.StrandID, from recording.Time) job {
	return job{strand: s, from: from, by: timeline.None, claim: timeline.None}
}

// stretches cuts the life of a strand where the strand rests, and where the recording paused.
func (h *activity) stretches(s timeline.StrandID, rests func(facts.Step) bool) []job {
	th, windows := &h.f.Threads[s], h.f.Windows
	next := newJob(s, h.f.Start)
	if th.Born != recording.NoTime {
		next.from, next.by, next.context, next.made = th.Born, h.f.Strand(th.Creator), th.Context, true
	}
	var list []job
	end := func(at recording.Time) {
		if next.to = at; next.to > next.from {
			list = append(list, next)
		}
	}
	for _, st := range th.Steps {
		for ; len(windows) > 1 && st.At >= windows[1].From; windows = windows[1:] {
			end(windows[0].To)
			next = newJob(s, windows[1].From)
		}
		if !rests(st) {
			continue
		}
		next.rest = st.Off
		end(st.Off.Since)
		if next = newJob(s, st.Off.Woken); next.from == recording.NoTime {
			next.from = st.At
		}
		if next.slept = st.Off.Since; timeline.HandedOn(st.Off) || st.Off.Syscall == "ppoll" && st.Off.WakerKind == recording.WakerThread {
			next.by, next.context, next.word = h.f.Strand(st.Off.Waker), st.Off.Context, st.Off.Arg
		}
	}
	last := windows[0].To
	if th.Died != recording.NoTime {
		last = th.Died
	}
	end(last)
	return list
}

// countEnds counts which strands ended the waits of requests at each place. If only workers do, the waits are for
// results. Locks are also handed on by the strands of other requests.
func (h *jobFinder) countEnds() {
	h.ended = causality.Tallies[place]{}
	for s := range h.strands {
		for _, w := range h.strands[s].woke {
			if h.ownAt(w) != timeline.None {
				h.ended.Add(h.placeOf(w), h.owner(w.by, w.at) != timeline.None || len(h.strands[w.by].calls) == 0)
			}
		}
	}
}

// placeOf is the place of a wait for a result.
func (h *jobFinder) placeOf(w wake) place {
	if h.f.Runtime(h.t.Strands[w.of].Process) == recording.RuntimePython {
		return place{timeline.None, w.off.Arg}
	}
	return place{w.of, w.off.SP}
}

// fill adds a job's calls and results.
func (h *jobFinder) fill(j *job) {
	s := &h.strands[j.strand]
	j.calls = within(s.calls, j.from, j.to, h.sent)
	for _, w := range within(s.woke, j.from, j.to+1, func(w wake) recording.Time { return w.at }) {
		h.addResult(j, w)
	}
	for _, x := range within(h.loopEnds[j.strand], j.from, j.to+1, func(x result) recording.Time { return x.at }) {
		if x.calls = len(within(j.calls, j.from, x.at, h.sent)); x.calls == 0 || h.t.Calls[j.calls[x.calls-1]].End <= x.at {
			j.results = append(j.results, x)
		}
	}
	for _, a := range within(s.answers, j.from, j.to+1, func(a result) recording.Time { return a.at }) {
		a.calls = len(within(j.calls, j.from, a.at, h.sent))
		j.results = append(j.results, a)
	}
	slices.SortStableFunc(j.results, func(a, b result) int { return cmp.Compare(a.at, b.at) })
}

// within returns the part of a time-ordered list that lies in a span.
func within[T any](list []T, from, to recording.Time, at func(T) recording.Time) []T {
	i := sort.Search(len(list), func(k int) bool { return at(list[k]) >= from })
	n := i + sort.Search(len(list)-i, func(k int) bool { return at(list[i+k]) >= to })
	return list[i:n:n]
}

// addResult adds a wake-up to a job's results, if it may deliver one.
func (h *jobFinder) addResult(j *job, w wake) {
	r := h.ownAt(w)
	if r == timeline.None {
		return
	}
	switch p := h.purposeOf(w.of, w.off); {
	case p == forOther || p == forWork:
		return
	case p == unknown:
		if e := h.ended[h.placeOf(w)]; e.All == 0 || e.Odd > 0 {
			return
		}
	}
	n := len(within(j.calls, j.from, w.at, h.sent))
	if n > 0 && h.t.Calls[j.calls[n-1]].End > w.at {
		return // in the middle of a call
	}
	j.results = append(j.results, result{w.at, r, w.off.Since, n, h.placeOf(w), false, false})
}

// callsUpTo is how many calls a job had made by the result before the i-th.
func (j *job) callsUpTo(i int) int {
	if i == 0 {
		return 0
	}
	return j.results[i-1].calls
}

// dropBegins drops the first wake-up by which a created thread only tells its creator that it has begun.
func (h *jobFinder) dropBegins() {
	h.eachJob(func(j *job) {
		if !j.made || j.by == timeline.None || len(j.results) == 0 {
			return
		}
		if x := &j.results[0]; !x.answer && x.calls == 0 && h.worksFor(j.by, j.from) == x.request {
			j.results = j.results[1:]
		}
	})
}

// dropLocks drops the results at places where hardly any delivery follows a call: created threads report there that
// they begin, and the locks of queues are handed on there.
func (h *jobFinder) dropLocks() {
	counts := causality.Tallies[place]{} // odd: no call came before
	h.eachJob(func(j *job) {
		for i, r := range j.results {
			if r.answer || !h.t.Requests[r.request].Cut { // else some calls may not have been seen
				counts.Add(r.place, r.calls == j.callsUpTo(i))
			}
		}
	})
	// Places with few deliveries each, such as locks created for a single wait, are judged together.
	judged := counts.Judged(fewIdle, func(place) place { return place{} })
	h.eachJob(func(j *job) {
		j.results = slices.DeleteFunc(j.results, func(r result) bool {
			c := counts[r.place]
			return !r.answer && causality.Tally{All: c.All, Odd: c.All - c.Odd}.Holds(1, causality.Usually)
		})
		for i := range j.results {
			x := &j.results[i]
			c := judged(x.place)
			x.sure = c.All >= fewIdle && c.Holds(0, causality.Usually)
		}
	})
}
