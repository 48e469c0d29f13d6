package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
)

// waitsBehind returns what requests waited for a loop during long holds.
func waitsBehind(c *diagnosis.Case, loop timeline.StrandID, long []hold) (out []diagnosis.Span) {
	during := func(from, to diagnosis.Time) []hold {
		i, _ := slices.BinarySearchFunc(long, from, func(h hold, t diagnosis.Time) int { return cmp.Compare(h.to, t) })
		k := i
		for k < len(long) && long[k].from < to {
			k++
		}
		return long[i:k]
	}
	some := func(r *timeline.Request) bool {
		return len(long) > 0 && len(during(r.Start, r.End)) > 0
	}
	for _, sp := range c.SpansAmong(some, func(_ *timeline.Request, s *timeline.Segment) bool {
		return waitsFor(s, loop) && len(during(s.From, s.To)) > 0
	}) {
		for _, h := range during(sp.From, sp.To) {
			if from, to := max(sp.From, h.from), min(sp.To, h.to); from < to {
				out = append(out, diagnosis.Span{Request: sp.Request, From: from, To: to})
			}
		}
	}
	return out
}

// unyielding returns those long holds of a loop that are not just a row of short callbacks, and how long it was held at
// most. Some loops look at their sockets between callbacks, as when work is split with setImmediate. Such a loop turns
// to what becomes ready after the rest of one callback, however long it finds nothing there. If that is true of nearly
// all that becomes ready in long stretches, a stretch counts only if something waited in it for long, or if the loop
// slept.
func unyielding(c *diagnosis.Case, loop timeline.StrandID, long []hold) (still []hold, longest Duration) {
	waited := readyIn(c, loop, long)
	seen, soon := 0, 0
	for i := range long {
		h := &long[i]
		if longest = max(longest, h.took()); waited[i] > 0 && !h.asleep() {
			if seen++; waited[i] < h.to.Sub(h.from)/8 {
				soon++
			}
		}
	}
	if seen < fewHolds || 4*soon < 3*seen {
		return long, longest
	}
	longest = 0
	for i, h := range long {
		if h.asleep() {
			waited[i] = h.took()
		}
		if longest = max(longest, waited[i]); waited[i] >= c.LongHold || h.asleep() {
			still = append(still, h)
		}
	}
	return still, longest
}

// fewHolds is for how many long holds it must be known when something became ready. If three quarters of so many are
// turned to within an eighth of the hold, that is not chance.
const fewHolds = 8

// readyIn returns, for each hold, how long what was ready first waited in it.
func readyIn(c *diagnosis.Case, loop timeline.StrandID, long []hold) []Duration {
	waited := make([]Duration, len(long))
	inSocket := func(_ *timeline.Request, s *timeline.Segment) bool {
		return (s.Phase == timeline.PhaseUnread || s.Phase == timeline.PhasePickUp) && waitsFor(s, loop)
	}
	for _, sp := range c.SpansAmong(func(*timeline.Request) bool { return true }, inSocket) {
		i, _ := slices.BinarySearchFunc(long, sp.From, func(h hold, t diagnosis.Time) int { return cmp.Compare(h.to, t) })
		for ; i < len(long) && long[i].from < sp.To; i++ {
			if h := &long[i]; h.to > sp.From {
				waited[i] = max(waited[i], h.to.Sub(max(h.from, sp.From)))
			}
		}
	}
	return waited
}

// rareHolders returns the own work, inside long holds, of requests that hold a loop if few requests of their endpoint
// do. Such a callback is not what the endpoint is for, and near p99 it hides what the others wait behind it. If most
// requests hold the loop, the hold is the request's own work.
func rareHolders(c *diagnosis.Case, long []hold) (out []diagnosis.Span) {
	holders := map[diagnosis.RequestID]bool{}
	of := map[string]int{}
	for _, h := range long {
		if h.by != timeline.None && !holders[h.by] {
			holders[h.by] = true
			of[c.Requests[h.by].Endpoint]++
		}
	}
	if len(of) == 0 {
		return nil
	}
	all := map[string]int{}
	for _, id := range c.Measured() {
		all[c.Requests[id].Endpoint]++
	}
	for _, h := range long {
		if h.by == timeline.None {
			continue
		}
		r := &c.Requests[h.by]
		if diagnosis.ShareOf(int64(of[r.Endpoint]), int64(all[r.Endpoint])) >= rareShare {
			continue
		}
		for s := r.Segments(); s.Next(); {
			if from, to := max(s.From, h.from), min(s.To, h.to); ownCPU(&s.Segment) && from < to {
				out = append(out, diagnosis.Span{Request: h.by, From: from, To: to})
			}
		}
	}
	return out
}

// rareShare is the share of an endpoint's requests below which they are few.
const rareShare = diagnosis.Whole / 4
