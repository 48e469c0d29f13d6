package hypotheses

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/symbol"
	"github.com/getdwell/dwell/recording"
)

// ownSemaphore tells a semaphore that the service's own code takes from the pool of a library that is built on one. For
// the former, the semaphore's count is to be raised, and not a pool's size.
func (s *shortage) ownSemaphore(c *diagnosis.Case) {
	lines := tally{}
	for i := range s.stays {
		w := &s.stays[i]
		if w.wait == timeline.None || !strings.HasSuffix(c.Waits[w.wait].Rule, "-semaphore") {
			continue
		}
		if f, ok := c.SiteOf(c.Waits[w.wait].Stack); ok && symbol.Application(f) {
			lines[symbol.Place(f)] += w.To.Sub(w.From)
		}
	}
	line, _ := lines.most()
	if line == "" || 2*lines[line] < diagnosis.Total(spansOf(s.stays)) {
		return
	}
	s.gate, s.what = line, "the semaphore in "+line
}

// inTurn marks waits of tasks. It is seen that only so many calls are made at once, but not whether a client's pool
// lets no more through, or the service's own code. A client of Node itself sends what waited in its pool. If the
// request's own code does so once a promise is resolved, the limit is not known either.
func (s *shortage) inTurn(c *diagnosis.Case, w *stay, call *timeline.Call) {
	if w.strand == timeline.None || !c.Strands[w.strand].Loop {
		return
	}
	if s.rt != recording.RuntimeNode || call.Why == timeline.WhyTurnTold && !s.session {
		s.turns, s.what = true, "their turn to call "+s.peer
	}
}

// atMost says how many are in use while requests wait.
func (s *shortage) atMost() string {
	switch {
	case s.gate != "":
		return "; never more than " + diagnosis.Plural(s.size, "call") + " to " + s.peer + " at the same time"
	case s.turns:
		return "; never more than " + diagnosis.Plural(s.size, "call") + " at the same time"
	case s.size == 1:
		return ": the only one is in use"
	}
	return ": all " + diagnosis.Thousands(int64(s.size)) + " are in use"
}

// behind is a wait of a task for what the task of another request was doing: it went on in the very stretch of the loop
// in which the other's call was answered.
type behind struct {
	stay
	call timeline.CallID
}

// Bounds of behindTasks.
const (
	fewBehind    = 20
	mostlyBehind = diagnosis.Whole * 4 / 5
)

// taskCalls are calls of one shape that tasks make, for requests or for none.
type taskCalls struct {
	shape  int32
	nobody bool // they belong to no request
}

// behindTasks returns the waits of tasks that nothing else ends, by the calls of others that they end with, for
// endpoints whose waits mostly end so. Such calls are made one after the other. A task waits for one as at a lock, or
// for a result that all share; if the calls belong to no request, it waits as for room in a queue that one task takes
// from.
func behindTasks(c *diagnosis.Case) map[taskCalls][]behind {
	return c.Shared("waits of tasks behind others", func() any { return findBehindTasks(c) }).(map[taskCalls][]behind)
}

// eachUnexplained visits the waits of tasks that nothing else ends, each with the call of another with whose answer it
// ends; None if there is none.
func eachUnexplained(c *diagnosis.Case, visit func(stay, timeline.CallID)) {
	for _, loop := range c.Loops() {
		answers := answeredOn(c, loop)
		for _, s := range stays(c, timeline.CauseUnknown, func(s *timeline.Segment) bool {
			return s.Strand == loop && s.Phase == timeline.PhaseHandler && s.Call == timeline.None && s.To.Sub(s.From) >= milli
		}) {
			visit(s, answers.before(c, &s))
		}
	}
}

func findBehindTasks(c *diagnosis.Case) map[taskCalls][]behind {
	shapes := shapesOf(c)
	type ending struct {
		endpoint string
		calls    taskCalls
	}
	ended, all := map[ending][]behind{}, map[string]Duration{}
	eachUnexplained(c, func(s stay, id timeline.CallID) {
		endpoint := c.Requests[s.Request].Endpoint
		if all[endpoint] += s.To.Sub(s.From); id != timeline.None {
			k := ending{endpoint, taskCalls{shapes.of[id], c.Calls[id].Request == timeline.None}}
			ended[k] = append(ended[k], behind{s, id})
		}
	})
	out := map[taskCalls][]behind{}
	for k, list := range ended {
		var d Duration
		for _, b := range list {
			d += b.To.Sub(b.From)
		}
		if len(list) >= fewBehind && diagnosis.ShareOf(int64(d), int64(all[k.endpoint])) >= mostlyBehind && oneAfterAnother(c, k.calls) && 2*underWay(c, k.calls, list) >= d {
			out[k.calls] = append(out[k.calls], list...)
		}
	}
	return out
}

