package hypotheses

import (
	"maps"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

func delayedACK() diagnosis.Hypothesis {
	return diagnosis.Hypothesis{
		ID:    "delayed-ack",
		Title: "The end of a message waits for an acknowledgement (Nagle's algorithm and delayed acknowledgements), in our socket or the peer's",
		Doc: "Nagle's algorithm and delayed acknowledgements wait for each other.\n\n" +
			"Support: messages that are written in several pieces. The kernel keeps the last piece back until the other end has acknowledged those before (Nagle's algorithm), while the other end delays that acknowledgement, as a rule by 40 ms, " +
			"in the hope of something to send it with. This covers answers to clients and the requests of calls. When the last byte left the socket is known once the other end sends something again on the connection. A peer may keep back the " +
			"end of its answers in the same way until our kernel acknowledges their beginning. That is supported if, of the answers that pause while they come, nine in ten pause once, for as long as Linux delays an acknowledgement (38 to 50 " +
			"ms); fewer than 10 such pauses are not counted.\n\n" +
			"Not this: a message that waits because the other end or the network has no room (send-window).\n\n" +
			"Saving: that time is taken out of each request.",
		Needs:    []string{recording.HookIO},
		Explains: []string{"slow-peer"},
		Test:     testDelayedACK,
	}
}

func testDelayedACK(c *diagnosis.Case) diagnosis.Result {
	res := testKept(c, keptWords{
		part:  "of messages had their last part held back until an acknowledgement came",
		none:  "had its last part held back until an acknowledgement came",
		title: ": Nagle's algorithm sends them only when the part before is acknowledged, and the other end delays its acknowledgements",
		fix:   noDelayFix,
		in:    func(k *keptEnd) bool { return k.kept == timeline.KeptNagle },
	})
	if !c.Recorded(recording.HookLate) {
		res = diagnosis.Result{Undecided: "not recorded: " + recording.HookLate}
	}
	pauses := pausesOfAnswers(c)
	for _, peer := range slices.Sorted(maps.Keys(pauses)) {
		if cd := pauses[peer].candidate(c, peer); cd != nil {
			res.Candidates, res.Undecided = append(res.Candidates, *cd), ""
		}
	}
	return res
}

// A kernel delays an acknowledgement for a time within these bounds, in the hope of something to send it with (Linux:
// TCP_DELACK_MIN and a tick or two, include/net/tcp.h).
const leastDelayedACK, mostDelayedACK = 38_000_000, 50_000_000 // ns

// shortestDelayedACK: of many such pauses the lower quartile is at most this, because they are spread over one tick
// from 40 ms on.
const shortestDelayedACK = 43_000_000 // ns

// fewPauses: fewer pauses do not show by their length what they are for.
const fewPauses = 10

// pause is the longest wait of a request for more of an answer that had begun; long is counted from when the beginning
// had come.
type pause struct {
	diagnosis.Span
	n    int // waits for more of it that last at least a tenth of such a delay
	long Duration
}

// answersPaused holds the pauses of a peer's answers, by call.
type answersPaused map[timeline.CallID]*pause

// pausesOfAnswers returns them by peer.
func pausesOfAnswers(c *diagnosis.Case) map[string]answersPaused {
	by := map[string]answersPaused{}
	var s timeline.Segments
	for _, id := range c.With(timeline.CauseRemote) {
		for s = c.Requests[id].Segments(); s.Next(); {
			if !restAwaited(&s.Segment) || s.Call == timeline.None || s.To.Sub(s.From) < leastDelayedACK/10 {
				continue
			}
			k := &c.Calls[s.Call]
			if by[k.Peer] == nil {
				by[k.Peer] = answersPaused{}
			}
			p := by[k.Peer][k.ID]
			if p == nil {
				p = &pause{}
				by[k.Peer][k.ID] = p
			}
			if p.n++; s.To-s.From > p.To-p.From {
				p.Span, p.long = diagnosis.Span{Request: id, From: s.From, To: s.To}, s.To.Sub(k.Arrived)
			}
		}
	}
	return by
}

// candidate says that the peer keeps back the ends of its answers; nil if it does not.
func (a answersPaused) candidate(c *diagnosis.Case, peer string) *diagnosis.Candidate {
	var spans []diagnosis.Span
	var long []Duration
	var total Duration
	for _, p := range a {
		if p.n == 1 && p.long >= leastDelayedACK && p.long <= mostDelayedACK {
			spans, long, total = append(spans, p.Span), append(long, p.long), total+p.long
		}
	}
	n := len(spans)
	slices.Sort(long)
	if n < fewPauses || 10*n < 9*len(a) || diagnosis.Quantile(long, 25) > shortestDelayedACK {
		return nil
	}
	return &diagnosis.Candidate{
		Place: "answers of " + peer,
		Title: "The last part of " + diagnosis.Thousands(int64(n)) + " of " + diagnosis.Thousands(int64(callsTo(c, peer))) + " answers of " + peer + " arrives " + diagnosis.Human(total/Duration(n)) +
			" on average after the first: Nagle's algorithm at the peer sends it only when the first part is acknowledged, and Linux delays acknowledgements by 40 ms",
		Fix:   "have " + peer + " write head and body in one write, or set TCP_NODELAY on the connections that it accepts",
		Next:  "tcpdump of a connection to " + peer + " shows whether the end of an answer follows right after an acknowledgement without data",
		Spans: c.Merged(spans),
		Evidence: []diagnosis.Evidence{
			diagnosis.Part("of its answers that arrive with a pause have one pause, as long as a delayed acknowledgement", diagnosis.ShareOf(int64(n), int64(len(a)))),
			diagnosis.NS("mean pause", total/Duration(n)),
		},
	}
}

// noDelayFix says how to send a message at once, in a runtime's own words.
func noDelayFix(k *keptEnd, rt recording.Runtime) string {
	if k.peer != "" {
		const both = "write each request in one write (one buffer), or set TCP_NODELAY on the connections to "
		return both + k.peer + map[recording.Runtime]string{
			recording.RuntimePython: ": sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)",
			recording.RuntimeNode:   ": socket.setNoDelay(), or cork() and uncork() around the writes",
			recording.RuntimeRuby:   ": socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)",
			recording.RuntimeJVM:    ": Socket.setTcpNoDelay(true), and a BufferedOutputStream that is flushed once",
			recording.RuntimeGo:     " (Go sets it: look for SetNoDelay(false))",
		}[rt]
	}
	const both = "write head and body in one write, or set TCP_NODELAY on accepted connections"
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
