package timeline

import (
	"slices"

	"github.com/getdwell/dwell/recording"
)

// Kept is what kept the end of a message in our socket after it had been written.
type Kept int64

// What may have, by the numbers of recording.Late.
const (
	KeptNagle   Kept = iota // until the other end had acknowledged what was sent before
	KeptNoRoom              // there was no room for it at the other end, or under way
	KeptRefused             // this host dropped it on its way out
)

// keptInSockets accounts for what stayed in a socket, or in line, after it had been written: the
// ends of responses, and the requests of calls. Then it marks what rests on calls whose request
// no fact names.
func keptInSockets(t *Timeline, f *facts, requests []served, calls []made) {
	addLate(t, f, requests)
	splitRemote(t, f, calls)
	inferOwned(t)
}

// addLate ends requests when the end of their response left the socket, where that was
// kept back after it had been written. What their strands did is known by then: none of
// them has anything to do with it.
func addLate(t *Timeline, f *facts, requests []served) {
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
		r.SetSegments(append(r.SegmentList(), Segment{From: r.End, To: left, Phase: PhaseHandler, Cause: CauseClient, Quality: Exact, Call: None, Strand: None, Blocker: None}))
		more := r.more()
		more.Held, more.Kept = r.End, Kept(c.late[k].Window)
		r.End = left
	}
}
