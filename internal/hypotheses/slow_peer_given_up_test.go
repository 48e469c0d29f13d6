package hypotheses

import (
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Of four calls one was answered, one is under way as the recording ends, the peer closed the connection of one, and
// one was given up: the service closed its connection.
func TestCallsThatWereGivenUp(t *testing.T) {
	c := &diagnosis.Case{Timeline: &timeline.Timeline{Conns: []timeline.Conn{
		{ID: 1}, {ID: 2, Ending: timeline.Ending{By: recording.ClosedByPeer, Closed: 900}}, {ID: 3, Ending: timeline.Ending{By: recording.ClosedByUs, Closed: 950}},
	}}}
	var g givenUp
	for _, call := range []timeline.Call{
		{Conn: 1, SendFrom: 100, Arrived: 200, End: 210},
		{Conn: 1, SendFrom: 300, End: 1000, Cut: true},
		{Conn: 2, SendFrom: 300, End: 900, Cut: true},
		{Conn: 3, SendFrom: 350, End: 950, Cut: true},
	} {
		g.add(c, &call)
	}
	// Over UDP: one was asked again, one was not, and one was given up after it was asked again.
	var u givenUp
	for _, call := range []timeline.Call{
		{Conn: 1, Protocol: recording.ProtocolUDP, SendFrom: 100, Sent: 100, Again: 140, Arrived: 200, End: 210},
		{Conn: 1, Protocol: recording.ProtocolUDP, SendFrom: 300, Sent: 300, Arrived: 350, End: 360},
		{Conn: 1, Protocol: recording.ProtocolUDP, SendFrom: 400, Sent: 400, Again: 480, End: 560, Cut: true},
	} {
		u.add(c, &call)
	}
	const want = "; 2 of 3 exchanges over UDP were repeated because no answer came, after 60 ns on average; 1 of 3 calls had no answer and were given up after 160 ns on average"
	if got := u.words(3, 1); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	g.of = map[string]Duration{"GET /cache/{}": 600, "GET /users/{}": 50}
	if got := g.named(2); got != ", nearly all of them GET /cache/{}," {
		t.Errorf("named %q", got)
	}
	if g.times != 1 || g.mean() != 600 {
		t.Errorf("%d calls were given up after %d ns, want 1 after 600", g.times, g.mean())
	}
}

// If a pool tests a connection before each use, that takes as long as the statement itself.
func TestAskingWhetherAConnectionWorks(t *testing.T) {
	for _, c := range []struct {
		of   map[string]Duration
		want string
	}{
		{map[string]Duration{"SELECT 1": 50, "SELECT users": 50}, "; 50 % of that time only tests connections (SELECT 1): a pool can test those that were idle, instead of each before its use"},
		{map[string]Duration{"PING": 5, "SELECT users": 95}, ""},
		{map[string]Duration{"SELECT": 90, "SELECT users": 10}, ""},
	} {
		if got := (&answered{operations: c.of}).alive(); got != c.want {
			t.Errorf("%v: %q, want %q", c.of, got, c.want)
		}
	}
}
