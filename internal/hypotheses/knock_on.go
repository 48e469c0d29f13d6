package hypotheses

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/queueing"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/symbol"
	"github.com/getdwell/dwell/recording"
)

// knockOn predicts what requests wait less for their event loop once it is spared the set-up of churned connections.
// The arrivals are replayed through the loop with all its work and without that work, and every recorded wait shrinks
// in that proportion.
func knockOn(c *diagnosis.Case, setup []setupSpan) []diagnosis.Span {
	var out []diagnosis.Span
	for _, loop := range c.Loops() {
		out = append(out, loopWaits(c, on(setup, loop), loop)...)
	}
	return out
}

func loopWaits(c *diagnosis.Case, busy []diagnosis.Span, loop timeline.StrandID) []diagnosis.Span {
	ids, work := loopWork(c, busy, loop)
	if len(ids) == 0 {
		return nil
	}
	all, without := make([]queueing.Job, len(ids)), make([]queueing.Job, len(ids))
	for i, id := range ids {
		at := c.Requests[id].Start
		all[i] = queueing.Job{Arrive: at, Service: work.service[i]}
		without[i] = queueing.Job{Arrive: at, Service: work.service[i] - work.setup[i]}
	}
	sums := sumOf(busy)
	was, would := queueing.Waits(all, 1), queueing.Waits(without, 1)
	var out []diagnosis.Span
	for i, id := range ids {
		r := &c.Requests[id]
		if !r.Measured() {
			continue
		}
		gone := diagnosis.ShareOf(int64(was[i]-would[i]), int64(was[i]))
		for s := r.Segments(); s.Next(); {
			if waitsFor(&s.Segment, loop) {
				out = append(out, shrink(diagnosis.Span{Request: id, From: s.From, To: s.To}, gone, &sums)...)
			}
		}
	}
	return out
}

// manyPieces: if a wait holds more pieces, one span of their length, at its beginning, stands for them: waits in an
// overload hold thousands.
const manyPieces = 16

// busySum is what a loop did for set-up, in order of time, with running sums.
type busySum struct {
	spans  []diagnosis.Span
	before []Duration // of each span: the total length of those before it
}

func sumOf(spans []diagnosis.Span) busySum {
	b := busySum{spans, make([]Duration, len(spans)+1)}
	for i, s := range spans {
		b.before[i+1] = b.before[i] + s.To.Sub(s.From)
	}
	return b
}

// in returns the pieces of set-up within a wait.
func (b *busySum) in(w diagnosis.Span) (out []diagnosis.Span) {
	i, n := b.touched(w)
	if n-i > manyPieces {
		return []diagnosis.Span{{Request: w.Request, From: w.From, To: w.From + diagnosis.Time(b.of(w))}}
	}
	for ; i < n; i++ {
		out = append(out, diagnosis.Span{Request: w.Request, From: max(w.From, b.spans[i].From), To: min(w.To, b.spans[i].To)})
	}
	return out
}

// touched returns which pieces a wait touches, by index: from i to before n.
func (b *busySum) touched(w diagnosis.Span) (i, n int) {
	i = sort.Search(len(b.spans), func(k int) bool { return b.spans[k].To > w.From })
	return i, i + sort.Search(len(b.spans)-i, func(k int) bool { return b.spans[i+k].From >= w.To })
}

// of returns how much of a wait such pieces cover.
func (b *busySum) of(w diagnosis.Span) Duration {
	i, n := b.touched(w)
	if i >= n {
		return 0
	}
	return b.before[n] - b.before[i] - max(0, w.From.Sub(b.spans[i].From)) - max(0, b.spans[n-1].To.Sub(w.To))
}

