package timeline

import (
	"slices"

	"github.com/getdwell/dwell/recording"
)

// Who waits for another strand of its process waits for what that one does: the wait would have
// ended sooner without it, whomever it worked for. It is followed back from its end. Where that
// strand waited itself until a third one ended that, what came before is what the third one did.
const (
	manyDeeds = 1024      // how much of what strands did is looked at for one wait
	firstLook = 1_000_000 // ns: how far back at first
)

// behind lists, latest first, what a strand waited for in a span at whose end another one let it
// go on. Spans of which nothing is known are left out, and where the place in the code of
// a wait is not known, so that it may be a lock's, all but what happens outside of the process.
// Linear in what lies within, up to a bound: what is further back is left out.
func (s *segmenter) behind(w follow, by StrandID, placed bool) (list []Segment) {
	look, hands, seen := Duration(firstLook), 0, 0
	for at := w.to; at > w.from && seen < manyDeeds; look *= 2 {
		begin := max(w.from, at-Time(look))
		next, ended := StrandID(None), begin
		for _, a := range slices.Backward(s.t.Doing(by, begin, at)) {
			seen++
			if next, ended = s.endedBy(by, a, at); next != None {
				placed = placed && (a.Stack != None || s.t.Strands[by].Goroutine != recording.NoGoroutine)
				break
			}
			g := s.doneBehind(by, a)
			outside := g.Cause == CauseIPC || g.Cause == CauseDisk || g.Phase == PhaseDNS
			if outside && g.Cause != CauseDisk {
				g.Strand = w.strand // which asked for it: that tells where in the code
			}
			if outside || placed && g.Cause != CauseUnknown {
				list = append(list, g)
			}
		}
		at = ended
		if next == None {
			continue
		}
		if hands++; next == w.strand || hands > manyHands {
			break // its own doing, before it waited
		}
		by, look = next, firstLook
	}
	return list
}

// endedBy is the strand that ended, and when, what another one did, if that was to wait for one: for work, or for what came
// of it. None if it was not, or nobody is known to have by a time.
func (s *segmenter) endedBy(strand StrandID, a Activity, until Time) (by StrandID, at Time) {
	if by = None; a.Cause != CauseCondition && a.Cause != CauseUnknown {
		return by, a.From
	}
	switch goroutine := s.t.Strands[strand].Goroutine != recording.NoGoroutine; {
	case a.Wait != None && goroutine:
		by, at = s.t.parkedBy(a.Wait), s.t.Waits[a.Wait].To
	case a.Wait != None:
		if off := s.t.Waits[a.Wait].Off; off != nil && off.WakerKind == recording.WakerThread {
			by, at = s.f.strand(off.Waker), off.Woken
		}
	case goroutine:
		if end := s.t.golang.selectedIn(strand, a.From, a.To); end != nil {
			by, at = end.by, end.at
		}
	}
	if by == None || by == strand || at > until || at <= a.From || s.t.Strands[by].Process != s.t.Strands[strand].Process {
		return None, a.From
	}
	return by, at
}

// doneBehind is the segment of somebody who waited for what a strand did; of unknown cause if that is not known, or was to
// wait for work.
func (s *segmenter) doneBehind(by StrandID, a Activity) Segment {
	g := Segment{From: a.From, To: a.To, Phase: PhaseHandler, Cause: a.Cause, Quality: Inferred, Call: None, Strand: by, Blocker: None}
	switch a.Cause {
	case CauseCondition:
		g.Cause = CauseUnknown
	case CauseUnknown:
		if s.looksUp(by, Interval{From: a.From, To: a.To}) {
			g.Phase, g.Cause = PhaseDNS, CauseRemote
		}
	}
	return g
}

// helped tiles a sleep that another thread of its process ended by what that one did; false if
// that is not known of any part of it.
func (s *segmenter) helped(iv Interval, piece Segment, p *painter) bool {
	if iv.State != StateSleeping || piece.Call != None || iv.Off == nil || iv.Off.WakerKind != recording.WakerThread {
		return false
	}
	id := s.t.WaitAt(piece.Strand, iv.From)
	if id == None || s.t.Waits[id].Cause != CauseCondition {
		return false
	}
	helper := s.f.strand(iv.Off.Waker)
	if helper == None || helper == piece.Strand || s.t.Strands[helper].Process != s.t.Strands[piece.Strand].Process {
		return false
	}
	list := s.behind(follow{strand: piece.Strand, from: piece.From, to: min(piece.To, iv.Off.Woken)}, helper, s.t.Waits[id].Stack != None)
	if len(list) == 0 {
		return false
	}
	rest := piece
	rest.Cause, rest.Quality = CauseCondition, Inferred
	for _, g := range slices.Backward(list) {
		rest.To = g.From
		p.add(rest)
		p.add(g)
		rest.From = g.To
	}
	rest.To = piece.To
	p.add(rest)
	return true
}

// goBehind is helped for a goroutine, which another one let go on.
func (s *segmenter) goBehind(r *Request, by StrandID, w parked, p *painter) {
	for _, g := range slices.Backward(s.behind(follow{strand: r.Strand, from: w.from, to: w.to}, by, true)) {
		before := w
		before.to = g.From
		s.goAbsent(r, before, p)
		if w.from = g.To; g.Cause == CauseRemote && len(overlapping(w.calls, g.From, g.To)) > 0 {
			before.from, before.to = g.From, g.To
			s.goAbsent(r, before, p) // by the phases of the request's own calls
			continue
		}
		p.add(g)
	}
	s.goAbsent(r, w, p)
}

// CallBehind is the call of a strand that works for others for whose answer a segment waits that is no call's itself; None
// if that is not known.
func (t *Timeline) CallBehind(g *Segment) CallID {
	if g.Call != None || g.Cause != CauseRemote || g.Strand == None || t.Strands[g.Strand].Loop {
		return None
	}
	for _, a := range t.Doing(g.Strand, g.From, g.From+1) {
		return a.Call
	}
	return None
}
