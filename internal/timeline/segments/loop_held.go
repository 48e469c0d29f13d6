package segments

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// A loop that does not wait for its sockets for this long (heldFor) is held: what became due meanwhile waited for the
// loop. The waits at one place of an endpoint's requests have a usual length under two conditions: there are at least
// enoughSame of them, and nine in ten are shorter than twice the median or very short (soon).
const (
	heldFor    = 10_000_000 // ns
	soon       = 1_000_000  // ns
	enoughSame = 8
	mostSame   = 1000 // that are looked at
)

// waitKind is a kind of wait that no fact explains: its endpoint, and its place in the request.
type waitKind struct {
	endpoint string
	place
}

// place is the position of a gap in a request: after how many turns that continued with a call, and how many other gaps
// since then.
type place struct{ resumed, nth int }

// mostResumed bounds the number of such turns after which a missing gap is counted as a wait of zero.
const mostResumed = 16

// heldLoops tells when loops are held, and how long unexplained waits of their requests take while the loop is free.
type heldLoops struct {
	held  map[timeline.StrandID][]heldSpan
	usual map[waitKind]usualWait
}

// heldSpan is a span in which a loop did not wait for its sockets.
type heldSpan struct{ from, to recording.Time }

// usualWait is how long a kind of wait takes while the loop is free.
type usualWait struct {
	took  recording.Duration
	timer bool // most of them end with a timer
	sleep bool // at least three in four do: then so do waits of similar length that end in a turn with more work to do
}

// findHeld finds when loops are held, and what their requests wait for otherwise.
func (s *segmenter) findHeld() *heldLoops {
	h := &heldLoops{held: map[timeline.StrandID][]heldSpan{}, usual: map[waitKind]usualWait{}}
	for i := range s.t.Strands {
		if id := timeline.StrandID(i); s.t.Strands[i].Loop {
			if list := heldSpans(s.t, id); len(list) > 0 {
				h.held[id] = list
			}
		}
	}
	if len(h.held) == 0 && !slices.ContainsFunc(s.turns.All, func(u loops.Turn) bool { return u.Timer }) {
		return h
	}
	took, timers := map[waitKind][]recording.Duration{}, map[waitKind]int{}
	for i := range s.t.Requests {
		r := &s.t.Requests[i]
		if r.Strand == timeline.None || !s.t.Strands[r.Strand].Loop {
			continue
		}
		var gaps uint32 // bit n: there is a gap after n turns that continued with a call
		last := s.eachTurn(r, func(u *loops.Turn, g gap, _ stretch) {
			k := waitKind{r.Endpoint, g.place}
			if g.tail >= g.to || !s.unseen(r, u, g) {
				return
			}
			gaps |= 1 << min(g.resumed, 31)
			if len(took[k]) < mostSame && len(h.in(r.Strand, g)) == 0 {
				took[k] = append(took[k], g.to.Sub(g.tail))
				if u.Timer {
					timers[k]++
				}
			}
		})
		for n := range min(last.resumed, mostResumed) + 1 { // if it continued at once, it need not wait at all
			if k := (waitKind{r.Endpoint, place{n, 0}}); gaps>>n&1 == 0 && len(took[k]) < mostSame {
				took[k] = append(took[k], 0)
			}
		}
	}
	for k, list := range took {
		slices.Sort(list)
		if median := list[len(list)/2]; len(list) >= enoughSame && list[len(list)*9/10] <= max(2*median, soon) {
			h.usual[k] = usualWait{median, 2*timers[k] > len(list), 4*timers[k] >= 3*len(list)}
		}
	}
	return h
}

// sleeps reports whether an unexplained gap is a sleep: it is about as long as the gaps at its place in the requests of
// its endpoint, and those end with a timer.
func (s *segmenter) sleeps(r *timeline.Request, u *loops.Turn, g gap) bool {
	usual := s.held.usual[waitKind{r.Endpoint, g.place}]
	took := g.to.Sub(g.tail)
	return usual.sleep && begunUnseen(s, u, g) && 2*took >= usual.took && took <= 2*usual.took
}

