package hypotheses

import (
	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/recording"
)

func delayedACK() diagnosis.Hypothesis {
	return diagnosis.Hypothesis{
		ID:    "delayed-ack",
		Title: "The end of answers waits in the socket for an acknowledgement",
		Doc: "Supported by answers that are written in several pieces, the last of which the kernel keeps back until the client has acknowledged those before " +
			"(Nagle's algorithm), while the client delays that acknowledgement, 40 ms as a rule, in the hope of something to send it with. " +
			"Such a request ends when its last byte has left the socket, which is known once the client sends something again on the connection. " +
			"Taken out of each request: that time.",
		Needs: []string{recording.HookIO, recording.HookLate},
		Test:  testDelayedACK,
	}
}

func testDelayedACK(c *diagnosis.Case) diagnosis.Result {
	var spans []diagnosis.Span
	var total, longest Duration
	for _, id := range c.Measured() {
		r := &c.Requests[id]
		if r.Held == recording.NoTime {
			continue
		}
		d := r.End.Sub(r.Held)
		total, longest = total+d, max(longest, d)
		spans = append(spans, diagnosis.Span{Request: r.ID, From: r.Held, To: r.End})
	}
	n, all := len(spans), len(c.Overall.Requests)
	share := diagnosis.ShareOf(int64(n), int64(all))
	ev := []diagnosis.Evidence{
		diagnosis.Part("of the answers were kept back at their end", share),
		diagnosis.NS("mean time that such an end was kept back", total/Duration(max(1, n))),
		diagnosis.NS("longest of them", longest),
	}
	res := diagnosis.Result{Evidence: ev, Lead: "the end of " + diagnosis.Percent(share) + " of the answers was kept back for an acknowledgement"}
	if n == 0 {
		res.Lead = none(c)
		return res
	}
	rt := runtimeOf(c, c.Requests[spans[0].Request].Process)
	res.Candidates = []diagnosis.Candidate{{
		Place: "the service's own sockets",
		Title: "The end of " + diagnosis.Thousands(int64(n)) + " of " + diagnosis.Thousands(int64(all)) + " answers stays in the socket for " +
			diagnosis.Human(total/Duration(n)) + " on average after it was written: it is sent only once the client has acknowledged the piece before, and the client delays that",
		Fix:      noDelayFix(rt),
		Next:     "strace -f -e trace=network,write,writev -p PID shows the writes that one answer is made of",
		Spans:    spans,
		Evidence: ev,
	}}
	return res
}

// noDelayFix says how an answer leaves at once in a runtime's own words.
func noDelayFix(rt recording.Runtime) string {
	const both = "write head and body at once, or set TCP_NODELAY on accepted connections"
	switch rt {
	case recording.RuntimePython:
		return both + ": in http.server and socketserver, wbufsize = -1 or disable_nagle_algorithm = True in the handler's class"
	case recording.RuntimeNode:
		return both + ": http.createServer({ noDelay: true }), socket.setNoDelay()"
	case recording.RuntimeRuby:
		return both + ": socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)"
	case recording.RuntimeJVM:
		return both + ": Socket.setTcpNoDelay(true); -Dsun.net.httpserver.nodelay=true for com.sun.net.httpserver"
	}
	return both
}
