package timeline

import "github.com/getdwell/dwell/recording"

// threadHandler tiles the time from reading a request to its last byte, for a thread
// that served nothing else meanwhile, and for those that worked for it: up to the last
// one, if that answered.
func (s *segmenter) threadHandler(r *Request, p *painter) {
	w := follow{strand: r.Strand, from: s.in.requests[r.ID].from, to: r.End}
	if len(r.Parts) > 0 {
		w.spans = s.spansOn(r.ID, r.Strand)
	} else {
		w.spans = s.spans(r.ID)
	}
	left := s.in.requests[r.ID].left
	if left == recording.NoTime {
		s.follow(r, w, p)
		return
	}
	w.to = left
	s.follow(r, w, p)
	if part := s.partAt(r.ID, s.in.requests[r.ID].writer, r.End); part != nil {
		s.descend(r, part, follow{strand: r.Strand, from: left, to: r.End}, p)
		return
	}
	p.add(Segment{From: left, To: r.End, Phase: PhaseHandler, Cause: CauseUnknown, Quality: Inferred, Call: None, Strand: None, Blocker: None})
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
	case piece.Call == None && network && s.looksUp(piece.Strand, iv):
		piece.Phase, piece.Cause = PhaseDNS, CauseRemote
	case piece.Call == None && network && piece.Strand == r.Strand && s.onClient(r, iv, piece):
		piece.Cause = CauseClient
	default:
		piece.Cause, piece.Quality = s.t.sleepCause(piece.Strand, iv)
	}
}

// onClient reports a wait for the client: for the rest of the request's body, or for
// room to write more of the response.
func (s *segmenter) onClient(r *Request, iv Interval, piece *Segment) bool {
	read := s.in.requests[r.ID].read
	if r.FirstWrite != 0 && piece.From >= r.FirstWrite {
		return true
	}
	return read > r.FirstRead && piece.From < read && !(iv.Off.Timed == 1 && iv.Off.Arg == 0)
}
