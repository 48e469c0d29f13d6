package segments

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/exchange"
)

// A goroutine comes back from a select at 190 as one of connection 5 hands it something. It waited
// for that connection if its next call is on it, and none was under way meanwhile.
func TestWhoIsGivenAConnection(t *testing.T) {
	s := &segmenter{in: Input{Calls: []exchange.Call{{Conn: 3}, {Conn: 5}}}}
	for _, c := range []struct {
		name  string
		calls []span
		want  timeline.CallID
	}{
		{"its next call is on the connection", []span{{from: 250, to: 300, call: 1}}, 1},
		{"on another one", []span{{from: 250, to: 300, call: 0}, {from: 400, to: 500, call: 1}}, timeline.None},
		{"it waited for an answer", []span{{from: 120, to: 185, call: 1}, {from: 250, to: 300, call: 1}}, timeline.None},
		{"it calls nobody", nil, timeline.None},
	} {
		if got := s.gotConnection(timeline.SelectEnd{At: 190, By: timeline.None, Conn: 5}, parked{from: 100, to: 200, calls: c.calls}); got != c.want {
			t.Errorf("%s: call %d, want %d", c.name, got, c.want)
		}
	}
}