// answers holds the calls of a loop's requests, by when their answers were read.
type answers struct {
	loop timeline.StrandID
	ids  []timeline.CallID
}

func answeredOn(c *diagnosis.Case, loop timeline.StrandID) *answers {
	a := &answers{loop: loop}
	for i := range c.Calls {
		if k := &c.Calls[i]; k.Strand == loop && (k.Certainty() == timeline.Told || k.Request == timeline.None) && !k.Cut {
			a.ids = append(a.ids, k.ID)
		}
	}
	slices.SortStableFunc(a.ids, func(x, y timeline.CallID) int { return cmp.Compare(c.Calls[x].End, c.Calls[y].End) })
	return a
}

// before returns the call of another request that had been sent when the loop last woke from waiting for its sockets,
// and that was answered between then and the end of a task's wait; None if there is none.
func (a *answers) before(c *diagnosis.Case, s *stay) timeline.CallID {
	since, own := diagnosis.Time(recording.NoTime), c.Strands[a.loop].Poll
	for _, iv := range timeline.Clipped(c.Strands[a.loop].Intervals, s.From, s.To) {
		if iv.State == timeline.StateSleeping && iv.Off != nil && own.Has(iv.Off) && iv.To <= s.To {
			since = iv.To
		}
	}
	if since == recording.NoTime {
		return timeline.None
	}
	i, _ := slices.BinarySearchFunc(a.ids, since, func(id timeline.CallID, at diagnosis.Time) int { return cmp.Compare(c.Calls[id].End, at) })
	for ; i < len(a.ids) && c.Calls[a.ids[i]].End <= s.To; i++ {
		if k := &c.Calls[a.ids[i]]; k.Request != s.Request && k.SendFrom < since {
			return k.ID
		}
	}
	return timeline.None
}

func (w taskCalls) compare(other taskCalls) int { return cmp.Compare(w.shape, other.shape) }

// list returns their ids.
func (w taskCalls) list(c *diagnosis.Case) (ids []timeline.CallID) {
	shapes := shapesOf(c)
	for i := range c.Calls {
		if shapes.of[i] == w.shape && (!w.nobody || c.Calls[i].Request == timeline.None) {
			ids = append(ids, timeline.CallID(i))
		}
	}
	return ids
}

// oneAfterAnother reports whether nearly all of some calls were made while no other was under way.
func oneAfterAnother(c *diagnosis.Case, of taskCalls) bool {
	ids, besides := of.list(c), 0
	slices.SortStableFunc(ids, func(a, b timeline.CallID) int { return cmp.Compare(c.Calls[a].SendFrom, c.Calls[b].SendFrom) })
	var until diagnosis.Time
	for _, id := range ids {
		k := &c.Calls[id]
		if k.SendFrom < until {
			besides++
		}
		until = max(until, k.End)
	}
	return 20*besides <= len(ids)
}

// underWay returns for how much of some waits one of some calls was under way. A task that waits until more has come
// together, or for a timer, goes on with a call's answer, too, but it waits for something else.
func underWay(c *diagnosis.Case, by taskCalls, list []behind) (of Duration) {
	var calls []window
	for _, id := range by.list(c) {
		calls = append(calls, window{c.Calls[id].SendFrom, c.Calls[id].End})
	}
	slices.SortFunc(calls, func(a, b window) int { return cmp.Compare(a.to, b.to) })
	for i := range list {
		of += within(calls, list[i].From, list[i].To)
	}
	return of
}

