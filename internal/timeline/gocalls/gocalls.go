// Package gocalls decides to which requests the calls of Go programs belong, as far as goroutines tell more than the
// threads they run on (Associate). The Why of a call names the rule that decided: a call of a wrong request is mended in
// that rule's function.
//
//	Why               function            evidence
//	WhyGoCall         handedBy            the request's goroutine handed the call to a pooled connection
//	WhyHandOff        tasks (gotasks.go)  a goroutine wrote it that had taken a task of the request from a channel, and
//	                                      gave back the result
//	WhyGoChild        child               one wrote it that the request's goroutine made, or whose maker did; what was
//	                                      made before the request was read works for something else
//	WhyGoDial         byDials             nothing of these was seen, but the request's goroutine had just dialled the
//	                                      connection, and no other can have taken it
//	WhyReused                             the connection was used before, and who handed the call to it was not seen
//
// A call that the request's own goroutine wrote is given to it before, in package build.
// AddStrands lists the goroutines before that, and Lives keeps what questions to the Timeline need (golives.go).
package gocalls

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/waits"
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

// goroutines are what the rules go by.
type goroutines struct {
	t       *timeline.Timeline
	f       *facts.Facts
	calls   []exchange.Call
	owners  timeline.Stints
	strands facts.GoroutineIndex
	made    map[timeline.StrandID][]recording.Time // when its goroutine made calls, in order
	worked  timeline.Stints                        // by strand: for whose requests it worked besides its own
}

// Associate gives the calls of Go programs to their requests, and notes what goroutines did
// for requests that others had read.
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

// byWriters gives calls to the request whose goroutine handed them to their
// connection, or wrote them itself, or started the goroutine that did.
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

// writer is the goroutine that wrote a call; alone, if it read the answer, too: then it is not one of a
// pool's connection.
func (g *goroutines) writer(w *exchange.Call) (by recording.GoroutineID, alone bool) {
	conn := &g.f.Conns[w.Conn]
	by = conn.Chunks[recording.Write][w.Exchange.Asked.First].Goroutine
	if w.Exchange.Replied.None() || by == recording.NoGoroutine {
		return by, false
	}
	return by, conn.Chunks[recording.Read][w.Exchange.Replied.First].Goroutine == by
}

// goDialled bounds the time between a connection's being up and its first request: a
// dial that its request did not wait for leaves an idle connection for anyone. Who dialled itself, and made no call since, waited for it.
const goDialled recording.Duration = 1_000_000

// handedBy associates a call of which is known who handed it to its connection, and
// when: there it began.
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
		exchange.Warmed(c, &w.Bounds) // it was dialled for another
		return
	}
	c.Start = min(c.Start, handed.At)
	exchange.Settle(c, &w.Bounds)
}

// helped returns the request that a goroutine without one of its own worked for, and why:
// it did a task of it, or one of its ancestors serves it.
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

// goGenerations bounds how far up a goroutine's ancestors are asked.
const goGenerations = 8

// child returns the request that a goroutine works for because one of its ancestors
// serves it, None if there is none. A goroutine that was seen before that request was
// read was started for something else.
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

// Ancestors finds the request that a goroutine served at a time, or one that led to it.
func Ancestors(t *timeline.Timeline, f *facts.Facts, o timeline.Stints) waits.ServedBy {
	return (&goroutines{t: t, f: f, owners: o, strands: facts.IndexGoroutines(t)}).child
}

// pool is what goes by one pool of connections: a process and a peer.
type pool struct {
	process recording.ProcessID
	peer    string
}

// byDials gives calls on new connections, of which it was not seen who handed them over, to the request
// whose goroutine started the dial. Of reused ones nothing is known.
func (g *goroutines) byDials() {
	t := g.t
	pooled := map[pool]bool{} // some connection was used more than once
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
