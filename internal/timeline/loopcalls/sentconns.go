package loopcalls

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// sentOn holds the calls that a loop sends on one connection, in order.
type sentOn struct {
	calls          []timeline.CallID
	sent, answered int  // how many were sent, and answered
	shared         bool // some call was sent before the one before was answered
}

// sentConns lists the connections on which a loop sends calls, by index in facts.conns.
func sentConns(t *timeline.Timeline, moves []loops.Move) map[int32]*sentOn {
	conns, byID := map[int32]*sentOn{}, map[recording.ConnID]*sentOn{}
	for i := range moves {
		if m := &moves[i]; m.Call != timeline.None && conns[m.Conn] == nil {
			c := &sentOn{}
			conns[m.Conn], byID[t.Calls[m.Call].Conn] = c, c
		}
	}
	for i := range t.Calls {
		if c := byID[t.Calls[i].Conn]; c != nil {
			c.calls = append(c.calls, timeline.CallID(i))
		}
	}
	for _, c := range conns {
		slices.SortFunc(c.calls, func(a, b timeline.CallID) int { return cmp.Compare(t.Calls[a].Ordinal, t.Calls[b].Ordinal) })
		for k := 1; k < len(c.calls) && !c.shared; k++ {
			before, next := &t.Calls[c.calls[k-1]], &t.Calls[c.calls[k]]
			c.shared = before.Excluded == "" && next.Excluded == "" && next.SendFrom < before.End
		}
	}
	return conns
}

// sharedOf returns the connections on which several requests send at once: their client sent a call while another was
// under way.
func sharedOf(conns map[int32]*sentOn) map[int32]bool {
	shared := map[int32]bool{}
	for i, c := range conns {
		if c.shared {
			shared[i] = true
		}
	}
	return shared
}

// answeredAtOnce returns the calls on shared connections that were answered together with others: in such a turn the
// requests of all of them continue.
func answeredAtOnce(t *timeline.Timeline, conns map[int32]*sentOn) map[timeline.CallID]bool {
	atOnce := map[timeline.CallID]bool{}
	for _, c := range conns {
		for k := 1; k < len(c.calls) && c.shared; k++ {
			if a, b := c.calls[k-1], c.calls[k]; t.Calls[a].End == t.Calls[b].End {
				atOnce[a], atOnce[b] = true, true
			}
		}
	}
	return atOnce
}
