package hypotheses

import (
	"fmt"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Calls over HTTP/2 are not seen. If each has its own connection, it stays undecided whether connections are opened
// needlessly. One connection that is kept, or a few that are closed, say nothing.
func TestConnectionsOfHTTP2LeaveItOpen(t *testing.T) {
	for _, x := range []struct {
		conns  int
		closed recording.Time
		want   string
	}{
		{40, 900, "40 HTTP/2 connections to 10.0.0.2:443 were opened and closed again"},
		{40, recording.NoTime, ""},
		{3, 900, ""},
	} {
		tl := &timeline.Timeline{}
		for i := range x.conns {
			tl.Conns = append(tl.Conns, timeline.Conn{ID: recording.ConnID(i + 1), Side: recording.Outbound, Protocol: recording.ProtocolHTTP2,
				Peer: "10.0.0.2:443", Opened: 100, Ending: timeline.Ending{Closed: x.closed}})
		}
		got := multiplexed(&diagnosis.Case{Timeline: tl})
		if !strings.HasPrefix(got, x.want) || x.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", fmt.Sprint(x.conns, " closed at ", x.closed), got, x.want)
		}
	}
}
