package segments

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// A strand that waits for another strand of its process waits for what that one does: without that activity the wait
// would have ended sooner, whichever request the activity served. The activity is followed back from the end of the
// wait. If the other strand itself waited until a third one woke it, what came before is what the third one did.
const (
	manyActivities = 1024      // how many activities of strands are looked at for one wait
	firstLook      = 1_000_000 // ns: how far back to look at first
)

// behind lists, latest first, what a strand waited for in a span, given that the strand by let it continue at the end
// of the span. Unknown spans are left out. If the place in the code of a wait is not known (it may be a lock's),
// everything is left out except what happens outside the process. The time is linear in the activities within the span,
// up to a bound: what is further back is left out.
func (s *segmenter) behind(w follow, by timeline.StrandID, placed bool) (list []timeline.Segment) {
	look, hands, seen := recording.Duration(firstLook), 0, 0
	timer := lingering{}
	for at := w.to; at > w.from && seen < manyActivities; look *= 2 {
		begin := max(w.from, at-recording.Time(look))
		next, ended := timeline.StrandID(timeline.None), begin
		for _, a := range slices.Backward(s.t.Doing(by, begin, at)) {
			seen++
			awaits := s.t.Goroutines.AwaitsTimer(by, a)
			if timer.has(s.t, by, a) || awaits {
				a.Cause = timeline.CauseSleep
			}
			if next, ended = s.endedBy(by, a, at); next != timeline.None {
				placed = placed && (a.Stack != timeline.None || s.t.Strands[by].Goroutine != recording.NoGoroutine)
				break
			}
			g := s.doneBehind(by, a)
			if g.Cause == timeline.CauseUnknown && notBegun(s, w, by, a) {
				g.Cause = timeline.CauseRunnable
			}
			outside := g.Cause == timeline.CauseIPC || g.Cause == timeline.CauseDisk || g.Phase == timeline.PhaseDNS
			if outside && g.Cause != timeline.CauseDisk || awaits && s.t.WaitAt(w.strand, a.From) != timeline.None {
				g.Strand = w.strand // which asked for it: its stack shows where in the code
			}
			if outside || placed && g.Cause != timeline.CauseUnknown {
				list = append(list, g)
			} else if g.Cause == timeline.CauseUnknown {
				list = append(list, forBytes(s, w, by, a)...)
			}
		}
		at = ended
		if next == timeline.None {
			continue
		}
		if hands++; next == w.strand || hands > manyHands {
			break // its own doing, before it waited
		}
		by, look = next, firstLook
	}
	return list
}

// lingering detects, from its end backwards, the timer wait of a strand that others wait for meanwhile, such as a
// strand that collects work into a batch. Each arrival wakes the strand, and it waits again for the rest of the time.
type lingering struct {
	since recording.Time // since when it has waited for the timer that ended the wait; 0: no timer did
	depth int64          // of its stack meanwhile
}

// collects is how long such a strand may compute with an arrival before it waits again.
const collects recording.Time = 200_000

// has reports whether an activity was part of the wait for the timer.
func (l *lingering) has(t *timeline.Timeline, strand timeline.StrandID, a timeline.Activity) bool {
	if a.Cause == timeline.CauseRunnable || a.Cause == timeline.CauseInterpreterLock || a.Cause == timeline.CauseOnCPU && l.since-a.From <= collects {
		return false
	}
	limited, timer, depth := limitedWait(t, strand, a)
	if goroutine := t.Strands[strand].Goroutine != recording.NoGoroutine; goroutine && a.Cause == timeline.CauseUnknown && l.since == a.To {
		limited, timer = true, true // the same wait, whose end was looked at before
	}
	if limited && (timer || l.since != 0 && l.depth == depth) {
		l.since, l.depth = a.From, depth
		return true
	}
	l.since = 0
	return false
}

// limitedWait reports whether an activity was a wait for another strand, at a known place and for a limited time;
// whether a timer ended it; and how deep its stack was, which is not known for a goroutine in a select.
func limitedWait(t *timeline.Timeline, strand timeline.StrandID, a timeline.Activity) (limited, timer bool, depth int64) {
	switch {
	case a.Wait == timeline.None && a.Cause == timeline.CauseUnknown && t.Strands[strand].Goroutine != recording.NoGoroutine:
		end := t.Goroutines.SelectedIn(strand, a.From, a.To)
		return end != nil, end != nil && end.Timer, 0
	case a.Wait != timeline.None && a.Cause == timeline.CauseCondition && a.Stack != timeline.None:
		off := t.Waits[a.Wait].Off
		if off == nil || off.Timed != 1 || off.SP == 0 {
			return false, false, 0
		}
		return true, off.WakerKind == recording.WakerInterrupt, off.SP
	}
	return false, false, 0
}

