package timeline

import "github.com/getdwell/dwell/recording"

// carriedFor reports a call that other strands carried for a request's own, which waited
// for its answer.
func (s *segmenter) carriedFor(c *Call, strand StrandID) bool {
	return c.Why == WhyHandOffAnswer && c.Request != None && s.t.Requests[c.Request].Strand == strand
}

// pickedUp tiles a piece of a request's wait for an answer that lay in its socket, by
// what the strand did that then read it for the request; false if that was its own.
func (s *segmenter) pickedUp(r *Request, iv Interval, piece *Segment, p *painter) bool {
	if piece.Phase != PhasePickUp || iv.State != StateSleeping || !s.carriedFor(&s.t.Calls[piece.Call], piece.Strand) {
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
