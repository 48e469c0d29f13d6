package timeline

import "github.com/getdwell/dwell/recording"

// pickedUp tiles a piece of a request's wait for an answer that lay in its socket, by
// what the strand did that then read it for the one who had asked; false if that was the
// same.
func (s *segmenter) pickedUp(r *Request, iv Interval, piece *Segment, p *painter) bool {
	if piece.Phase != PhasePickUp || iv.State != StateSleeping || !s.t.Calls[piece.Call].Carried {
		return false
	}
	m := &s.in.calls[piece.Call]
	reader := s.f.strand(s.f.conns[m.conn].chunks[recording.Read][m.x.replied.first].Thread)
	if reader == None || reader == piece.Strand {
		return false
	}
	s.readerWait(wait{r, reader, piece.From, piece.To, PhasePickUp, piece.Call}, p)
	return true
}
