package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/peers"
	"github.com/getdwell/dwell/recording"
)

// Duration is that of a recording, in nanoseconds.
type Duration = diagnosis.Duration

// peerCalls are the calls of one process to one peer, in order of start.
type peerCalls struct {
	process recording.ProcessID
	peer    string
	calls   []timeline.CallID
}

// ofPeers finds something for each process and peer, and adds up what it finds for the processes of one peer. There is
// one result for each peer; the busiest pair's comes first.
func ofPeers[T any](c *diagnosis.Case, find func(*diagnosis.Case, peerCalls) T, add func(all *T, more T)) (out []T) {
	index := map[string]int{}
	for _, p := range byPeer(c) {
		if n, ok := index[p.peer]; ok {
			add(&out[n], find(c, p))
			continue
		}
		index[p.peer] = len(out)
		out = append(out, find(c, p))
	}
	return out
}

// byPeer groups the calls by process and peer, the busiest pair first. A call that was never connected asked nothing of
// its peer, and is left out.
func byPeer(c *diagnosis.Case) []peerCalls {
	type key struct {
		process recording.ProcessID
		peer    string
	}
	index := map[key]int{}
	var out []peerCalls
	for i := range c.Calls {
		if c.Calls[i].Failed() {
			continue
		}
		k := key{c.Calls[i].Process, c.Calls[i].Peer}
		n, ok := index[k]
		if !ok {
			n = len(out)
			index[k] = n
			out = append(out, peerCalls{process: k.process, peer: k.peer})
		}
		out[n].calls = append(out[n].calls, timeline.CallID(i))
	}
	for i := range out {
		slices.SortStableFunc(out[i].calls, func(a, b timeline.CallID) int {
			return cmp.Compare(c.Calls[a].Start, c.Calls[b].Start)
		})
	}
	slices.SortStableFunc(out, func(a, b peerCalls) int {
		return cmp.Or(cmp.Compare(len(b.calls), len(a.calls)), cmp.Compare(a.peer, b.peer))
	})
	return out
}

// acrossProcesses puts the calls to one peer together: processes that run the same code each make a part of them, and a
// peer is as slow for all.
func acrossProcesses(c *diagnosis.Case) []peerCalls {
	return ofPeers(c, func(_ *diagnosis.Case, p peerCalls) peerCalls { return p }, func(all *peerCalls, p peerCalls) { all.calls = append(all.calls, p.calls...) })
}

// noCalls says that no call was made, and in how many requests there could have been one.
func noCalls(c *diagnosis.Case) string {
	return "no outgoing call was made in " + diagnosis.Plural(len(c.Overall.Requests), "request")
}

// runtimeOf returns the language runtime of a process.
func runtimeOf(c *diagnosis.Case, id recording.ProcessID) recording.Runtime {
	for i := range c.Processes {
		if c.Processes[i].ID == id {
			return c.Processes[i].Runtime
		}
	}
	return recording.RuntimeNative
}

// servingRuntime is the runtime of the process that served the slowest request.
func servingRuntime(c *diagnosis.Case) recording.Runtime { return servingProcess(c).Runtime }

// servingProcess is the process that served the slowest request; a zero value if there is none.
func servingProcess(c *diagnosis.Case) timeline.Process {
	if n := len(c.Overall.Requests); n > 0 {
		of := c.Requests[c.Overall.Requests[n-1]].Process
		if i := slices.IndexFunc(c.Processes, func(p timeline.Process) bool { return p.ID == of }); i >= 0 {
			return c.Processes[i]
		}
	}
	return timeline.Process{}
}

// sharedWait is what requests waited for a peer on connections that a goroutine reads for all requests that share them,
// as with HTTP/2. It is not known which bytes, and so which calls, belong to which request.
type sharedWait struct {
	peer      string
	addresses []string
	spans     []diagnosis.Span
	conns     map[[2]string]bool // by both ends
}

// sharedWaits lists them, the peer that was waited for longest first. Its callers share it.
func sharedWaits(c *diagnosis.Case) []*sharedWait {
	return c.Once("waits on shared connections", func() any {
		var list []*sharedWait
		of := map[string]*sharedWait{}
		for _, id := range c.With(timeline.CauseRemote) {
			for s := c.Requests[id].Segments(); s.Next(); {
				if s.Phase != timeline.PhaseHandler || c.CallBehind(&s.Segment) != timeline.None {
					continue
				}
				cn := timeline.ConnBehind(c.Timeline, &s.Segment)
				if cn == nil {
					continue
				}
				peer := peers.Name(cn)
				u := of[peer]
				if u == nil {
					u = &sharedWait{peer: peer, conns: map[[2]string]bool{}}
					of[peer], list = u, append(list, u)
				}
				if ends := [2]string{cn.Local, cn.Peer}; !u.conns[ends] {
					u.conns[ends], u.addresses = true, append(u.addresses, cn.Peer)
				}
				u.spans = append(u.spans, diagnosis.Span{Request: id, From: s.From, To: s.To})
			}
		}
		slices.SortStableFunc(list, func(a, b *sharedWait) int { return cmp.Compare(diagnosis.Total(b.spans), diagnosis.Total(a.spans)) })
		return list
	}).([]*sharedWait)
}

func (u *sharedWait) candidate(c *diagnosis.Case) diagnosis.Candidate {
	on := "a shared connection"
	if n := len(u.conns); n > 1 {
		on = diagnosis.Plural(n, "shared connection")
	}
	_, share := perMean(c, diagnosis.Total(u.spans))
	return diagnosis.Candidate{
		Place:    u.peer,
		Title:    "Requests wait " + meanWords(c, u.spans) + " for " + u.peer + " to answer, on " + on + " (which call belongs to which request is not known)",
		Fix:      "the time is spent at " + u.peer + ", or waiting for a turn there: see what these requests ask of it, and how many it serves concurrently",
		Next:     "compare the peer's own log or metrics with the time here: if the peer takes less, requests wait for a turn (HTTP/2: its limit of streams), and more connections or a higher limit would help",
		Lead:     u.peer + " takes " + diagnosis.Percent(share) + " of all request time",
		Peer:     true,
		Seen:     u.spans,
		Evidence: []diagnosis.Evidence{diagnosis.Part("of all request time is spent waiting for it there", share), diagnosis.Count("connections that requests share", len(u.conns))},
	}
}

// hideShared adds that time to what a hypothesis about calls, or about a turn to make one, cannot see into.
func hideShared(c *diagnosis.Case, res *diagnosis.Result) {
	var all []diagnosis.Span
	for _, u := range sharedWaits(c) {
		all = append(all, u.spans...)
	}
	if diagnosis.Total(all) > diagnosis.Total(res.Hidden) {
		res.Hides = "is spent waiting for peers on shared connections, and which call belongs to which request is not known"
	}
	res.Hidden = append(res.Hidden, all...)
}
