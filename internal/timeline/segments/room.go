package segments

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// roomOrBehind is what somebody waited for whom a strand let go on that does no work for the request, latest first: of
// a wait for room in a full queue that strand, which takes from it. Whatever it did meanwhile, it was
// busy with what came before, as a worker is with the tasks of others. Of all other waits, what it did.
func roomOrBehind(s *segmenter, w follow, by timeline.StrandID, placed bool) []timeline.Segment {
	id := s.t.WaitAt(w.strand, w.from)
	if id == timeline.None || !timeline.ForRoom(s.t.Waits[id].Rule) || s.serves[by] || !stayed(s, by, id) {
		return s.behind(w, by, placed)
	}
	return []timeline.Segment{{From: w.from, To: w.to, Phase: timeline.PhaseHandler, Cause: timeline.CausePool, Quality: timeline.Inferred,
		Call: timeline.None, Strand: by, Blocker: timeline.None}}
}

// stayed reports that a strand was there before the request of a wait began: it was not started for that.
func stayed(s *segmenter, by timeline.StrandID, of timeline.WaitID) bool {
	since := s.t.Waits[of].From
	if r := s.t.Waits[of].Request; r != timeline.None {
		since = s.t.Requests[r].Start
	}
	st := &s.t.Strands[by]
	if st.Goroutine == recording.NoGoroutine {
		return len(st.Intervals) > 0 && st.Intervals[0].From < since
	}
	list := s.goRuns.Stints[timeline.GoroutineKey{Process: st.Process, Goroutine: st.Goroutine}]
	return len(list) > 0 && list[0].From < since
}
