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

// job is a span in which a strand that serves no request of its own worked: from being
// woken for work, or made, until it waits for work again. It may have taken several
// tasks meanwhile, without waiting.
type job struct {
	strand   timeline.StrandID
	from, to recording.Time
	slept    recording.Time      // since when it had waited for work
	rest     *timeline.Off       // the wait for work that ended it; nil: none did
	by       timeline.StrandID   // who woke it, or made it; None: not known
	context  recording.ContextID // of Python, in which it was woken
	word     int64               // futex at which it was woken
	made     bool                // it was made then
	calls    []timeline.CallID   // that it made, in order
	results  []result            // that it delivered, in order

	claim timeline.RequestID // that by worked for, as far as its own start tells
	root  recording.Time     // since when work for that was submitted
	told  bool               // it is claim's by the context of Python in which it was woken
	late  bool               // a worker that was woken for another request had yet to begin
}

// result is a wake of a strand that waited for a result, or the answer to a request.
type result struct {
	at      recording.Time
	request timeline.RequestID
	since   recording.Time // when its strand began to wait for it
	calls   int            // of the job's calls, how many were made before
	place   place
	answer  bool // the response of the request
	sure    bool // nearly all that is delivered at the place is preceded by a call
}

// jobFinder cuts the lives of workers into jobs.
type jobFinder struct {
	*scene
	results map[place]*ends
	shared  map[word]bool // several waited there for work at once, woken in contexts
}

// find lists the jobs of all strands, with their calls and results.
func (h *jobFinder) find() {
	h.cutAll()
	h.findQueues()
	h.tellAll()
	h.findResults()
	h.fillAll()
	h.dropBegins()
	h.dropLocks()
}

// cutAll lists the jobs of all strands, by strand in order of time.
func (h *jobFinder) cutAll() {
	for i := range h.f.Threads {
		s := timeline.StrandID(i)
		if rt := h.f.Runtime(h.t.Strands[i].Process); rt == recording.RuntimeGo || rt == recording.RuntimeNode || h.t.Strands[i].Loop {
			continue
		}
		h.strands[i].jobs = h.cutJobs(s)
	}
}

// fillAll gives all jobs their calls and results.
func (h *jobFinder) fillAll() {
	for s := range h.f.Threads {
		h.fill(timeline.StrandID(s))
	}
}

// cutJobs cuts the life of a strand at its waits for work, and where it works for a
// request of its own.
func (h *jobFinder) cutJobs(s timeline.StrandID) []job {
	begun := recording.NoTime // when it last was woken for work
	var list []job
	for _, next := range h.stretches(s, func(st facts.Step) bool {
		if h.rests(s, st.Off) {
			begun = st.At
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

// newJob is one of which is known only when it began.
func newJob(s timeline.StrandID, from recording.Time) job {
	return job{strand: s, from: from, by: timeline.None, claim: timeline.None}
}

// stretches cuts the life of a strand where it rests, and where the recording did.
func (h *scene) stretches(s timeline.StrandID, rests func(facts.Step) bool) []job {
	th, windows := &h.f.Threads[s], h.f.Windows
	next := newJob(s, h.f.Start)
	if th.Born != recording.NoTime {
		next.from, next.by, next.made = th.Born, h.f.Strand(th.Creator), true
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

// fill gives a strand's jobs their calls and results.
func (h *jobFinder) fill(s timeline.StrandID) {
	jobs, calls, given, answers := h.strands[s].jobs, h.strands[s].calls, h.strands[s].woke, h.strands[s].answers
	for i := range jobs {
		j := &jobs[i]
		k := sort.Search(len(calls), func(k int) bool { return h.sent(calls[k]) >= j.from })
		calls = calls[k:]
		n := sort.Search(len(calls), func(k int) bool { return h.sent(calls[k]) >= j.to })
		j.calls, calls = calls[:n:n], calls[n:]
		k = sort.Search(len(given), func(k int) bool { return given[k].at >= j.from })
		given = given[k:]
		for len(given) > 0 && given[0].at <= j.to {
			h.addResult(j, given[0])
			given = given[1:]
		}
		for len(answers) > 0 && answers[0].at <= j.to {
			if a := answers[0]; a.at >= j.from {
				a.calls = sort.Search(len(j.calls), func(k int) bool { return h.sent(j.calls[k]) >= a.at })
				j.results = append(j.results, a)
			}
			answers = answers[1:]
		}
		slices.SortStableFunc(j.results, func(a, b result) int { return cmp.Compare(a.at, b.at) })
	}
}

// addResult adds a wake to a job's results, if it may deliver one.
func (h *jobFinder) addResult(j *job, w wake) {
	r := h.ownAt(w)
	if r == timeline.None {
		return
	}
	switch p := h.purposeOf(w.of, w.off); {
	case p == forOther || p == forWork:
		return
	case p == unknown && !h.waitedFor(j, w):
		if e := h.results[h.placeOf(w)]; e == nil || e.others > 0 {
			return
		}
	}
	n := sort.Search(len(j.calls), func(k int) bool { return h.sent(j.calls[k]) >= w.at })
	if n > 0 && h.t.Calls[j.calls[n-1]].End > w.at {
		return // in the middle of a call
	}
	j.results = append(j.results, result{w.at, r, w.off.Since, n, h.placeOf(w), false, false})
}

// waitedFor reports that a wake ended the wait of whoever had woken the job's strand for work,
// who had gone to sleep before the first call was answered and slept until all were.
func (h *jobFinder) waitedFor(j *job, w wake) bool {
	if j.by != w.of || len(j.calls) == 0 || w.off.Since < j.from {
		return false
	}
	first, last := &h.t.Calls[j.calls[0]], &h.t.Calls[j.calls[len(j.calls)-1]]
	return w.off.Since < first.End && last.End <= w.at
}

// dropBegins drops what threads that were made told who had made them before they did
// anything else: that they had begun.
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

// dropLocks drops the results at places where nearly nothing delivered was preceded by
// a call: threads that begin say so there, and locks of queues are handed on.
func (h *jobFinder) dropLocks() {
	counts := causality.Tallies[place]{} // odd: no call preceded
	h.eachJob(func(j *job) {
		before := 0
		for _, r := range j.results {
			counts.Add(r.place, r.calls == before)
			before = r.calls
		}
	})
	// Places of few each, such as locks that are made for one wait, are judged together.
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
