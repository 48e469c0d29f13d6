package report

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Each call opens a connection for a different reason: the state of the connections before it.
func TestWhyConnectionsAreOpened(t *testing.T) {
	const open = recording.NoTime
	tl := &timeline.Timeline{Windows: []timeline.Window{{From: 0, To: 100}}}
	for i, c := range []struct {
		from, to, closed timeline.Time
		by               recording.Closer
	}{
		{0, 10, 20, recording.ClosedByPeer}, // first
		{5, 15, 40, recording.ClosedByUs},   // the other is in use
		{25, 30, 60, recording.ClosedByUs},  // the second is open and unused
		{65, 68, open, 0},                   // all are closed, the latest by us
	} {
		id := recording.ConnID(i)
		tl.Conns = append(tl.Conns, timeline.Conn{ID: id, Side: recording.Outbound, Opened: c.from, Ending: timeline.Ending{Closed: c.closed, By: c.by}})
		tl.Calls = append(tl.Calls, timeline.Call{ID: timeline.CallID(i), Conn: id, New: true, Peer: "db", Start: c.from, End: c.to})
	}
	var got NewConnections
	for _, count := range openings(tl) {
		count(&got)
	}
	if want := (NewConnections{First: 1, Busy: 1, Idle: 1, ClosedByUs: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	tl.Windows = append(tl.Windows, timeline.Window{From: 200, To: 300})
	if got := openings(tl); got != nil {
		t.Errorf("%d are told of though recording rested: what was closed then is not known", len(got))
	}
}
