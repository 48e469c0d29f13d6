package loopcalls

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/loops"
)

// The turn of request 1 runs, which was read when ids up to 40 had been given out; ids 11 to 20 were given out for
// request 0.
func TestWhoSendsAMessage(t *testing.T) {
	for name, c := range map[string]struct {
		exec, trigger int64
		want          loops.Owner
	}{
		"what the turn asked for":          {45, 42, loops.OfRequest(1)},
		"what was asked for before":        {15, 12, loops.OfRequest(0)},
		"a promise without an id":          {0, 0, loops.OfRequest(1)},
		"who is known by the trigger only": {25, 15, loops.OfRequest(0)},
		"the handle of the connection":     {45, 4, loops.OfRequest(1)},
	} {
		w := afterAnswers()
		w.named, w.ids = nil, asyncIDs{}
		w.ids.give(10, giver{loops.Nobody, [2]loops.Owner{loops.Nobody, loops.Nobody}}, 1)
		w.ids.give(20, giver{loops.OfRequest(0), [2]loops.Owner{loops.Nobody, loops.Nobody}}, 2)
		w.ids.give(40, giver{loops.Nobody, [2]loops.Owner{loops.Nobody, loops.Nobody}}, 3)
		w.turn = asyncTurn{of: loops.OfRequest(1), counter: 40, conn: 0}
		w.conns[0].handle, w.conns[0].hasHandle = 4, true
		if c.exec == 25 {
			w.turn = asyncTurn{of: loops.Nobody, conn: loops.NoConn}
		}
		if got := w.sender(&loops.Move{Kind: loops.MovePost, At: 50, Exec: c.exec, Trigger: c.trigger, Request: timeline.None, Call: timeline.None, Conn: loops.NoConn}); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