// heldSpans returns when a loop is held, in order.
func heldSpans(t *timeline.Timeline, loop timeline.StrandID) (out []heldSpan) {
	own, since, seen := t.Strands[loop].Poll, recording.Time(-1), recording.Time(-1)
	for _, iv := range t.Strands[loop].Intervals {
		if iv.State == timeline.StateUnknown || iv.From != seen { // as between windows: nothing is known
			since = -1
		}
		seen = iv.To
		if own.Waits(iv) {
			if since >= 0 && iv.From.Sub(since) >= heldFor {
				out = append(out, heldSpan{since, iv.From})
			}
			since = iv.To
		}
	}
	return out
}

// in returns the parts of a gap in which its loop was held.
func (h *heldLoops) in(loop timeline.StrandID, g gap) (out []heldSpan) {
	list := h.held[loop]
	i, _ := slices.BinarySearchFunc(list, g.tail+1, func(x heldSpan, at recording.Time) int { return int(x.to.Sub(at)) })
	for ; i < len(list) && list[i].from < g.to; i++ {
		if from, to := max(list[i].from, g.tail), min(list[i].to, g.to); from < to {
			out = append(out, heldSpan{from, to})
		}
	}
	return out
}

// unseen reports whether no fact shows what the request waited for in a gap.
func (s *segmenter) unseen(r *timeline.Request, u *loops.Turn, g gap) bool {
	if !begunUnseen(s, u, g) || s.givenUp(r, u, g.from) != timeline.None {
		return false
	}
	return len(s.in.Parts) == 0 || !slices.ContainsFunc(s.in.Parts[r.ID], func(p timeline.Handover) bool {
		return p.Strand != r.Strand && p.From < g.to && g.tail < p.To
	})
}

// begunUnseen reports whether nothing is known to have begun a turn, or the turn begins by making a call.
func begunUnseen(s *segmenter, u *loops.Turn, g gap) bool {
	if u.Call != timeline.None {
		return s.in.Calls[u.Call].Bounds[0] >= g.to
	}
	return u.How == loops.ResumeUnseen
}

// heldUp tiles an unexplained gap during which its loop was held. The request waited for the loop for as long as the
// gap exceeds the usual length of such waits while the loop is free. If a timer woke the loop at the end of the gap,
// the loop was late before that timer was set; otherwise after the timer fired.
func (s *segmenter) heldUp(r *timeline.Request, u *loops.Turn, g gap, p *painter) bool {
	usual, ok := s.held.usual[waitKind{r.Endpoint, g.place}]
	if !ok || !begunUnseen(s, u, g) {
		return false
	}
	spans := s.held.in(r.Strand, g)
	var held recording.Duration
	for _, x := range spans {
		held += x.to.Sub(x.from)
	}
	behind := min(held, g.to.Sub(g.tail)-usual.took)
	if behind <= 0 {
		return false
	}
	before := held - behind
	rest := timeline.Segment{Phase: timeline.PhaseHandler, Cause: timeline.CauseUnknown, Quality: timeline.Inferred, Call: timeline.None, Strand: r.Strand, Blocker: timeline.None}
	if u.Timer || usual.timer {
		rest.Cause = timeline.CauseSleep
	}
	other := func(from, to recording.Time) {
		rest.From, rest.To = from, to
		p.add(rest)
	}
	at := g.tail
	for _, x := range spans {
		other(at, x.from)
		at = x.from
		if !u.Timer {
			at += recording.Time(min(before, x.to.Sub(x.from)))
			before -= at.Sub(x.from)
			other(x.from, at)
		}
		end := min(x.to, at+recording.Time(behind))
		behind -= end.Sub(at)
		s.waitFor(wait{r, r.Strand, at, end, timeline.PhaseHandler, timeline.None}, timeline.Inferred, p)
		at = end
	}
	other(at, g.to)
	return true
}
