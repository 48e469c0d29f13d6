package segments

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// splitRemote removes from the time that calls spent at their peers what was not the peer's. Until the last byte of the
// request has left our socket, the request is still being sent. While the peer owes earlier answers to others on the
// same connection, the call waits in their queue. Both are known only once the calls have their requests, and do not
// change any earlier bound.
func splitRemote(t *timeline.Timeline, f *facts.Facts, calls []exchange.Call) {
	for i := range t.Calls {
		if c := &t.Calls[i]; c.End > c.Sent {
			leaveLate(c, &f.Conns[calls[i].Conn], &calls[i])
		}
	}
	least := leastRemote(t.Calls)
	for from := 0; from < len(calls); {
		to := from + 1
		for to < len(calls) && calls[to].Conn == calls[from].Conn {
			to++
		}
		for k := from + 1; k < to; k++ {
			standBehind(t, t.Calls[from:k], &t.Calls[k], least[t.Calls[k].Address])
		}
		from = to
	}
	shared := false
	for i := range t.Calls {
		c := &t.Calls[i]
		shareRemote(c)
		shared = shared || c.Left != recording.NoTime || c.Turn != recording.NoTime
	}
	for i := range t.Requests {
		if shared {
			splitSegments(t, &t.Requests[i])
		}
	}
}

// leaveLate notes when the end of a call's request left the socket, if the socket held it back.
func leaveLate(c *timeline.Call, conn *facts.Conn, m *exchange.Call) {
	if len(conn.Late) == 0 || m.Exchange.Asked.None() {
		return
	}
	last := conn.Chunks[recording.Write][m.Exchange.Asked.Last()].End()
	k, found := slices.BinarySearchFunc(conn.Late, last, lateOrder)
	if !found {
		return
	}
	if left := min(conn.Late[k].Left, answerAt(c)); left > c.Sent {
		c.Left, c.Kept = left, timeline.Kept(conn.Late[k].Window)
	}
}

// lateOrder compares a late departure with a position among the bytes written.
func lateOrder(l *recording.Late, at int64) int { return int(min(1, max(-1, l.Offset-at))) }

// answerAt returns when the first byte of the answer arrived; the call's end if that was not seen.
func answerAt(c *timeline.Call) recording.Time {
	if c.Arrived == recording.NoTime {
		return c.End
	}
	return min(max(c.Arrived, c.Sent), c.End)
}

// leastRemote returns the shortest time in which each address answered: the round trip and the least work.
func leastRemote(calls []timeline.Call) map[string]recording.Duration {
	least := map[string]recording.Duration{}
	for i := range calls {
		c := &calls[i]
		if c.Cut || c.Excluded != "" || c.Arrived == recording.NoTime {
			continue
		}
		d := answerAt(c).Sub(c.Sent)
		if was, known := least[c.Address]; !known || d < was {
			least[c.Address] = d
		}
	}
	return least
}

// manyAhead bounds how many earlier calls on the connection are looked at.
const manyAhead = 256

// standBehind notes which earlier call of another owner on its connection a call waited behind: peers answer in order.
// An unknown owner counts as another one if its call was made before this call's request began. The shortest time in
// which the peer answers any call counts as the call's own, for example if several calls are under way over a long
// distance and are answered together.
func standBehind(t *timeline.Timeline, ahead []timeline.Call, c *timeline.Call, own recording.Duration) {
	if c.Request == timeline.None || c.Excluded != "" || c.Protocol == recording.ProtocolUDP { // datagrams are answered in any order
		return
	}
	began, turn, longest := t.Requests[c.Request].Start, recording.NoTime, recording.Duration(0)
	end := answerAt(c)
	for k := len(ahead) - 1; k >= max(0, len(ahead)-manyAhead); k-- {
		a := &ahead[k]
		over := min(answerAt(a), end)
		if over <= c.Sent {
			break
		}
		if a.Request == c.Request || a.Request == timeline.None && a.SendFrom >= began {
			continue
		}
		since := c.Sent
		if k > 0 {
			since = max(since, answerAt(&ahead[k-1]))
		}
		turn = max(turn, over)
		if d := max(0, over.Sub(since)); d > longest || c.Behind == timeline.None { // answers that arrive together take no time of their own
			longest, c.Behind = d, a.ID
		}
	}
	if turn = min(turn, end-recording.Time(own)); turn != recording.NoTime && turn.Sub(c.Sent) > timeline.WakeLatency {
		c.Turn = turn
		return
	}
	c.Behind = timeline.None
}

// shareRemote moves the part of a call's remote time that is not the peer's to the phases where it belongs.
func shareRemote(c *timeline.Call) {
	sent, queued := c.Sent, recording.Duration(0)
	if c.Left != recording.NoTime {
		d := min(c.Left.Sub(c.Sent), c.Phases[timeline.PhaseRemote])
		c.Phases[timeline.PhaseSend] += d
		c.Phases[timeline.PhaseRemote] -= d
		sent = c.Left
	}
	if c.Turn != recording.NoTime {
		queued = min(max(0, c.Turn.Sub(sent)), c.Phases[timeline.PhaseRemote])
		c.Phases[timeline.PhaseQueue] += queued
		c.Phases[timeline.PhaseRemote] -= queued
	}
}

// splitSegments applies the phases of shareRemote to the pieces of a request's waits for peers.
func splitSegments(t *timeline.Timeline, r *timeline.Request) {
	splits := func(g *timeline.Segment) bool {
		if g.Phase != timeline.PhaseRemote || g.Call == timeline.None {
			return false
		}
		c := &t.Calls[g.Call]
		return c.Left > g.From || c.Turn > g.From
	}
	any := false
	for s := r.Segments(); !any && s.Next(); {
		any = splits(&s.Segment)
	}
	if !any {
		return
	}
	p := painter{cursor: r.Start, end: r.End}
	for s := r.Segments(); s.Next(); {
		g := s.Segment
		if splits(&g) {
			c, to := &t.Calls[g.Call], g.To
			if c.Left > g.From {
				g.Phase, g.To = timeline.PhaseSend, min(c.Left, to)
				p.add(g)
				g.From = g.To
			}
			if c.Turn > g.From {
				g.Phase, g.Cause, g.Quality, g.To = timeline.PhaseQueue, timeline.CausePool, timeline.Inferred, min(c.Turn, to)
				if b := t.Calls[c.Behind].Request; b != r.ID {
					g.Blocker = b
				}
				p.add(g)
				g.From = g.To
			}
			g.Phase, g.Cause, g.Quality, g.Blocker, g.To = timeline.PhaseRemote, timeline.CauseRemote, timeline.Exact, timeline.None, to
		}
		p.add(g)
	}
	r.SetSegments(p.list)
}
