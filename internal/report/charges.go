package report

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// basis says how we know the stack beneath which a piece of time was spent.
type basis int8

const (
	byOwnStack basis = iota // the stack was taken in this very wait
	byPlace                 // all stacks taken at the same place in the code agree
	bySamples               // on a CPU, or waiting for one: distributed over samples
	byNothing               // no stack was seen, or no code of the request ran
)

// charge is a piece of a segment, with the stack beneath which it was spent.
type charge struct {
	segment  *timeline.Segment
	from, to timeline.Time
	stack    timeline.StackID // None for bySamples and byNothing
	basis    basis
	began    timeline.Time // start of the wait, of which a request may have several pieces
}

// charges splits the segments of a request by stack. The pieces tile the segments.
func (x *stackIndex) charges(r *timeline.Request, into []charge) []charge {
	list := r.SegmentList()
	for i := range list {
		s := &list[i]
		whole := charge{s, s.From, s.To, timeline.None, byNothing, 0}
		switch {
		case s.Strand == timeline.None || s.Phase == timeline.PhaseUnread || s.Cause == timeline.CauseEventLoop:
			into = append(into, whole)
		case s.Cause == timeline.CauseOnCPU:
			whole.basis = bySamples
			into = append(into, whole)
		case x.tl.Strands[s.Strand].Goroutine != recording.NoGoroutine:
			into = x.parked(whole, into)
		case x.hidden(s):
			into = append(into, whole)
		default:
			into = x.pieces(whole, into)
		}
	}
	return into
}

// hidden reports whether no thread's stack shows what a wait is for: the event loop of the request waits for all its
// peers in one place.
func (x *stackIndex) hidden(s *timeline.Segment) bool {
	st := &x.tl.Strands[s.Strand]
	return st.Loop && (s.Cause == timeline.CauseRemote || s.Cause == timeline.CauseClient || s.Phase == timeline.PhasePickUp)
}

// pieces splits a segment in which its strand waited by the states of the strand.
func (x *stackIndex) pieces(c charge, into []charge) []charge {
	id := c.segment.Strand
	at, end := c.from, c.to
	list := intervals(&x.tl.Strands[id], at, end)
	for k := range list {
		iv := &list[k]
		piece := charge{c.segment, max(at, iv.From), min(end, iv.To), timeline.None, byNothing, 0}
		if piece.from > at {
			into = append(into, charge{c.segment, at, piece.from, timeline.None, byNothing, 0})
		}
		at = piece.to
		if preempted(iv) && c.segment.Cause == timeline.CauseRunnable {
			piece.basis = bySamples // it ran unknown code then
		} else {
			x.waiting(&piece, iv)
		}
		into = append(into, piece)
	}
	if at < end {
		into = append(into, charge{c.segment, at, end, timeline.None, byNothing, 0})
	}
	return into
}

// waiting sets the stack of a piece of a wait, within an interval of its strand. A thread that became runnable still
// has that stack.
func (x *stackIndex) waiting(c *charge, iv *timeline.Interval) {
	id, at := c.segment.Strand, c.from
	if iv.State == timeline.StateRunnable && iv.Off != nil {
		at = iv.From - 1
	}
	borrowed := false
	if w := x.tl.WaitAt(id, at); w != timeline.None {
		c.stack, borrowed, c.began = x.tl.Waits[w].Stack, x.tl.Waits[w].Borrowed, x.tl.Waits[w].From
	} else if iv.Off != nil {
		c.stack, borrowed = x.sleepStack(id, iv)
		c.began = iv.Off.Since
	}
	switch {
	case c.stack == timeline.None:
	case borrowed:
		c.basis = byPlace
	default:
		c.basis = byOwnStack
	}
}

// preempted reports whether a strand was ready to continue running in an interval.
func preempted(iv *timeline.Interval) bool {
	return iv.State == timeline.StateRunnable && (iv.Off == nil || iv.Off.State == recording.OffPreempted)
}

// samples returns the stacks that a request's strands had on a CPU while they worked
// for it.
func (x *stackIndex) samples(r *timeline.Request, into []timeline.StackAt) []timeline.StackAt {
	for s := r.Segments(); s.Next(); {
		if s.Cause != timeline.CauseOnCPU || s.Strand == timeline.None || s.Phase == timeline.PhaseUnread {
			continue
		}
		for _, at := range x.between(s.Strand, s.From, s.To) {
			if at.Origin == recording.StackOnCPU {
				into = append(into, at)
			}
		}
	}
	return into
}

// unseen names what a piece of time without a stack was spent on.
func unseen(tl *timeline.Timeline, s *timeline.Segment) string {
	switch {
	case s.Phase == timeline.PhaseUnread:
		return "(request not read yet)"
	case s.Cause == timeline.CauseEventLoop:
		return "(event loop works for others)"
	case s.Cause == timeline.CauseClient:
		return "(waiting for the client)"
	case s.Call != timeline.None && (s.Cause == timeline.CauseRemote || s.Phase == timeline.PhasePickUp):
		return "(call to " + tl.Calls[s.Call].Peer + ")"
	}
	return "(no stack)"
}
