// Package gocalls knows the goroutines of Go programs, as far as what they did is not to be seen on threads:
// Associate decides to which requests their calls belong, by who wrote them, who handed them to a
// pooled connection, who started whom and who gave whom a task. AddStrands lists the goroutines before,
// Queue finds afterwards when calls waited for a full pool, and Lives keeps what questions to the
// Timeline need. A call of Go that is given to a wrong request is mended here.
package gocalls

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// AddStrands adds a Strand for each goroutine that served a request or wrote a
// call, and moves those requests and calls to it.
func AddStrands(t *timeline.Timeline, f *facts.Facts, requests []exchange.Request, calls []exchange.Call) {
	index := facts.GoroutineIndex{}
	for i := range t.Requests {
		r, x := &t.Requests[i], &requests[i]
		c := &f.Conns[requests[i].Conn]
		g := recording.NoGoroutine
		if !x.Replied.None() {
			g = c.Chunks[recording.Write][x.Replied.First].Goroutine
		}
		if g == recording.NoGoroutine && !x.Asked.None() {
			g = c.Chunks[recording.Read][x.Asked.Last()].Goroutine
		}
		if g != recording.NoGoroutine {
			r.Strand = index.Add(t, timeline.GoroutineKey{Process: r.Process, Goroutine: g})
		}
	}
	for i := range t.Calls {
		x := &calls[i].Exchange
		if x.Asked.None() {
			continue
		}
		if g := f.Conns[calls[i].Conn].Chunks[recording.Write][x.Asked.First].Goroutine; g != recording.NoGoroutine {
			t.Calls[i].Strand = index.Add(t, timeline.GoroutineKey{Process: t.Calls[i].Process, Goroutine: g})
		}
	}
}

// goDialled bounds the time between a connection's being up and its first request: a
// dial that its request did not wait for leaves an idle connection for anyone.
const goDialled recording.Duration = 1_000_000

// Associate gives the calls of Go programs to their requests, and notes what goroutines did
// for requests that others had read.
func Associate(t *timeline.Timeline, f *facts.Facts, calls []exchange.Call, o timeline.Stints) {
	tasks := goTasks(t, f, o)
	associateGo(t, f, goInput{calls: calls, owners: o, tasks: tasks})
	partsOfTasks(t, tasks)
}

// associateGo gives calls of Go programs to requests. Those on pooled connections run
// on the pool's own goroutines: which request they belong to is known if it was seen who
// handed them over. Else a new connection belongs to the request whose goroutine started
// the dial, and of a reused one nothing is known.
func associateGo(t *timeline.Timeline, f *facts.Facts, in goInput) {
	work, o := in.calls, in.owners
	strands := facts.IndexGoroutines(t)
	if len(strands) == 0 {
		return
	}
	in.strands, in.facts = strands, f
	associateHanded(t, f, in)
	pooled := pooledPeers(t)
	open := timeline.OpenIn(t)
	for i := range t.Calls {
		c := &t.Calls[i]
		if c.Why != timeline.WhyReused {
			continue
		}
		d := f.Conns[work[i].Conn].Decl
		dialler, ok := strands[timeline.GoroutineKey{Process: d.Process, Goroutine: d.Parent}]
		if !c.New || !ok || d.Parent == recording.NoGoroutine {
			continue
		}
		r := o.At(dialler, c.ConnectFrom)
		up := max(c.Connected, c.TLSTo)
		if r == timeline.None || up == recording.NoTime || c.SendFrom >= t.Requests[r].End || c.SendFrom.Sub(up) > goDialled {
			continue
		}
		if pooled[goPeer{d.Process, d.Peer}] && open[d.Process].During(c.ConnectFrom, c.SendFrom) > 1 {
			continue // another request may have taken the connection meanwhile
		}
		t.Assign(c, r, timeline.WhyGoDial)
	}
}

// goPeer is a peer of a process.
type goPeer struct {
	process recording.ProcessID
	address string
}

// pooledPeers are the peers to which a process used some connection more than once.
func pooledPeers(t *timeline.Timeline) map[goPeer]bool {
	pooled := map[goPeer]bool{}
	for i := range t.Conns {
		if c := &t.Conns[i]; c.Exchanges > 1 || c.Existing && c.Exchanges > 0 {
			pooled[goPeer{c.Process, c.Peer}] = true
		}
	}
	return pooled
}
