package report

import (
	"fmt"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

func seen(tl *timeline.Timeline) Seen {
	s := Seen{Calls: len(tl.Calls)}
	for i := range tl.Processes {
		p := &tl.Processes[i]
		s.Processes = append(s.Processes, fmt.Sprintf("%s (pid %d)", p.Comm, p.PID))
	}
	var in [recording.ProtocolOther + 1]int
	for i := range tl.Conns {
		c := &tl.Conns[i]
		if c.Side == recording.Outbound {
			s.Outbound++
		} else {
			in[c.Protocol]++
		}
	}
	names := [...]string{"on which nothing was recognised", "HTTP/1.1", "HTTP/2", "TLS", "of another protocol"}
	for p, n := range in {
		if n > 0 {
			s.Protocols = append(s.Protocols, plural(n, "connection")+" "+names[p])
		}
	}
	for _, m := range tl.Missing {
		s.Missing = append(s.Missing, m.What+": "+m.Why+times(m.Count))
	}
	for i := range tl.Calls {
		if tl.Calls[i].Request == timeline.None {
			s.NoRequest++
		}
	}
	return s
}

func times(n int64) string {
	if n <= 1 {
		return ""
	}
	return fmt.Sprintf(" (%s times)", thousands(n))
}
