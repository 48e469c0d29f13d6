package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
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

// ofPeers finds something for each process and peer, and adds what it found for a peer to what it had found for that
// peer's other processes: one for each peer, the busiest pair's first.
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

// byPeer groups the calls by process and peer, the busiest pair first. What never was
// connected asked nothing of its peer, and is left out.
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

// acrossProcesses puts the calls to one peer together: of processes that run the same code
// each makes a part of them, and a peer is as slow for all.
func acrossProcesses(c *diagnosis.Case) []peerCalls {
	return ofPeers(c, func(_ *diagnosis.Case, p peerCalls) peerCalls { return p }, func(all *peerCalls, p peerCalls) { all.calls = append(all.calls, p.calls...) })
}

// noCalls says that there was nothing a peer could have to do with, and how many chances
// there were for it.
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
