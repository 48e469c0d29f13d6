package timeline

// threadHandler tiles the time from reading a request to its last byte, for a thread
// that served nothing else meanwhile: its states, laid over the phases of its calls.
func (s *segmenter) threadHandler(r *Request, p *painter) {
	spans := s.spans(r.ID)
	from := s.in.requests[r.ID].from
	k := 0
	for _, iv := range clipped(s.t.Strands[r.Strand].Intervals, from, r.End) {
		at, to := max(iv.From, from), min(iv.To, r.End)
		for at < to {
			for k < len(spans) && spans[k].to <= at {
				k++
			}
			piece := Segment{From: at, To: to, Phase: PhaseHandler, Call: None, Strand: r.Strand, Blocker: None}
			if k < len(spans) && spans[k].from <= at {
				piece.To, piece.Phase, piece.Call = min(to, spans[k].to), spans[k].phase, spans[k].call
			} else if k < len(spans) {
				piece.To = min(to, spans[k].from)
			}
			at = piece.To
			if s.state(r, iv, &piece) {
				p.add(piece)
			}
		}
	}
}

// state gives a piece its cause by the strand's state; false if it is unknown.
func (s *segmenter) state(r *Request, iv Interval, piece *Segment) bool {
	switch iv.State {
	case StateRunning:
		piece.Cause = CauseOnCPU
	case StateRunnable:
		piece.Cause = CauseRunnable
	case StateSleeping, StateDisk:
		s.asleep(r, iv, piece)
		return true
	default:
		return false
	}
	if piece.Phase == PhaseRemote { // it had something else to do while it waited
		piece.Phase, piece.Call = PhaseHandler, None
	}
	return true
}

// asleep gives a sleeping piece its cause. Before an answer is there it waits for the
// peer, whatever it sleeps in; in other phases the syscall tells.
func (s *segmenter) asleep(r *Request, iv Interval, piece *Segment) {
	network := iv.Off != nil && networkWait(iv.Off.Syscall)
	switch {
	case piece.Phase == PhaseRemote:
		piece.Cause = CauseRemote
	case piece.Phase == PhasePickUp && network:
		piece.Cause, piece.Quality = CauseRunnable, Inferred
		if piece.To.Sub(piece.From) > wakeLatency {
			piece.Cause = CauseUnknown
		}
	case piece.Call != None && network:
		piece.Cause = CauseRemote
	case piece.Call == None && network && s.onClient(r, iv, piece):
		piece.Cause = CauseClient
	default:
		piece.Cause, piece.Quality = s.t.sleepCause(r.Strand, iv)
	}
}

// onClient reports a wait for the client: for the rest of the request's body, or for
// room to write more of the response.
func (s *segmenter) onClient(r *Request, iv Interval, piece *Segment) bool {
	x := &s.in.requests[r.ID].x
	if r.FirstWrite != 0 && piece.From >= r.FirstWrite {
		return true
	}
	return x.asked.end > r.FirstRead && piece.From < x.asked.end && !(iv.Off.Timed == 1 && iv.Off.Arg == 0)
}
