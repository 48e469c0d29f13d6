package segments

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// pickedUp tiles a piece of a request's wait for an answer that lay in its socket, by
// what the strand did that then read it for the one who had asked; false if that was the
// same.
func (s *segmenter) pickedUp(r *timeline.Request, iv timeline.Interval, piece *timeline.Segment, p *painter) bool {
	if piece.Phase != timeline.PhasePickUp || iv.State != timeline.StateSleeping || !s.t.Calls[piece.Call].Carried {
		return false
	}
	m := &s.in.Calls[piece.Call]
	reader := s.f.Strand(s.f.Conns[m.Conn].Chunks[recording.Read][m.Exchange.Replied.First].Thread)
	if reader == timeline.None || reader == piece.Strand {
		return false
	}
	s.readerWait(wait{r, reader, piece.From, piece.To, timeline.PhasePickUp, piece.Call}, p)
	return true
}
