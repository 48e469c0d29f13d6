package loopcalls

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/loops"
)

// connsShared are the connections of a loop that several requests send on at once, by index in facts.conns.
type connsShared map[int32]*sharedConn

// sharedConns finds those of a loop.
func sharedConns(t *timeline.Timeline, moves []loops.Move) connsShared {
	conns, _ := callsByConn(t, moves)
	anyShared(t, conns)
	shared := connsShared{}
	for i, c := range conns {
		if c.shared {
			shared[i] = c
		}
	}
	return shared
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
