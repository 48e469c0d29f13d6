package segments

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/exchange"
)

// A goroutine returns from a select at 190 because one of connection 5 hands it something. It waited for that
// connection if its next call is on it, and no call was under way meanwhile.
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

// It also waited for it if the goroutine that lets it continue had just made a call on that connection, for example if
// a semaphore limits how many may use connections.
func TestWhoIsGivenTheTurnToUseAConnection(t *testing.T) {
	const own, other timeline.CallID = 0, 1
	for _, c := range []struct {
		name  string
		conn  int           // of the other goroutine's call
		ended timeline.Time // of that call
		own   span
		want  timeline.CallID
	}{
		{"the same connection, right before", 5, 2_900_000, span{from: 3_100_000, to: 4_000_000, call: own}, own},
		{"another connection", 3, 2_900_000, span{from: 3_100_000, to: 4_000_000, call: own}, timeline.None},
		{"long before", 5, 1_000_000, span{from: 3_100_000, to: 4_000_000, call: own}, timeline.None},
		{"still under way", 5, 3_500_000, span{from: 3_600_000, to: 4_000_000, call: own}, timeline.None},
		{"its own call was under way", 5, 2_900_000, span{from: 2_500_000, to: 4_000_000, call: own}, timeline.None},
	} {
		tl := &timeline.Timeline{Calls: []timeline.Call{{ID: own, Start: c.own.from, End: c.own.to}, {ID: other, Start: 500_000, End: c.ended}}}
		tl.Goroutines.Calls = map[timeline.StrandID][]timeline.CallID{7: {other}}
		s := &segmenter{t: tl, in: Input{Calls: []exchange.Call{{Conn: 5}, {Conn: c.conn}}}}
		end := timeline.SelectEnd{At: 3_000_000, By: 7, Conn: timeline.None}
		if got := s.gotConnection(end, parked{from: 1_500_000, to: 3_050_000, calls: []span{c.own}}); got != c.want {
			t.Errorf("%s: call %d, want %d", c.name, got, c.want)
		}
	}
}
