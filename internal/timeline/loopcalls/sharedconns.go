package loopcalls

import (
	"cmp"
	"maps"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// sharedConn are the calls on one connection, in order.
type sharedConn struct {
	calls          []timeline.CallID
	sent, answered int  // how many were
	shared         bool // some were sent before the one before was answered
}

// callsByConn lists the connections on which a loop sends calls, by index in facts.conns and by id.
func callsByConn(t *timeline.Timeline, moves []loops.Move) (conns map[int32]*sharedConn, byID map[recording.ConnID]*sharedConn) {
	conns, byID = map[int32]*sharedConn{}, map[recording.ConnID]*sharedConn{}
	for i := range moves {
		if m := &moves[i]; m.Call != timeline.None && conns[m.Conn] == nil {
			c := &sharedConn{}
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
	return conns, byID
}

// connsShared are the connections of a loop that several requests send on at once, by index in facts.conns.
type connsShared map[int32]*sharedConn

// sharedConns finds those of a loop: whose client sent a call while one was under way.
func sharedConns(t *timeline.Timeline, moves []loops.Move) connsShared {
	conns, _ := callsByConn(t, moves)
	maps.DeleteFunc(conns, func(_ int32, c *sharedConn) bool { return !c.shared })
	return conns
}

// index is which they are.
func (s connsShared) index() map[int32]bool {
	shared := map[int32]bool{}
	for i := range s {
		shared[i] = true
	}
	return shared
}

// answeredAtOnce are the calls that were answered together with others on their connection: in that turn
// the requests of all of them go on.
func (s connsShared) answeredAtOnce(t *timeline.Timeline) map[timeline.CallID]bool {
	atOnce := map[timeline.CallID]bool{}
	for _, c := range s {
		for k := 1; k < len(c.calls); k++ {
			if a, b := c.calls[k-1], c.calls[k]; t.Calls[a].End == t.Calls[b].End {
				atOnce[a], atOnce[b] = true, true
			}
		}
	}
	return atOnce
}