// shrink returns what is taken out of a wait: the share that the replay says is gone, or, if that is more, the time in
// which the loop did other requests' set-up.
func shrink(w diagnosis.Span, gone diagnosis.Share, busy *busySum) []diagnosis.Span {
	out := busy.in(w)
	if d := gone.Of(w.To.Sub(w.From)); d > diagnosis.Total(out) {
		return []diagnosis.Span{{Request: w.Request, From: w.From, To: w.From + diagnosis.Time(d)}}
	}
	return out
}

// waitsFor reports whether a segment is a wait for a loop to turn to what is ready in a socket.
func waitsFor(s *timeline.Segment, loop timeline.StrandID) bool {
	if s.Phase != timeline.PhaseUnread && s.Phase != timeline.PhasePickUp && s.Cause != timeline.CauseEventLoop {
		return false
	}
	switch s.Cause {
	case timeline.CauseEventLoop, timeline.CauseRunnable, timeline.CauseOnCPU:
		return s.Strand == loop || s.Strand == timeline.None
	}
	return false
}

// work is how long requests occupy the loop, and the part for churned set-up.
type work struct{ service, setup []Duration }

// loopWork returns the requests that a loop served, by arrival, and its work for each. All the time it ran or wanted to
// run is divided among them in proportion to what it is known to have run for them.
func loopWork(c *diagnosis.Case, busy []diagnosis.Span, loop timeline.StrandID) (ids []diagnosis.RequestID, w work) {
	for i := range c.Requests {
		if c.Requests[i].Strand == loop {
			ids = append(ids, diagnosis.RequestID(i))
		}
	}
	if len(ids) == 0 {
		return nil, w
	}
	slices.SortStableFunc(ids, func(a, b diagnosis.RequestID) int {
		return cmp.Compare(c.Requests[a].Start, c.Requests[b].Start)
	})
	setup := make([]Duration, len(c.Requests))
	for _, b := range busy {
		setup[b.Request] += b.To.Sub(b.From)
	}
	w = work{make([]Duration, len(ids)), make([]Duration, len(ids))}
	var known Duration
	first, last := c.Requests[ids[0]].FirstRead, c.Requests[ids[0]].End
	for i, id := range ids {
		r := &c.Requests[id]
		first, last = min(first, r.FirstRead), max(last, r.End)
		for s := r.Segments(); s.Next(); {
			if s.Strand == loop && ownCPU(&s.Segment) {
				w.service[i] += s.To.Sub(s.From)
			}
		}
		w.setup[i] = min(setup[id], w.service[i])
		known += w.service[i]
	}
	all := c.Running(loop, first, last) + c.In(loop, timeline.StateRunnable, first, last)
	if known > 0 && all > known {
		more := diagnosis.ShareOf(int64(all-known), int64(known))
		for i := range ids {
			w.service[i] += more.Of(w.service[i])
			w.setup[i] += more.Of(w.setup[i])
		}
	}
	return ids, w
}

// behindInterpreters returns what requests wait less for interpreters that no longer compute beneath some functions,
// given by name. It is found by replay, because the queue at a server with hardly any time to spare shrinks by more
// than its work does. Nothing goes if the replay of an interpreter does not reproduce the recording, or if too few
// samples show what it computes.
func behindInterpreters(c *diagnosis.Case, functions map[string]bool) (out []stay) {
	under := newBeneath(c, func(f recording.Frame) bool { return functions[symbol.Name(f)] })
	for _, k := range contentions(c, timeline.CauseInterpreterLock) {
		s := interpreterOf(c, k)
		if s == nil || len(s.did) < fewSamples || !s.fits() {
			continue
		}
		less := plan{Change: queueing.Change{Less: queueing.One, Of: s.sampled(under.has)}}
		for _, span := range s.spared(less) {
			out = append(out, stay{span, timeline.None, timeline.None})
		}
	}
	return out
}

// interpreterOf returns the interpreter that waits at a lock are for; nil if it has no model.
func interpreterOf(c *diagnosis.Case, k *contention) *station {
	return stationAt(c, kindInterpreter, func(s *station) bool { return s.lock == k.lock }).alone(c, k)
}
