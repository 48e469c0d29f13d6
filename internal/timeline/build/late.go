package build

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// keptInSockets accounts for what stayed in a socket, or in line, after it had been written: the
// ends of responses, and the requests of calls. Then it marks what rests on calls whose request
// no fact names.
func keptInSockets(t *timeline.Timeline, f *facts, requests []served, calls []made) {
	addLate(t, f, requests)
	splitRemote(t, f, calls)
	inferOwned(t)
}

// addLate ends requests when the end of their response left the socket, where that was
// kept back after it had been written. What their strands did is known by then: none of
// them has anything to do with it.
func addLate(t *timeline.Timeline, f *facts, requests []served) {
	for i := range requests {
		s, r := &requests[i], &t.Requests[i]
		c := &f.conns[s.conn]
		if len(c.late) == 0 || s.replied.none() || r.Cut || r.Excluded != "" {
			continue
		}
		last := c.chunks[recording.Write][s.replied.last()].end()
		k, found := slices.BinarySearchFunc(c.late, last, lateOrder)
		if !found {
			continue
		}
		left := min(c.late[k].Left, f.end)
		if left <= r.End {
			continue
		}
		r.SetSegments(append(r.SegmentList(), timeline.Segment{From: r.End, To: left, Phase: timeline.PhaseHandler, Cause: timeline.CauseClient, Quality: timeline.Exact, Call: timeline.None, Strand: timeline.None, Blocker: timeline.None}))
		more := r.More()
		more.Held, more.Kept = r.End, timeline.Kept(c.late[k].Window)
		r.End = left
	}
}

// inferOwned marks the segments of calls that no fact assigns to their request: when they were
// is exact, whose they are is inferred.
func inferOwned(t *timeline.Timeline) {
	t.ChangeCalled(func(g *timeline.Segment) {
		if t.Calls[g.Call].Certainty() != timeline.Told {
			g.Quality = timeline.Inferred
		}
	})
}
