package segments

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// threadHandler tiles the time from reading a request to its last byte. The request was read by a thread that served
// nothing else meanwhile, and other threads may have worked for it. If the last of those answered the request, the time
// after the reader let go of it is tiled by what that one did.
func (s *segmenter) threadHandler(r *timeline.Request, p *painter) {
	on := timeline.StrandID(timeline.None)
	if len(r.Parts) > 0 {
		on = r.Strand
	}
	w := follow{strand: r.Strand, from: s.in.Requests[r.ID].From, to: r.End, spans: s.spans(r.ID, on)}
	left := s.in.Requests[r.ID].Left
	if left == recording.NoTime {
		s.follow(r, w, p)
		return
	}
	w.to = left
	s.follow(r, w, p)
	if part := s.partAt(r.ID, s.in.Requests[r.ID].Writer, r.End); part != nil {
		s.descend(r, part, follow{strand: r.Strand, from: left, to: r.End}, p)
		return
	}
	p.add(timeline.Segment{From: left, To: r.End, Phase: timeline.PhaseHandler, Cause: timeline.CauseUnknown, Quality: timeline.Inferred, Call: timeline.None, Strand: timeline.None, Blocker: timeline.None})
}

// state gives a piece its cause by the strand's state; false if the state is unknown.
func (s *segmenter) state(r *timeline.Request, iv timeline.Interval, piece *timeline.Segment) bool {
	cause, quality, known := s.stateCause(piece.Strand, iv)
	piece.Cause, piece.Quality = cause, quality
	if iv.State == timeline.StateSleeping || iv.State == timeline.StateDisk {
		s.asleep(r, iv, piece)
	} else if piece.Phase == timeline.PhaseRemote { // it did something else while it waited
		piece.Phase, piece.Call = timeline.PhaseHandler, timeline.None
	}
	return known
}

// asleep sets the cause of a sleeping piece if it differs from what its Wait says. Until the answer arrives, the piece
// waits for the peer, whatever it sleeps in. In other phases the system call decides.
func (s *segmenter) asleep(r *timeline.Request, iv timeline.Interval, piece *timeline.Segment) {
	network := iv.Off != nil && timeline.NetworkWait(iv.Off.Syscall)
	switch {
	case piece.Phase == timeline.PhasePickUp && network:
		piece.Cause, piece.Quality = timeline.CauseRunnable, timeline.Inferred
		if piece.To.Sub(piece.From) > timeline.WakeLatency {
			piece.Cause = timeline.CauseUnknown
		}
	case piece.Phase == timeline.PhaseRemote, piece.Call != timeline.None && network:
		piece.Cause, piece.Quality = timeline.CauseRemote, timeline.Exact
	case network && s.looksUp(piece.Strand, iv):
		piece.Phase, piece.Cause, piece.Quality = timeline.PhaseDNS, timeline.CauseRemote, timeline.Exact
	case network && piece.Strand == r.Strand && s.onClient(r, iv, piece):
		piece.Cause, piece.Quality = timeline.CauseClient, timeline.Exact
	case piece.Cause == timeline.CauseCondition && s.lapsed(piece.Strand, piece.From, r.End):
		piece.Cause = timeline.CauseSleep
	}
}

// manyLapses bounds how many later waits are looked at.
const manyLapses = 64

// lapsed reports whether a wait for another thread ended by its own time limit, not by a thread. A thread that polls
// with timed waits until something is done does wait for another thread, provided that a thread ends the last of these
// waits. lapsed checks the waits that follow, up to a time.
func (s *segmenter) lapsed(strand timeline.StrandID, at, until recording.Time) bool {
	id := s.t.WaitAt(strand, at)
	if id == timeline.None || s.t.Waits[id].Off == nil || s.t.Waits[id].Off.SP == 0 || !outOfTime(s.t.Waits[id].Off) {
		return false
	}
	of := &s.t.Waits[id]
	for n, id := range s.t.WaitsIn(strand, of.To, until) {
		x := &s.t.Waits[id]
		switch {
		case n == manyLapses:
			return false
		case x.From < of.To:
		case x.Off != nil && x.Off.SP == of.Off.SP && x.Off.Timed == 1:
			if !outOfTime(x.Off) {
				return false
			}
		case x.Cause != timeline.CauseInterpreterLock && x.Cause != timeline.CauseLock:
			return true
		}
	}
	return true
}

// outOfTime reports whether a timer ended a sleep that had a limit.
func outOfTime(off *timeline.Off) bool {
	return off.Timed == 1 && off.WakerKind == recording.WakerInterrupt
}

// onClient reports whether a piece waits for the client: for the rest of the request's body, or for room to write more
// of the response.
func (s *segmenter) onClient(r *timeline.Request, iv timeline.Interval, piece *timeline.Segment) bool {
	read := s.in.Requests[r.ID].Read
	if r.FirstWrite != 0 && piece.From >= r.FirstWrite {
		return true
	}
	return read > r.FirstRead && piece.From < read && !(iv.Off.Timed == 1 && iv.Off.Arg == 0)
}
