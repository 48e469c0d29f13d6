// Package gocalls decides to which requests the calls of Go programs belong, as far as goroutines reveal more than
// the threads that run them (Associate). The Why of a call names the rule that decided. If a call was given to the
// wrong request, look at the function of that rule:
//
//	Why               function            evidence
//	WhyGoCall         handedBy            the request's goroutine handed the call to a pooled connection
//	WhyHandOff        tasks (gotasks.go)  the goroutine that wrote the call had taken a task of the request from a channel,
//	                                      and then gave back the result
//	WhyGoChild        child               the goroutine that wrote the call was started by the request's goroutine, or by
//	                                      one that descends from it; a goroutine started before the request was read works
//	                                      for something else
//	WhyGoDial         byDials             none of these was seen, but the request's goroutine had just dialled the
//	                                      connection, and no other request can have taken it
//	WhyReused                             the connection was used before, and it was not seen which goroutine handed the
//	                                      call to it: the call stays unattributed
//
// Calls that the request's own goroutine wrote are assigned before that, in package build. AddStrands runs first and
// makes goroutines strands. Lives keeps what later questions to the Timeline need (golives.go).
package gocalls

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/waits"
	"github.com/getdwell/dwell/recording"
)

// AddStrands adds a Strand for each goroutine that served a request or wrote a call, and moves those requests and
// calls to it.
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

// goroutines is the state that all rules share.
type goroutines struct {
	t       *timeline.Timeline
	f       *facts.Facts
	calls   []exchange.Call
	owners  timeline.Stints
	strands facts.GoroutineIndex
	made    map[timeline.StrandID][]recording.Time // by strand: when its goroutine made calls, in order
	worked  timeline.Stints                        // by strand: the spans in which it worked for requests that other goroutines had read
}

// Associate assigns the calls of Go programs to their requests, and notes what goroutines did for requests that other
// goroutines had read.
func Associate(t *timeline.Timeline, f *facts.Facts, calls []exchange.Call, o timeline.Stints) {
	g := &goroutines{t: t, f: f, calls: calls, owners: o, strands: facts.IndexGoroutines(t)}
	if len(g.strands) == 0 {
		return
	}
	g.made = g.whenMade()
	g.worked = g.tasks()
	g.byWriters()
	g.byDials()
	g.addParts()
}

// byWriters assigns a call to the request whose goroutine handed it to its connection, wrote it itself, or started
// the goroutine that did.
func (g *goroutines) byWriters() {
	next, conn := 0, timeline.None
	for i := range g.t.Calls {
		c, w := &g.t.Calls[i], &g.calls[i]
		if w.Conn != conn {
			conn, next = w.Conn, 0
		}
		if g.f.Runtime(c.Process) != recording.RuntimeGo || c.Why != timeline.WhyNoOwner || w.Exchange.Asked.None() {
			continue
		}
		handed, last := g.f.Conns[w.Conn].GoCalls, timeline.None
		for ; next < len(handed) && handed[next].At <= c.SendFrom; next++ {
			last = next
		}
		by, alone := g.writer(w)
		switch {
		case last != timeline.None:
			g.handedBy(c, w, handed[last])
		case alone:
			r, rule := g.helped(timeline.GoroutineKey{Process: c.Process, Goroutine: by}, c.SendFrom)
			g.t.Assign(c, r, rule)
		default:
			g.t.Assign(c, timeline.None, timeline.WhyReused)
		}
	}
}

// writer is the goroutine that wrote a call. It is alone if it also read the answer: then it does not belong to a
// pooled connection, which has one goroutine for each direction.
func (g *goroutines) writer(w *exchange.Call) (by recording.GoroutineID, alone bool) {
	conn := &g.f.Conns[w.Conn]
	by = conn.Chunks[recording.Write][w.Exchange.Asked.First].Goroutine
	if w.Exchange.Replied.None() || by == recording.NoGoroutine {
		return by, false
	}
	return by, conn.Chunks[recording.Read][w.Exchange.Replied.First].Goroutine == by
}

// goDialled bounds the time between a connection's being up and its first request. A longer gap means that the
// request did not wait for the dial, which left an idle connection for any request. A goroutine that dialled itself
// and made no call since did wait for the dial, however long the gap.
const goDialled recording.Duration = 1_000_000

