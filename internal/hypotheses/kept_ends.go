package hypotheses

import (
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// message is an answer to a client, or a call's request.
type message struct {
	request diagnosis.RequestID
	call    timeline.CallID // None: an answer
}

// keptEnd is a wait for the end of a message to leave our socket.
type keptEnd struct {
	diagnosis.Span
	call timeline.CallID // None: of an answer to a client
	peer string          // of the call
	kept timeline.Kept
}

// keptEnds lists the ends of measured requests' answers, and of their calls' requests, that
// stayed in the socket.
func keptEnds(c *diagnosis.Case) (out []keptEnd) {
	for _, id := range c.Measured() {
		r := &c.Requests[id]
		for g := r.Segments(); r.HasPhase(timeline.PhaseSend) && g.Next(); {
			if g.Phase != timeline.PhaseSend || g.Call == timeline.None || g.Cause != timeline.CauseRemote {
				continue
			}
			switch k := &c.Calls[g.Call]; {
			case g.From < k.Sent: // it slept in a write, or between two: the socket was full
				out = append(out, keptEnd{diagnosis.Span{Request: id, From: g.From, To: min(g.To, k.Sent)}, g.Call, k.Peer, timeline.KeptNoRoom})
			case k.Left > g.From:
				out = append(out, keptEnd{diagnosis.Span{Request: id, From: g.From, To: g.To}, g.Call, k.Peer, k.Kept})
			}
		}
		if r.Held != recording.NoTime {
			out = append(out, keptEnd{diagnosis.Span{Request: id, From: r.Held, To: r.End}, timeline.None, "", r.Kept})
		}
	}
	return out
}

// keptWords holds what a hypothesis about ends of messages that are kept back says of them.
type keptWords struct {
	part  string // follows a share of messages
	none  string // follows "none of 12 messages"
	title string // follows how long they stayed in the socket
	fix   func(*keptEnd, recording.Runtime) string
	in    func(*keptEnd) bool
	more  bool // what comes after the end has left would be saved, too
}

// testKept makes a candidate for the answers, and one for the calls to each peer.
func testKept(c *diagnosis.Case, w keptWords) diagnosis.Result {
	ends := map[string][]keptEnd{}
	var order []string
	list := slices.DeleteFunc(keptEnds(c), func(k keptEnd) bool { return !w.in(&k) })
	for _, k := range list {
		if ends[k.peer] == nil {
			order = append(order, k.peer)
		}
		ends[k.peer] = append(ends[k.peer], k)
	}
	n, total, longest := ofMessages(list)
	messages := len(c.Overall.Requests)
	for i := range c.Calls {
		if c.Calls[i].Request != timeline.None {
			messages++
		}
	}
	share := diagnosis.ShareOf(int64(n), int64(messages))
	res := diagnosis.Result{Lead: diagnosis.Percent(share) + " " + w.part, Evidence: []diagnosis.Evidence{
		diagnosis.Part(w.part, share),
		diagnosis.NS("mean time that it was held back", total/Duration(max(1, n))),
		diagnosis.NS("longest such time", longest),
	}}
	if n == 0 {
		res.Lead = "none of " + diagnosis.Plural(messages, "message") + " " + w.none
		return res
	}
	for _, peer := range order {
		res.Candidates = append(res.Candidates, w.candidate(c, ends[peer]))
	}
	return res
}

// ofMessages counts the messages that some waits belong to (one may wait more than once), and sums up their waits.
func ofMessages(list []keptEnd) (n int, total, longest Duration) {
	of := map[message]Duration{}
	for i := range list {
		k := &list[i]
		m, d := message{k.Request, k.call}, k.To.Sub(k.From)
		of[m] += d
		total, longest = total+d, max(longest, of[m])
	}
	return len(of), total, longest
}

// callsTo counts the calls of requests to a peer.
func callsTo(c *diagnosis.Case, peer string) (n int) {
	for i := range c.Calls {
		if k := &c.Calls[i]; k.Peer == peer && k.Request != timeline.None {
			n++
		}
	}
	return n
}

func (w *keptWords) candidate(c *diagnosis.Case, list []keptEnd) diagnosis.Candidate {
	first, all, what, place := &list[0], len(c.Overall.Requests), "answers", "the service's own sockets"
	if first.peer != "" {
		what, place, all = "requests to "+first.peer, "calls to "+first.peer, callsTo(c, first.peer)
	}
	spans := make([]diagnosis.Span, len(list))
	for i := range list {
		spans[i] = list[i].Span
	}
	n, total, longest := ofMessages(list)
	return diagnosis.Candidate{
		Place: place,
		Title: "The last bytes of " + diagnosis.Thousands(int64(n)) + " of " + diagnosis.Thousands(int64(all)) + " " + what + " wait " + diagnosis.Human(total/Duration(n)) + " on average in our send buffer" + w.title,
		Fix:   w.fix(first, runtimeOf(c, c.Requests[first.Request].Process)),
		Next:  "strace -f -e trace=network,write,writev -p PID shows the writes that make up one message",
		Spans: spans, AtLeast: w.more,
		Evidence: []diagnosis.Evidence{
			diagnosis.Part("of "+what+" had their last part held back", diagnosis.ShareOf(int64(n), int64(all))),
			diagnosis.NS("mean time that it was held back", total/Duration(n)),
			diagnosis.NS("longest such time", longest),
		},
	}
}
