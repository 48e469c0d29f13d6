package hypotheses

import (
	"cmp"
	"maps"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// workers maps the threads that requests wait for, each of which serves one request at a time, to the spans in which
// they served one.
type workers map[timeline.StrandID][]window

// waitedFor returns the workers that requests waited for, unread.
func waitedFor(c *diagnosis.Case) workers {
	w := workers{}
	for _, id := range c.With(timeline.CausePool) {
		r := &c.Requests[id]
		for s := r.Segments(); s.Next(); {
			if forWorker(c, r, &s.Segment) && s.Strand != timeline.None {
				w[s.Strand] = nil
			}
		}
	}
	for i := range c.Requests {
		r := &c.Requests[i]
		if _, ok := w[r.Strand]; ok && r.FirstRead != recording.NoTime {
			w[r.Strand] = append(w[r.Strand], window{r.FirstRead, r.Served()})
		}
	}
	for _, served := range w {
		slices.SortFunc(served, func(a, b window) int { return cmp.Compare(a.from, b.from) })
	}
	return w
}

// forWorker reports whether a segment is a wait for a worker that serves a request of another connection. A request
// that waits for an earlier one of its own connection is in no queue of ours.
func forWorker(c *diagnosis.Case, r *timeline.Request, s *timeline.Segment) bool {
	return s.Phase == timeline.PhaseUnread && s.Cause == timeline.CausePool &&
		(s.Blocker == timeline.None || c.Requests[s.Blocker].Conn != r.Conn)
}

// others reports whether a request's wait, unread, for a worker is mostly for one that serves others. If the wait is a
// sum of many pieces, it is not known for whom each was, nor when.
func (w workers) others(r *timeline.Request, s *timeline.Segment) bool {
	return s.Blocker != timeline.None || s.Strand == r.Strand && 2*within(w[s.Strand], r.Start, r.FirstRead) >= s.To.Sub(s.From)
}

// busy returns for how much of the time the workers were serving while slow requests came.
func (w workers) busy(c *diagnosis.Case) diagnosis.Share {
	var most diagnosis.Share
	for i := range c.Symptoms {
		slow := c.Symptoms[i].Slow
		step := max(1, len(slow)/watchedSlow)
		var sum, n diagnosis.Share
		for k := 0; k < len(slow); k += step {
			from, to := around(c, &c.Requests[slow[k]])
			for _, served := range w {
				sum += diagnosis.ShareOf(int64(within(served, from, to)), int64(to.Sub(from)))
				n++
			}
		}
		if n > 0 {
			most = max(most, sum/n)
		}
	}
	return most
}

// within returns how much of a span is covered by windows, in order of their start.
func within(ws []window, from, to diagnosis.Time) (d Duration) {
	i, _ := slices.BinarySearchFunc(ws, from, func(w window, t diagnosis.Time) int { return cmp.Compare(w.to, t) })
	for ; i < len(ws) && ws[i].from < to; i++ {
		if a, b := max(ws[i].from, from), min(ws[i].to, to); a < b {
			d += b.Sub(a)
			from = b
		}
	}
	return d
}

// behindTheirOwn returns, by request, waits for the one worker that reads their connection. That worker serves others,
// and turns to the request as soon as it is done. Another worker of its process slept and had nothing to do from the
// beginning of the wait to its end, and none was woken: with one queue for all it would have taken the request.
func behindTheirOwn(c *diagnosis.Case) map[diagnosis.RequestID][]diagnosis.Span {
	served, out := servedByThread(c), map[diagnosis.RequestID][]diagnosis.Span{}
	for _, id := range c.With(timeline.CausePool) {
		r := &c.Requests[id]
		if !r.Measured() {
			continue
		}
		for s := r.Segments(); s.Next(); {
			if !forWorker(c, r, &s.Segment) || s.Blocker == timeline.None || s.Strand != r.Strand || served[s.Strand] == nil {
				continue
			}
			if served.atOnce(c, r) && served.someIdle(c, s.Strand, diagnosis.Span{From: s.From, To: s.To}) {
				out[r.ID] = append(out[r.ID], diagnosis.Span{Request: r.ID, From: s.From, To: s.To})
			}
		}
	}
	return out
}

// atOnce reports whether a worker read a request as soon as it was done with the one before.
func (w workers) atOnce(c *diagnosis.Case, r *timeline.Request) bool {
	list := w[r.Strand]
	n, _ := slices.BinarySearchFunc(list, r.FirstRead, func(w window, t diagnosis.Time) int { return cmp.Compare(w.from, t) })
	return n > 0 && !timeline.Slept(c.Timeline, r.Strand, list[n-1].to, r.FirstRead)
}

// someIdle reports whether, beside one worker, another one of its process has nothing to do in a span and sleeps, and
// no such worker was woken.
func (w workers) someIdle(c *diagnosis.Case, beside timeline.StrandID, span diagnosis.Span) bool {
	idle := false
	for other, windows := range w {
		if other == beside || c.Strands[other].Process != c.Strands[beside].Process || within(windows, span.From, span.To) > 0 {
			continue
		}
		slept, awake := false, false
		for _, iv := range timeline.Clipped(c.Strands[other].Intervals, span.From, span.To) {
			asleep := iv.State == timeline.StateSleeping
			if slept && !asleep {
				return false
			}
			slept, awake = slept || asleep, awake || !asleep
		}
		next, _ := slices.BinarySearchFunc(windows, span.From, func(w window, t diagnosis.Time) int { return cmp.Compare(w.from, t) })
		idle = idle || !awake && next > 0 && next < len(windows) // it served before, and does after
	}
	return idle
}

// servedByThread returns when each thread that serves one request at a time served one, in order.
func servedByThread(c *diagnosis.Case) workers {
	w := workers{}
	for i := range c.Requests {
		r := &c.Requests[i]
		if r.Strand != timeline.None && r.FirstRead != recording.NoTime && !c.Strands[r.Strand].Loop && c.Strands[r.Strand].Goroutine == recording.NoGoroutine {
			w[r.Strand] = append(w[r.Strand], window{r.FirstRead, r.Served()})
		}
	}
	for _, list := range w {
		slices.SortFunc(list, func(a, b window) int { return cmp.Compare(a.from, b.from) })
	}
	return w
}

// ownWorker is the candidate for waits for workers of their own; nil if there are none.
func ownWorker(c *diagnosis.Case, own map[diagnosis.RequestID][]diagnosis.Span) *diagnosis.Candidate {
	if len(own) == 0 {
		return nil
	}
	var spans []diagnosis.Span
	for _, id := range slices.Sorted(maps.Keys(own)) {
		spans = append(spans, own[id]...)
	}
	mean, share := perMean(c, diagnosis.Total(spans))
	return &diagnosis.Candidate{
		Place: "the worker of a connection",
		Title: "Requests wait before the server reads them: the one worker that has their connection serves another request, while other workers are idle",
		Fix:   "use one queue that any free worker takes from, instead of one per worker; or give a new connection to the least busy worker",
		Next:  "dwell show REC --slowest 3 names the request behind which each request waits",
		Spans: spans,
		Evidence: []diagnosis.Evidence{
			diagnosis.Part("of all request time is spent waiting for such a worker", share),
			diagnosis.NS("mean wait per request", mean),
			diagnosis.Count("requests that waited for one", len(own)),
		},
	}
}

// A request that sleeps may look now and then whether a thread or process is done with something, which no fact shows
// to be for the request. Without the sleep it would wait for that.

// handsOn is how often helpers may hand on to further ones, at most, because each is searched for among all threads.
const handsOn = 4

// helpers returns the threads that serve no request and are let go on by those that do, or by other helpers. Each does
// at least half as much as the one that does most. It returns what each did: from when somebody ended its wait until it
// waits so again.
func helpers(c *diagnosis.Case) map[timeline.StrandID][]window {
	letGo := map[timeline.StrandID]bool{}
	for i := range c.Requests {
		letGo[c.Requests[i].Strand] = true
	}
	delete(letGo, timeline.None)
	serve := maps.Clone(letGo)
	for range handsOn {
		more := false
		for i := range c.Strands {
			if s := timeline.StrandID(i); !letGo[s] && helps(c, s, letGo) {
				letGo[s], more = true, true
			}
		}
		if !more {
			break
		}
	}
	work, most := map[timeline.StrandID][]window{}, Duration(0)
	for s := range letGo {
		if !serve[s] {
			work[s] = workOf(c, s, letGo)
			most = max(most, lengthOf(work[s]))
		}
	}
	maps.DeleteFunc(work, func(_ timeline.StrandID, ws []window) bool { return 2*lengthOf(ws) < most || len(ws) == 0 })
	return work
}

// handedBy reports whether a thread's sleep was ended by one of some others.
func handedBy(c *diagnosis.Case, iv *timeline.Interval, by map[timeline.StrandID]bool) bool {
	if iv.State != timeline.StateSleeping || iv.Off == nil || iv.Off.WakerKind != recording.WakerThread {
		return false
	}
	s, known := threadStrands(c)[iv.Off.Waker]
	return known && by[s]
}

// helps reports whether most of a thread's sleeps that threads end are ended by some others. Go's threads are left out:
// they hand goroutines about, which are seen themselves.
func helps(c *diagnosis.Case, s timeline.StrandID, others map[timeline.StrandID]bool) bool {
	of := &c.Strands[s]
	if of.Goroutine != recording.NoGoroutine || runtimeOf(c, of.Process) == recording.RuntimeGo {
		return false
	}
	all, by := 0, 0
	for i := range of.Intervals {
		iv := &of.Intervals[i]
		if iv.State != timeline.StateSleeping || iv.Off == nil || iv.Off.WakerKind != recording.WakerThread {
			continue
		}
		if all++; handedBy(c, iv, others) {
			by++
		}
	}
	return by >= fewHolds && 2*by >= all
}

func lengthOf(ws []window) (of Duration) {
	for _, w := range ws {
		of += w.to.Sub(w.from)
	}
	return of
}

// workOf returns when a helper works, in order. It waits for more in sleeps that others ended, and in sleeps of that
// kind whose time was up.
func workOf(c *diagnosis.Case, s timeline.StrandID, others map[timeline.StrandID]bool) (out []window) {
	ivs, idle := c.Strands[s].Intervals, map[string]bool{}
	for i := range ivs {
		if handedBy(c, &ivs[i], others) {
			idle[ivs[i].Off.Syscall] = true
		}
	}
	since := diagnosis.Time(recording.NoTime)
	for i := range ivs {
		iv := &ivs[i]
		handed := handedBy(c, iv, others)
		if !handed && !(iv.State == timeline.StateSleeping && iv.Off != nil && idle[iv.Off.Syscall] && iv.Off.Timed == 1 && iv.Off.WakerKind == recording.WakerInterrupt) {
			continue
		}
		if since != recording.NoTime && since < iv.From {
			out = append(out, window{since, iv.From})
		}
		if since = recording.NoTime; handed {
			since = iv.To
		}
	}
	return out
}

// atWork reports whether a helper works within a millisecond after a time.
func atWork(work map[timeline.StrandID][]window, at diagnosis.Time) bool {
	for _, ws := range work {
		if within(ws, at, at+diagnosis.Time(milli)) > 0 {
			return true
		}
	}
	return false
}

// helped replays helpers that do for each of some requests, in the order in which it was asked for, as much as they did
// in the mean. It returns when they are done with each.
func helped(work map[timeline.StrandID][]window, asked []diagnosis.Time) []diagnosis.Time {
	var all Duration
	for _, ws := range work {
		all += lengthOf(ws)
	}
	each, free, done := diagnosis.Time(int64(all)/int64(len(asked))), make([]diagnosis.Time, len(work)), make([]diagnosis.Time, len(asked))
	for i, at := range asked {
		k := slices.Index(free, slices.Min(free))
		free[k] = max(free[k], at) + each
		done[i] = free[k]
	}
	return done
}

// nap is a request that has helpers do something, and its sleeps until that is done.
type nap struct {
	of    diagnosis.RequestID
	asked diagnosis.Time
	stays []stay
}

// naps returns the naps of requests that sleep; and, if most of an endpoint's requests do, of its others, for which no
// sleep is seen.
func (s *spent) naps(c *diagnosis.Case, work map[timeline.StrandID][]window) (out []nap) {
	sleep, of := map[diagnosis.RequestID]bool{}, map[string]int{}
	for i, k := 0, 0; i < len(s.stays); i = k {
		first := &s.stays[i]
		asked := first.From
		for _, p := range c.Requests[first.Request].Parts {
			if len(work[p.Strand]) > 0 {
				asked = min(asked, p.From)
			}
		}
		for k = i; k < len(s.stays) && s.stays[k].Request == first.Request; k++ {
		}
		if !sleep[first.Request] {
			sleep[first.Request] = true
			of[c.Requests[first.Request].Endpoint]++
		}
		out = append(out, nap{first.Request, asked, s.stays[i:k]})
	}
	all := endpointTimes(c)
	for _, id := range c.Measured() {
		if r := &c.Requests[id]; !sleep[id] && 2*of[r.Endpoint] > all[r.Endpoint].requests && r.FirstRead != recording.NoTime {
			out = append(out, nap{of: id, asked: r.FirstRead})
		}
	}
	return out
}
