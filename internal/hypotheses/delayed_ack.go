package hypotheses

import (
	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

func delayedACK() diagnosis.Hypothesis {
	return diagnosis.Hypothesis{
		ID:    "delayed-ack",
		Title: "The end of a message waits in our socket for an acknowledgement",
		Doc: "Supported by messages that are written in several pieces, the last of which the kernel keeps back until the other end has acknowledged those before " +
			"(Nagle's algorithm), while the other end delays that acknowledgement, 40 ms as a rule, in the hope of something to send it with. Of answers to clients as of the requests of calls: " +
			"when the last byte left the socket is known once the other end sends something again on the connection. " +
			"Taken out of each request: that time.",
		Needs:    []string{recording.HookIO, recording.HookLate},
		Explains: []string{"slow-peer"},
		Test:     testDelayedACK,
	}
}

func testDelayedACK(c *diagnosis.Case) diagnosis.Result {
	return testKept(c, keptWords{
		part:  "of messages were kept back at their end for an acknowledgement",
		none:  "was kept back at its end for an acknowledgement",
		title: " on average after it was written: it is sent only once the piece before is acknowledged, and the other end delays that",
		fix:   noDelayFix,
		in:    func(k *keptEnd) bool { return k.kept == timeline.KeptNagle },
	})
}

// noDelayFix says how a message leaves at once in a runtime's own words.
func noDelayFix(k *keptEnd, rt recording.Runtime) string {
	if k.peer != "" {
		const both = "write each request at once (one buffer, one write), or set TCP_NODELAY on the connections to "
		return both + k.peer + map[recording.Runtime]string{
			recording.RuntimePython: ": sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)",
			recording.RuntimeNode:   ": socket.setNoDelay(), or cork() and uncork() around the writes",
			recording.RuntimeRuby:   ": socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)",
			recording.RuntimeJVM:    ": Socket.setTcpNoDelay(true), and a BufferedOutputStream that is flushed once",
			recording.RuntimeGo:     " (Go sets it: look for SetNoDelay(false))",
		}[rt]
	}
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
