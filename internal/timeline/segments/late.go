package segments

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// KeptInSockets accounts for what stayed in a socket, or in a queue, after it had been written: the ends of responses,
// and the requests of calls. Then it marks the segments that rest on calls whose request no fact names.
func KeptInSockets(t *timeline.Timeline, f *facts.Facts, requests []exchange.Request, calls []exchange.Call) {
	addLate(t, f, requests)
	splitRemote(t, f, calls)
	inferOwned(t)
}

// addLate moves the end of a request to when the end of its response left the socket, if the socket held that back. By
// then the strands' activity has been accounted for; it has nothing to do with this delay.
func addLate(t *timeline.Timeline, f *facts.Facts, requests []exchange.Request) {
	for i := range requests {
		s, r := &requests[i], &t.Requests[i]
		c := &f.Conns[s.Conn]
		if len(c.Late) == 0 || s.Replied.None() || r.Cut || r.Excluded != "" {
			continue
		}
		last := c.Chunks[recording.Write][s.Replied.Last()].End()
		k, found := slices.BinarySearchFunc(c.Late, last, lateOrder)
		if !found {
			continue
		}
		left := min(c.Late[k].Left, f.End)
		if left <= r.End {
			continue
		}
		r.SetSegments(append(r.SegmentList(), timeline.Segment{From: r.End, To: left, Phase: timeline.PhaseHandler, Cause: timeline.CauseClient, Quality: timeline.Exact, Call: timeline.None, Strand: timeline.None, Blocker: timeline.None}))
		more := r.More()
		more.Held, more.Kept = r.End, timeline.Kept(c.Late[k].Window)
		r.End = left
	}
}

// inferOwned marks the segments of calls that no fact assigns to their request. Their times are exact, but their owner
// is inferred.
func inferOwned(t *timeline.Timeline) {
	t.ChangeCalled(func(g *timeline.Segment) {
		if t.Calls[g.Call].Certainty() != timeline.Told {
			g.Quality = timeline.Inferred
		}
	})
}
