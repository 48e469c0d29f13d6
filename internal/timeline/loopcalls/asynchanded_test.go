package loopcalls

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// What is sent while the first request of a connection is parsed belongs to that request, even if the ids of the
// connection were given out in the turn of an earlier answer.
func TestWritesOfTheFirstRequest(t *testing.T) {
	w := asyncWalk{t: &timeline.Timeline{Requests: []timeline.Request{{RequestMore: &timeline.RequestMore{}, Ordinal: 0}, {RequestBy: &timeline.RequestBy{}, RequestMore: &timeline.RequestMore{}, Ordinal: 1}}}, f: &facts.Facts{Conns: []facts.Conn{{At: 35}}}}
	w.ids.times, w.ids.counts = []recording.Time{20, 30, 40}, []int64{20, 30, 50}
	for name, c := range map[string]struct {
		turn          asyncTurn
		exec, trigger int64
		want          bool
	}{
		"its parser, accepted right before": {asyncTurn{of: loops.OfRequest(0), counter: 50, conn: 0}, 49, 48, true},
		"with others":                       {asyncTurn{of: loops.OfRequest(0), counter: 50, conn: 0}, 46, 45, true},
		"given out before it was accepted":  {asyncTurn{of: loops.OfRequest(0), counter: 50}, 31, 30, false},
		"on no connection":                  {asyncTurn{of: loops.OfRequest(0), counter: 50, conn: loops.NoConn}, 49, 48, false},
		"no parser":                         {asyncTurn{of: loops.OfRequest(0), counter: 50, conn: 0}, 49, 47, false},
		"asked for in the turn":             {asyncTurn{of: loops.OfRequest(0), counter: 50}, 52, 51, false},
		"not the first of its connection":   {asyncTurn{of: loops.OfRequest(1), counter: 50, conn: 0}, 49, 48, false},
		"in the turn of an answer":          {asyncTurn{of: loops.OfCall(3), counter: 50, conn: 0}, 49, 48, false},
	} {
		w.turn = c.turn
		if got := w.byParser(&loops.Move{Kind: loops.MoveSend, Exec: c.exec, Trigger: c.trigger}); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
