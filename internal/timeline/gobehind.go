package timeline

// manyOthers is through how many goroutines that wait for each other a wait is followed.
const manyOthers = 6

// behind tiles a span in which a goroutine waited for another one by what that one did meanwhile,
// whomever it worked for: the wait would have ended sooner without that. Where that one waited for
// a third itself, it goes on with that. What is not known of any stays what w says.
func (s *segmenter) behind(r *Request, by StrandID, w parked, through int, p *painter) {
	for _, a := range s.t.Doing(by, w.from, w.to) {
		before, piece := w, w
		before.to, piece.from, piece.to = a.From, a.From, a.To
		s.goAbsent(r, before, p)
		w.from = a.To
		if a.Cause == CauseCondition || a.Cause == CauseUnknown {
			if next := s.handedBy(by, a); next != None && next != r.Strand && next != by && through < manyOthers {
				s.behind(r, next, piece, through+1, p)
				continue
			}
			s.goAbsent(r, piece, p)
			continue
		}
		if a.Cause == CauseRemote && len(overlapping(piece.calls, a.From, a.To)) > 0 {
			s.goAbsent(r, piece, p) // by the phases of the request's own call
			continue
		}
		p.add(Segment{From: a.From, To: a.To, Phase: PhaseHandler, Cause: a.Cause, Quality: Inferred, Call: None, Strand: by, Blocker: None})
	}
	s.goAbsent(r, w, p)
}

// handedBy is the goroutine that ended what another one did, if that was to wait for one; else None.
func (s *segmenter) handedBy(waiter StrandID, a Activity) StrandID {
	if a.Wait != None {
		return s.t.parkedBy(a.Wait)
	}
	if end := s.t.golang.selectedIn(waiter, a.From, a.To); end != nil {
		return end.by
	}
	return None
}
