package segments

import "github.com/getdwell/dwell/internal/timeline"

// goParked tiles a span in which a goroutine was on no thread by its waits for others;
// what lies between them, by its calls.
func (s *segmenter) goParked(r *timeline.Request, w parked, p *painter) {
	for _, id := range s.t.WaitsIn(r.Strand, w.from, w.to) {
		x := &s.t.Waits[id]
		s.goAbsent(r, w.until(min(x.From, w.to)), p)
		from, ready, back := max(x.From, w.from), min(x.To, w.to), min(x.Back, w.to)
		if x.Cause == timeline.CauseSleep { // while a call is made for it beside, it waits for that in fact
			s.goAbsent(r, parked{from: from, to: ready, calls: w.calls, cause: x.Cause, quality: x.Quality}, p)
		} else if x.Cause == timeline.CauseCondition {
			s.goJoin(r, id, parked{from: from, to: ready, calls: w.calls, cause: x.Cause, quality: x.Quality}, p)
		} else {
			p.add(timeline.Segment{From: from, To: ready, Phase: timeline.PhaseHandler, Cause: x.Cause, Quality: x.Quality, Call: timeline.None, Strand: r.Strand, Blocker: timeline.None})
		}
		p.add(timeline.Segment{From: max(ready, from), To: back, Phase: timeline.PhaseHandler, Cause: timeline.CauseRunnable, Quality: x.Quality, Call: timeline.None, Strand: r.Strand, Blocker: timeline.None})
		w.from = max(w.from, back)
	}
	if !s.goSelect(r, w, p) {
		s.goAbsent(r, w, p)
	}
}

// goJoin tiles a wait for other goroutines by what the one that ended it did.
func (s *segmenter) goJoin(r *timeline.Request, id timeline.WaitID, w parked, p *painter) {
	by := s.t.ParkedBy(id)
	if by == timeline.None || by == r.Strand {
		s.goAbsent(r, w, p)
		return
	}
	if s.goTask(r, by, w, p) {
		return
	}
	s.goBehind(r, by, w, p)
}
