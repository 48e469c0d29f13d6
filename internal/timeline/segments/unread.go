package segments

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// manyPieces bounds how many pieces of a wait are listed one by one; a wait of more pieces is summed up by cause. With
// a long queue in front of one strand, it would be quadratic to list what the strand did meanwhile for each request.
const manyPieces = 64

// unread tiles the time in which a request lay in its socket: by what the strand that later read it was doing.
func (s *segmenter) unread(r *timeline.Request, p *painter) {
	if r.Start >= r.FirstRead {
		return
	}
	if s.t.Strands[r.Strand].Goroutine != recording.NoGoroutine {
		s.unreadGo(r, p)
		return
	}
	reader, from := r.Strand, r.Start
	th := &s.f.Threads[reader]
	if th.Born > from { // made for this connection: until then its creator was responsible
		born := min(th.Born, r.FirstRead)
		if creator := s.f.Strand(th.Creator); creator != timeline.None {
			s.readerWait(wait{r, creator, from, born, timeline.PhaseUnread, timeline.None}, p)
		}
		from = born
	}
	s.relayed(wait{r, reader, from, r.FirstRead, timeline.PhaseUnread, timeline.None}, manyRelays, p)
}

// wait is a span in which a request waited for a strand to attend to it: to read it, or to read the answer to one of
// its calls.
type wait struct {
	r        *timeline.Request
	strand   timeline.StrandID
	from, to recording.Time
	phase    timeline.Phase
	call     timeline.CallID
}

// readerWait tiles a wait by what the strand did meanwhile.
func (s *segmenter) readerWait(w wait, p *painter) { s.waitFor(w, s.quality(w), p) }

// waitFor is readerWait if the quality of the wait is known.
func (s *segmenter) waitFor(w wait, sure timeline.Quality, p *painter) {
	if w.from >= w.to {
		return
	}
	ivs := timeline.Clipped(s.t.Strands[w.strand].Intervals, w.from, w.to)
	stints := s.in.Owners.From(w.strand, w.from)
	n := lists.Near(len(stints), 0, func(k int) bool { return stints[k].From >= w.to })
	if len(ivs)+n > manyPieces {
		s.lane(w.strand).summary(w, sure, p)
		return
	}
	eachPiece(ivs, stints[:n], func(iv timeline.Interval, owner timeline.RequestID) {
		iv.From, iv.To = max(iv.From, w.from), min(iv.To, w.to)
		cause, quality := s.reading(w.strand, iv, owner)
		if cause == causeIdle {
			cause, quality = timeline.CauseUnknown, timeline.Inferred
			if iv.To.Sub(iv.From) <= timeline.WakeLatency {
				cause = timeline.CauseRunnable
			}
		}
		if cause == timeline.CauseEventLoop && owner == timeline.None && ivs[0].State == timeline.StateSleeping && iv.From > w.from {
			cause = timeline.CauseOnCPU // it was idle when the wait began: what it does leads to this very read
		}
		if cause == causeNone || iv.From >= iv.To {
			return
		}
		if owner == w.r.ID || cause == timeline.CauseRunnable {
			owner = timeline.None
		}
		p.add(timeline.Segment{
			From: iv.From, To: iv.To, Phase: w.phase, Cause: cause, Quality: max(quality, sure),
			Call: w.call, Strand: w.strand, Blocker: owner,
		})
	})
}

// quality of a wait's segments: inferred if its beginning was not stamped exactly.
func (s *segmenter) quality(w wait) timeline.Quality {
	if w.phase == timeline.PhaseQueue || w.phase == timeline.PhaseUnread && s.in.Requests[w.r.ID].Inexact {
		return timeline.Inferred
	}
	return timeline.Exact
}

// eachPiece cuts intervals at stints and visits the pieces, each with the request that the strand worked for in it, or
// None.
func eachPiece(ivs []timeline.Interval, stints []timeline.Stint, visit func(timeline.Interval, timeline.RequestID)) {
	k := 0
	for _, iv := range ivs {
		for iv.From < iv.To {
			for k < len(stints) && stints[k].To <= iv.From {
				k++
			}
			piece, owner := iv, timeline.RequestID(timeline.None)
			if k < len(stints) && stints[k].From <= iv.From {
				piece.To, owner = min(iv.To, stints[k].To), stints[k].Request
			} else if k < len(stints) {
				piece.To = min(iv.To, stints[k].From)
			}
			visit(piece, owner)
			iv.From = piece.To
		}
	}
}

// Causes that only waits use, and that no Segment shows.
const (
	causeIdle timeline.Cause = timeline.NumCauses     // asleep waiting for input, although there was some
	causeNone timeline.Cause = timeline.NumCauses + 1 // no facts
	numWaits                 = timeline.NumCauses + 2
)

// reading returns what kept a strand from reading: its state, and the request it worked for.
func (s *segmenter) reading(id timeline.StrandID, iv timeline.Interval, owner timeline.RequestID) (timeline.Cause, timeline.Quality) {
	loop := s.t.Strands[id].Loop
	cause, quality, known := s.stateCause(id, iv)
	asleep := iv.State == timeline.StateSleeping || iv.State == timeline.StateDisk
	switch {
	case !known:
		return causeNone, timeline.Inferred
	case iv.State == timeline.StateRunning && loop:
		return timeline.CauseEventLoop, timeline.Exact
	case !asleep, cause == timeline.CauseGC, cause == timeline.CauseInterpreterLock:
	case loop && (owner != timeline.None || iv.Off != nil && s.t.Strands[id].Poll.Aside(iv.Off)):
		return timeline.CauseEventLoop, timeline.Exact
	case owner != timeline.None, s.t.Lingers(iv.Off): // on another connection: a poll of this one would have ended
		return timeline.CausePool, timeline.Exact
	case iv.Off != nil && timeline.NetworkWait(iv.Off.Syscall):
		return causeIdle, timeline.Inferred
	}
	return cause, quality
}
