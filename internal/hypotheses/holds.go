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

// rareHolders returns the own work, inside long holds, of requests that hold a loop
// where few of their endpoint do: such a callback is not what the endpoint is for, and
// hides, near p99, what the others wait behind it. Where most hold the loop, the hold
// is the request's own work.
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

// rareShare is how many requests of an endpoint are still few.
const rareShare = diagnosis.Whole / 4
