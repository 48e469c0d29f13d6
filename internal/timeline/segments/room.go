package segments

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// roomOrBehind returns, latest first, what a strand waited for until the strand by let it continue. If it waited for
// room in a full queue, it waited for by, which takes from the queue but does not serve requests: whatever by did, it
// was busy with earlier items, as a worker is with the tasks of others. For all other waits the result is what by did.
func roomOrBehind(s *segmenter, w follow, by timeline.StrandID, placed bool) []timeline.Segment {
	id := s.t.WaitAt(w.strand, w.from)
	if id == timeline.None || !timeline.ForRoom(s.t.Waits[id].Rule) || s.serves[by] || !stayed(s, by, id) {
		return s.behind(w, by, placed)
	}
	return []timeline.Segment{{From: w.from, To: w.to, Phase: timeline.PhaseHandler, Cause: timeline.CausePool, Quality: timeline.Inferred,
		Call: timeline.None, Strand: by, Blocker: timeline.None}}
}

// stayed reports whether a strand existed before the request of a wait began: it was not started for that request.
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
