package segments

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// manyRelays bounds through how many strands a wait is followed: each worker of a pool may wake the next.
const manyRelays = 256

// relayed tiles a wait by what the strands did that the request had to pass: for example one that polls, and hands the
// request over to a worker that waits for work. Until the worker was woken, the strand that woke it was responsible.
// The wait is followed through a limited number of strands (most).
func (s *segmenter) relayed(w wait, most int, p *painter) {
	if most > 0 && w.from < w.to {
		if iv := s.wokenForWork(w); iv != nil {
			before := w
			before.strand, before.to = s.f.Strand(iv.Off.Waker), iv.To
			s.relayed(before, most-1, p)
			w.from = iv.To
		}
	}
	s.readerWait(w, p)
}

// wokenForWork returns the last sleep of a wait's strand that another strand ended by handing it work; nil if there is
// none. While a worker is idle, an unread request has not been handed over, whatever the worker did later.
func (s *segmenter) wokenForWork(w wait) *timeline.Interval {
	ivs := timeline.Clipped(s.t.Strands[w.strand].Intervals, w.from, w.to)
	for k := len(ivs) - 1; k >= 0 && len(ivs)-k <= manyPieces; k-- {
		iv := &ivs[k]
		if iv.State != timeline.StateSleeping || iv.To > w.to || iv.To <= w.from || s.in.Owners.At(w.strand, iv.From) != timeline.None {
			continue
		}
		if s.calledUp(w.strand, iv.Off) {
			return iv
		}
		if !timeline.HandedOn(iv.Off) || s.f.Strand(iv.Off.Waker) == timeline.None {
			continue
		}
		id := s.t.WaitAt(w.strand, iv.From)
		if id == timeline.None || s.t.Waits[id].Rule == timeline.RuleIdle || s.t.Waits[id].Cause == timeline.CauseCondition {
			return iv
		}
	}
	return nil
}

// calledUp reports whether another thread of the process ended a poll, as an acceptor thread does after accepting a
// connection.
func (s *segmenter) calledUp(strand timeline.StrandID, off *timeline.Off) bool {
	if off == nil || !timeline.PollWait(off.Syscall) || off.WakerKind != recording.WakerThread || s.t.Strands[strand].Loop {
		return false
	}
	by := s.f.Strand(off.Waker)
	return by != timeline.None && by != strand && s.t.Strands[by].Process == s.t.Strands[strand].Process
}