// handedBy assigns a call for which it is known which goroutine handed it to its connection, and when. The call
// begins at that time.
func (g *goroutines) handedBy(c *timeline.Call, w *exchange.Call, handed facts.GoCallAt) {
	k := timeline.GoroutineKey{Process: c.Process, Goroutine: handed.Goroutine}
	if s, ok := g.strands[k]; ok {
		g.t.Assign(c, g.owners.At(s, handed.At), timeline.WhyGoCall)
	}
	if c.Request == timeline.None {
		r, rule := g.helped(k, handed.At)
		g.t.Assign(c, r, rule)
	}
	w.Caller = handed.Goroutine
	c.SendFrom = handed.At
	own := g.f.Conns[w.Conn].Decl.Parent == handed.Goroutine && !within(g.made[g.strands.Of(k)], c.ConnectFrom, handed.At)
	if up := max(c.Connected, c.TLSTo); c.New && (up == recording.NoTime || !own && handed.At.Sub(up) > goDialled ||
		c.Request != timeline.None && c.Start < g.t.Requests[c.Request].FirstRead) {
		exchange.Warmed(c, &w.Bounds) // it was dialled for another call
		return
	}
	c.Start = min(c.Start, handed.At)
	exchange.Settle(c, &w.Bounds)
}

// helped returns the request that a goroutine without a request of its own worked for, and the rule: it did a task of
// that request, or one of its ancestors serves it.
func (g *goroutines) helped(k timeline.GoroutineKey, at recording.Time) (timeline.RequestID, string) {
	if s, ok := g.strands[k]; ok && len(g.worked) > 0 {
		if r := g.worked.At(s, at); r != timeline.None {
			return r, timeline.WhyHandOff
		}
	}
	if r := g.child(k, at); r != timeline.None {
		return r, timeline.WhyGoChild
	}
	return timeline.None, timeline.WhyNoOwner
}

// goGenerations bounds how many generations of ancestors are searched.
const goGenerations = 8

// child returns the request that a goroutine works for because one of its ancestors serves it; None if there is none.
// A goroutine that was seen before that request was read was started for something else.
func (g *goroutines) child(k timeline.GoroutineKey, at recording.Time) timeline.RequestID {
	first := at
	for range goGenerations {
		origin, ok := g.f.Goroutines.Origins[k]
		if !ok || origin.Parent == recording.NoGoroutine {
			return timeline.None
		}
		first = min(first, origin.Seen)
		k.Goroutine = origin.Parent
		s, ok := g.strands[k]
		if !ok {
			continue
		}
		if r := g.owners.At(s, at); r != timeline.None && g.t.Requests[r].FirstRead <= first {
			return r
		}
	}
	return timeline.None
}

// Ancestors returns a function that finds the request that a goroutine served at a time, or that one of its ancestors
// served.
func Ancestors(t *timeline.Timeline, f *facts.Facts, o timeline.Stints) waits.ServedBy {
	return (&goroutines{t: t, f: f, owners: o, strands: facts.IndexGoroutines(t)}).child
}

// pool identifies a pool of connections by its process and peer.
type pool struct {
	process recording.ProcessID
	peer    string
}

// byDials assigns calls on new connections, if it was not seen which goroutine handed them over, to the request whose
// goroutine started the dial. Nothing is known about calls on reused connections.
func (g *goroutines) byDials() {
	t := g.t
	pooled := map[pool]bool{} // some connection of the pool was used more than once
	for i := range t.Conns {
		if c := &t.Conns[i]; c.Exchanges > 1 || c.Existing && c.Exchanges > 0 {
			pooled[pool{c.Process, c.Peer}] = true
		}
	}
	open := timeline.OpenIn(t)
	for i := range t.Calls {
		c, d := &t.Calls[i], g.f.Conns[g.calls[i].Conn].Decl
		if c.Why != timeline.WhyReused || !c.New || d.Parent == recording.NoGoroutine {
			continue
		}
		dialler, ok := g.strands[timeline.GoroutineKey{Process: d.Process, Goroutine: d.Parent}]
		if !ok {
			continue
		}
		r, up := g.owners.At(dialler, c.ConnectFrom), max(c.Connected, c.TLSTo)
		if r == timeline.None || up == recording.NoTime || c.SendFrom >= t.Requests[r].End || c.SendFrom.Sub(up) > goDialled {
			continue
		}
		if pooled[pool{d.Process, d.Peer}] && open[d.Process].During(c.ConnectFrom, c.SendFrom) > 1 {
			continue // another request may have taken the connection meanwhile
		}
		t.Assign(c, r, timeline.WhyGoDial)
	}
}
