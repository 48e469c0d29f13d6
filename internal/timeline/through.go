package timeline

import (
	"slices"

	"github.com/getdwell/dwell/recording"
)

const (
	manyHelpers      = 4  // through how many helpers a wait is followed
	manyHelperSleeps = 64 // how many sleeps of each are looked at
)

// through adds to a list, latest first, what the strand that ended a wait for another thread
// had itself waited for meanwhile: who waits for a helper waits for what that waits for. Only
// waits for something outside of the process count: a program that it started, a disk, the
// answer to a look-up. They are followed back to where the helper waited for work: for a thread that it had not asked for anything.
func (s *segmenter) through(strand StrandID, iv Interval, hands int, list []Segment) []Segment {
	if hands == manyHelpers || iv.Off == nil || iv.Off.WakerKind != recording.WakerThread {
		return list
	}
	if id := s.t.WaitAt(strand, iv.From); id == None || s.t.Waits[id].Cause != CauseCondition {
		return list
	}
	helper := s.f.strand(iv.Off.Waker)
	if helper == None || helper == strand || s.t.Strands[helper].Process != s.t.Strands[strand].Process {
		return list
	}
	did, seen := clipped(s.t.Strands[helper].Intervals, iv.From, iv.Off.Woken), 0
	for _, b := range slices.Backward(did) {
		if b.State != StateSleeping && b.State != StateDisk || b.To > iv.Off.Woken {
			continue
		}
		if seen++; seen > manyHelperSleeps {
			break
		}
		g := Segment{From: b.From, To: b.To, Phase: PhaseHandler, Quality: Inferred, Call: None, Strand: None, Blocker: None}
		id := s.t.WaitAt(helper, b.From)
		switch {
		case id == None && s.looksUp(helper, b):
			g.Phase, g.Cause = PhaseDNS, CauseRemote
			list = append(list, g)
		case id != None && (s.t.Waits[id].Rule == RuleChild || s.t.Waits[id].Cause == CauseDisk):
			g.Cause = s.t.Waits[id].Cause
			list = append(list, g)
		case id != None && s.t.Waits[id].Cause != CauseInterpreterLock:
			if list = s.through(helper, b, hands+1, list); !s.asked(helper, &b, iv.From) {
				return list // it waited for work
			}
		}
	}
	return list
}

// asked reports that a strand had woken, since a time, the one that ended its wait: that did something for it.
func (s *segmenter) asked(strand StrandID, iv *Interval, since Time) bool {
	if iv.Off == nil || iv.Off.WakerKind != recording.WakerThread {
		return false
	}
	by := s.f.strand(iv.Off.Waker)
	if by == None || s.t.Strands[by].Process != s.t.Strands[strand].Process {
		return false
	}
	ivs := clipped(s.t.Strands[by].Intervals, since, iv.Off.Woken)
	for _, b := range ivs[max(0, len(ivs)-manyHelperSleeps):] {
		if b.Off != nil && b.State == StateSleeping && b.Off.WakerKind == recording.WakerThread && s.f.strand(b.Off.Waker) == strand && b.Off.Woken >= since {
			return true
		}
	}
	return false
}

// helped tiles a sleep that a helper ended by what the helper waited for; false if that is
// not known of any part of it.
func (s *segmenter) helped(iv Interval, piece Segment, p *painter) bool {
	if iv.State != StateSleeping || piece.Call != None {
		return false
	}
	list := s.through(piece.Strand, iv, 0, nil)
	if len(list) == 0 {
		return false
	}
	rest := piece
	rest.Cause, rest.Quality = CauseCondition, Inferred
	for _, g := range slices.Backward(list) {
		if g.From, g.To = max(g.From, rest.From), min(g.To, piece.To); g.From >= g.To {
			continue
		}
		rest.To, g.Strand = g.From, piece.Strand // whose stack tells where in the code
		p.add(rest)
		p.add(g)
		rest.From = g.To
	}
	rest.To = piece.To
	p.add(rest)
	return true
}
