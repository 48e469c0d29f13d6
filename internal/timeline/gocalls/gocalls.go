package gocalls

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/waits"
	"github.com/getdwell/dwell/recording"
)

// associateHanded gives calls to the request whose goroutine handed them to their
// connection, or wrote them itself, or started the goroutine that did.
func associateHanded(t *timeline.Timeline, f *facts.Facts, in goInput) {
	next, conn := 0, timeline.None
	for i := range t.Calls {
		w := &in.calls[i]
		if w.Conn != conn {
			conn, next = w.Conn, 0
		}
		c := &t.Calls[i]
		if f.Runtime(c.Process) != recording.RuntimeGo || c.Why != timeline.WhyNoOwner || w.Exchange.Asked.None() {
			continue
		}
		handed := f.Conns[w.Conn].GoCalls
		last := timeline.None
		for ; next < len(handed) && handed[next].At <= c.SendFrom; next++ {
			last = next
		}
		asked := f.Conns[w.Conn].Chunks[recording.Write][w.Exchange.Asked.First]
		switch {
		case last != timeline.None:
			handedBy(t, c, w, handing{in, handed[last]})
		case ownGoroutine(f, w):
			r, rule := in.helped(t, f, timeline.GoroutineKey{Process: c.Process, Goroutine: asked.Goroutine}, c.SendFrom)
			t.Assign(c, r, rule)
		default:
			t.Assign(c, timeline.None, timeline.WhyReused)
		}
	}
}

// goInput is what calls of Go are associated by, besides the Timeline and the facts.
type goInput struct {
	calls   []exchange.Call
	owners  timeline.Stints
	strands facts.GoroutineIndex
	facts   *facts.Facts
	tasks   timeline.Stints // by strand: for whose requests it worked besides its own
}

// handing is who handed a call over, and what its request is found by.
type handing struct {
	goInput
	facts.GoCallAt
}

// handedBy associates a call of which is known who handed it to its connection, and
// when: there it began.
func handedBy(t *timeline.Timeline, c *timeline.Call, w *exchange.Call, h handing) {
	in := h.goInput
	k := timeline.GoroutineKey{Process: c.Process, Goroutine: h.GoCall.Goroutine}
	if s, ok := in.strands[k]; ok {
		t.Assign(c, in.owners.At(s, h.At), timeline.WhyGoCall)
	}
	if c.Request == timeline.None {
		r, rule := in.helped(t, in.facts, k, h.At)
		t.Assign(c, r, rule)
	}
	w.Caller = h.GoCall.Goroutine
	c.SendFrom = h.At
	if up := max(c.Connected, c.TLSTo); c.New && (up == recording.NoTime || h.At.Sub(up) > goDialled ||
		c.Request != timeline.None && c.Start < t.Requests[c.Request].FirstRead) {
		exchange.Warmed(c, &w.Bounds) // it was dialled for another
		return
	}
	c.Start = min(c.Start, h.At)
	exchange.Settle(c, &w.Bounds)
}

// goEnds returns the chunks in which a call was first written and first answered.
func goEnds(f *facts.Facts, m *exchange.Call) (asked, answered facts.Chunk) {
	conn := &f.Conns[m.Conn]
	return conn.Chunks[recording.Write][m.Exchange.Asked.First], conn.Chunks[recording.Read][m.Exchange.Replied.First]
}

// ownGoroutine reports a call that one goroutine wrote and read: then it is not one of
// a pool's connection.
func ownGoroutine(f *facts.Facts, w *exchange.Call) bool {
	if w.Exchange.Replied.None() {
		return false
	}
	asked, answered := goEnds(f, w)
	return asked.Goroutine == answered.Goroutine && asked.Goroutine != recording.NoGoroutine
}

// helped returns the request that a goroutine without one of its own worked for, and why:
// it did a task of it, or one of its ancestors serves it.
func (x *goInput) helped(t *timeline.Timeline, f *facts.Facts, k timeline.GoroutineKey, at recording.Time) (timeline.RequestID, string) {
	if s, ok := x.strands[k]; ok && len(x.tasks) > 0 {
		if r := x.tasks.At(s, at); r != timeline.None {
			return r, timeline.WhyHandOff
		}
	}
	if r := x.child(t, f, k, at); r != timeline.None {
		return r, timeline.WhyGoChild
	}
	return timeline.None, timeline.WhyNoOwner
}

// goGenerations bounds how far up a goroutine's ancestors are asked.
const goGenerations = 8

// child returns the request that a goroutine works for because one of its ancestors
// serves it, None if there is none. A goroutine that was seen before that request was
// read was started for something else.
func (x *goInput) child(t *timeline.Timeline, f *facts.Facts, k timeline.GoroutineKey, at recording.Time) timeline.RequestID {
	first := at
	for range goGenerations {
		origin, ok := f.Goroutines.Origins[k]
		if !ok || origin.Parent == recording.NoGoroutine {
			return timeline.None
		}
		first = min(first, origin.Seen)
		k.Goroutine = origin.Parent
		s, ok := x.strands[k]
		if !ok {
			continue
		}
		if r := x.owners.At(s, at); r != timeline.None && t.Requests[r].FirstRead <= first {
			return r
		}
	}
	return timeline.None
}

// Ancestors finds the request that a goroutine served at a time, or one that led to it.
func Ancestors(t *timeline.Timeline, f *facts.Facts, o timeline.Stints) waits.ServedBy {
	in := goInput{owners: o, strands: facts.IndexGoroutines(t), facts: f}
	return func(k timeline.GoroutineKey, at recording.Time) timeline.RequestID { return in.child(t, f, k, at) }
}