// behindTask is the candidate for waits for what another request's task does.
func behindTask(c *diagnosis.Case, shape int32, list []behind) diagnosis.Candidate {
	calls, waits := callsOfBehind(list), spansOfBehind(list)
	of := shapesOf(c).list[shape]
	what := "the call " + strings.TrimSpace(of.operation+" to "+of.peer)
	rare := rareShapes(c, []*deed{{call: list[0].call}})
	own := c.Spans(func(r *timeline.Request, s *timeline.Segment) bool {
		return s.Call != timeline.None && s.Cause != timeline.CauseOnCPU && shapesOf(c).of[s.Call] == shape && rare[callers{r.Endpoint, shape}]
	})
	fix := "do not hold an asyncio.Lock, or anything else that lets one task through at a time, over an await: hold it only to store the result, or let several through"
	if len(own) > 0 {
		fix = "refresh ahead of time, in the background, and let requests use the old value until the new one has arrived"
	}
	ids := make([]timeline.CallID, 0, len(calls))
	for id := range calls {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return diagnosis.Candidate{
		Place: "tasks behind " + strings.TrimSpace(of.operation+" to "+of.peer),
		Title: "Requests wait " + meanWords(c, waits) + " for another request: they go on when " + what + " of that request is answered" + calledIn(c, ids) +
			", as if behind a lock that is held over an await, or for a shared result",
		Fix:   fix,
		Next:  "dwell show REC --slowest 3 shows what the other requests do meanwhile",
		Spans: append(waits, own...),
		Evidence: []diagnosis.Evidence{
			diagnosis.Count("waits that end when another request's call is answered", len(list)),
			diagnosis.Count("such calls of other requests", len(calls)),
		},
	}
}

// spansOfBehind returns the waits of tasks.
func spansOfBehind(list []behind) (waits []diagnosis.Span) {
	for i := range list {
		waits = append(waits, list[i].Span)
	}
	return waits
}

// callsOfBehind returns the calls that they end with.
func callsOfBehind(list []behind) map[timeline.CallID]bool {
	calls := map[timeline.CallID]bool{}
	for i := range list {
		calls[list[i].call] = true
	}
	return calls
}

// behindNobodies returns the candidates for waits for what tasks do that serve no request.
func behindNobodies(c *diagnosis.Case) (out []diagnosis.Candidate) {
	tasks := behindTasks(c)
	for _, of := range slices.SortedFunc(maps.Keys(tasks), taskCalls.compare) {
		if of.nobody && oneEach(tasks[of]) {
			out = append(out, behindNobody(c, of, tasks[of]))
		}
	}
	return out
}

// oneEach reports whether each of the calls lets one wait end, as a queue has room for one more then. A result that is
// for all would let all of them end.
func oneEach(list []behind) bool {
	return 4*len(list) <= 5*len(callsOfBehind(list))
}

// behindNobody is the candidate for waits for what a task does that serves no request.
func behindNobody(c *diagnosis.Case, of taskCalls, list []behind) diagnosis.Candidate {
	waits := spansOfBehind(list)
	shape := shapesOf(c).list[of.shape]
	what := strings.TrimSpace(shape.operation + " to " + shape.peer)
	queue := "a full queue"
	if runtimeOf(c, c.Strands[list[0].strand].Process) == recording.RuntimePython {
		queue += " (asyncio.Queue)"
	}
	return diagnosis.Candidate{
		Place: "task that calls " + what,
		Title: "Requests wait " + meanWords(c, waits) + " for a task that serves no request: they go on one by one when its call " + what +
			" is answered, as if for room in " + queue + " that it takes from",
		Fix: "do less work per item, or several items in one call; or run more tasks that take from the queue; a longer queue helps only against short bursts; " +
			"if items may be lost, do not wait for room",
		Next:  "dwell show REC --slowest 3 shows what was under way meanwhile",
		Spans: waits,
		Evidence: []diagnosis.Evidence{
			whose(c, waits).inRequest("mean wait for it per request", "", diagnosis.Total(waits)),
			diagnosis.Count("waits that end when such a call is answered", len(list)),
			diagnosis.Count("such calls; at most one in twenty is made while another is under way", len(of.list(c))),
		},
	}
}

// joinedSleeps returns waits of tasks that last until another request has slept. They go on as the call is answered
// that the other makes once its timer has fired, as when requests for the same are collected meanwhile. Of each wait it
// is the time that it shares with the sleep, for endpoints whose unexplained waits mostly end so.
func joinedSleeps(c *diagnosis.Case) (out []stay) {
	if len(c.With(timeline.CauseSleep)) == 0 {
		return nil
	}
	ended, all, joined := map[string][]stay{}, map[string]Duration{}, map[string]Duration{}
	eachUnexplained(c, func(s stay, id timeline.CallID) {
		endpoint := c.Requests[s.Request].Endpoint
		if all[endpoint] += s.To.Sub(s.From); id == timeline.None {
			return
		}
		if nap := sleptBefore(c, &c.Calls[id]); nap.From < nap.To && nap.From < s.To && s.From < nap.To {
			joined[endpoint] += s.To.Sub(s.From)
			s.From, s.To = max(s.From, nap.From), min(s.To, nap.To)
			ended[endpoint] = append(ended[endpoint], s)
		}
	})
	for _, endpoint := range slices.Sorted(maps.Keys(ended)) {
		if len(ended[endpoint]) >= fewBehind && diagnosis.ShareOf(int64(joined[endpoint]), int64(all[endpoint])) >= mostlyBehind {
			out = append(out, ended[endpoint]...)
		}
	}
	return out
}

// sleptBefore returns the sleep of a call's request right before it made the call.
func sleptBefore(c *diagnosis.Case, k *timeline.Call) (nap diagnosis.Span) {
	if k.Request == timeline.None {
		return nap
	}
	r := &c.Requests[k.Request]
	for s := r.Segments(); s.Next() && s.From < k.SendFrom; {
		switch {
		case s.Cause == timeline.CauseSleep && nap.To == s.From:
			nap.To = s.To
		case s.Cause == timeline.CauseSleep:
			nap = diagnosis.Span{Request: r.ID, From: s.From, To: s.To}
		case s.Call != timeline.None && s.Call != k.ID:
			nap = diagnosis.Span{}
		}
	}
	return nap
}
