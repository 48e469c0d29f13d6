package timeline

import (
	"cmp"
	"slices"
)

// goParked tiles a span in which a goroutine was on no thread by its waits for others;
// what lies between them, by its calls.
func (s *segmenter) goParked(r *Request, w parked, p *painter) {
	for _, id := range s.t.WaitsIn(r.Strand, w.from, w.to) {
		x := &s.t.Waits[id]
		before := w
		before.to = min(x.From, w.to)
		s.goAbsent(r, before, p)
		from, ready, back := max(x.From, w.from), min(x.To, w.to), min(x.Back, w.to)
		if x.Cause == CauseSleep { // while a call is made for it beside, it waits for that in fact
			s.goAbsent(r, parked{from: from, to: ready, calls: w.calls, cause: x.Cause, quality: x.Quality}, p)
		} else if x.Cause == CauseCondition {
			s.goJoin(r, id, parked{from: from, to: ready, calls: w.calls, cause: x.Cause, quality: x.Quality}, p)
		} else {
			p.add(Segment{From: from, To: ready, Phase: PhaseHandler, Cause: x.Cause, Quality: x.Quality, Call: None, Strand: r.Strand, Blocker: None})
		}
		p.add(Segment{From: max(ready, from), To: back, Phase: PhaseHandler, Cause: CauseRunnable, Quality: x.Quality, Call: None, Strand: r.Strand, Blocker: None})
		w.from = max(w.from, back)
	}
	if !s.goSelect(r, w, p) {
		s.goAbsent(r, w, p)
	}
}

// goJoin tiles a wait for other goroutines by what the one that ended it did.
func (s *segmenter) goJoin(r *Request, id WaitID, w parked, p *painter) {
	by := s.t.parkedBy(id)
	if by == None || by == r.Strand {
		s.goAbsent(r, w, p)
		return
	}
	if s.goTask(r, by, w, p) {
		return
	}
	s.goBehind(r, by, w, p)
}

// WaitsIn returns the Waits of a strand that overlap a span; the ends may stick out.
func (t *Timeline) WaitsIn(s StrandID, from, to Time) []WaitID {
	waits := t.Strands[s].Waits
	i, _ := slices.BinarySearchFunc(waits, from+1, func(id WaitID, at Time) int { return cmp.Compare(t.Waits[id].Back, at) })
	k, _ := slices.BinarySearchFunc(waits, to, func(id WaitID, at Time) int { return cmp.Compare(t.Waits[id].From, at) })
	return waits[i:max(i, k)]
}

// parkedBy returns the strand that ended the wait of a goroutine, or None.
func (t *Timeline) parkedBy(w WaitID) StrandID {
	if by, ok := t.golang.ended[w]; ok {
		return by
	}
	return None
}