// endedBy returns the strand that ended an activity, and when, if the activity was a wait for another strand: for work,
// or for a result. It returns None if it was not, or if no strand is known to have ended it by a given time.
func (s *segmenter) endedBy(strand timeline.StrandID, a timeline.Activity, until recording.Time) (by timeline.StrandID, at recording.Time) {
	if by = timeline.None; a.Cause != timeline.CauseCondition && a.Cause != timeline.CauseUnknown {
		return by, a.From
	}
	switch goroutine := s.t.Strands[strand].Goroutine != recording.NoGoroutine; {
	case a.Wait != timeline.None && goroutine:
		by, at = s.t.ParkedBy(a.Wait), s.t.Waits[a.Wait].To
	case a.Wait != timeline.None:
		if off := s.t.Waits[a.Wait].Off; off != nil && off.WakerKind == recording.WakerThread {
			by, at = s.f.Strand(off.Waker), off.Woken
		}
	case goroutine:
		if end := s.t.Goroutines.SelectedIn(strand, a.From, a.To); end != nil {
			by, at = end.By, end.At
		}
	}
	if by == timeline.None || by == strand || at > until || at <= a.From || s.t.Strands[by].Process != s.t.Strands[strand].Process {
		return timeline.None, a.From
	}
	return by, at
}

// notBegun reports that a goroutine which the waiting one started had not run yet. It was started before that wait
// began, so it was ready to run all the while.
func notBegun(s *segmenter, w follow, by timeline.StrandID, a timeline.Activity) bool {
	starter, ok := s.t.Goroutines.Starters[by]
	if !ok || starter != w.strand {
		return false
	}
	st := &s.t.Strands[by]
	list := s.goRuns.Stints[timeline.GoroutineKey{Process: st.Process, Goroutine: st.Goroutine}]
	return len(list) > 0 && list[0].Exact && a.To <= list[0].From
}

// doneBehind returns the segment of a request that waited for an activity of a strand. Its cause is unknown if the
// activity is unknown or was a wait for work.
func (s *segmenter) doneBehind(by timeline.StrandID, a timeline.Activity) timeline.Segment {
	g := timeline.Segment{From: a.From, To: a.To, Phase: timeline.PhaseHandler, Cause: a.Cause, Quality: timeline.Inferred, Call: timeline.None, Strand: by, Blocker: timeline.None}
	switch a.Cause {
	case timeline.CauseCondition:
		g.Cause = timeline.CauseUnknown
	case timeline.CauseUnknown:
		if s.looksUp(by, timeline.Interval{From: a.From, To: a.To}) {
			g.Phase, g.Cause = timeline.PhaseDNS, timeline.CauseRemote
		}
	}
	return g
}

// helped tiles a sleep that another thread of its process ended, by what that thread did. It returns false if that is
// not known for any part of the sleep.
func (s *segmenter) helped(iv timeline.Interval, piece timeline.Segment, p *painter) bool {
	if iv.State != timeline.StateSleeping || piece.Call != timeline.None || iv.Off == nil || iv.Off.WakerKind != recording.WakerThread {
		return false
	}
	id := s.t.WaitAt(piece.Strand, iv.From)
	if id == timeline.None || s.t.Waits[id].Cause != timeline.CauseCondition {
		return false
	}
	helper := s.f.Strand(iv.Off.Waker)
	if helper == timeline.None || helper == piece.Strand || s.t.Strands[helper].Process != s.t.Strands[piece.Strand].Process {
		return false
	}
	w := follow{strand: piece.Strand, from: piece.From, to: min(piece.To, iv.Off.Woken)}
	list := roomOrBehind(s, w, helper, s.t.Waits[id].Stack != timeline.None)
	if len(list) == 0 {
		return false
	}
	rest := piece
	rest.Cause, rest.Quality = timeline.CauseCondition, timeline.Inferred
	for _, g := range slices.Backward(list) {
		rest.To = g.From
		p.add(rest)
		p.add(g)
		rest.From = g.To
	}
	rest.To = piece.To
	p.add(rest)
	return true
}

// goBehind is helped for a goroutine that another goroutine let continue.
func (s *segmenter) goBehind(r *timeline.Request, by timeline.StrandID, w parked, p *painter) {
	for _, g := range slices.Backward(roomOrBehind(s, follow{strand: r.Strand, from: w.from, to: w.to}, by, true)) {
		s.goAbsent(r, w.until(g.From), p)
		if w.from = g.From; (g.Cause == timeline.CauseRemote || g.Cause == timeline.CauseSleep) && len(overlapping(w.calls, g.From, g.To)) > 0 {
			s.goAbsent(r, w.until(g.To), p) // by the phases of the request's own calls
		} else if g.Phase == timeline.PhaseHandler {
			byPhase(w.calls, g.From, g.To, func(x span) {
				part := g
				part.From, part.To, part.Phase, part.Call = x.from, x.to, x.phase, x.call
				p.add(part)
			})
		} else {
			p.add(g)
		}
		w.from = g.To
	}
	s.goAbsent(r, w, p)
}
