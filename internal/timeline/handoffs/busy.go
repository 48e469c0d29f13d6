package handoffs

import (
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// busyTimes are the spans in which strands ran for requests of their own, by process,
// in order of their start.
type busyTimes struct {
	runs  map[recording.ProcessID][]timeline.Stint
	reach map[recording.ProcessID][]recording.Time // the latest end of the spans up to each
	t     *timeline.Timeline
}

// newBusyTimes lists when strands ran that may hand over work: for requests of their own.
func (h *rulings) newBusyTimes() busyTimes {
	b := busyTimes{map[recording.ProcessID][]timeline.Stint{}, map[recording.ProcessID][]recording.Time{}, h.t}
	for s := range h.t.Strands {
		for _, own := range h.o[s] {
			own.To = min(own.To, h.bursts[own.Request])
			b.add(timeline.StrandID(s), own)
		}
		for _, own := range h.serving[s] {
			own.To = min(own.To, h.bursts[own.Request])
			b.add(timeline.StrandID(s), own)
		}
	}
	for p, list := range b.runs {
		list = lists.ByTime(list, func(s *timeline.Stint) recording.Time { return s.From })
		b.runs[p], b.reach[p] = list, causality.Reaching(list, func(s *timeline.Stint) recording.Time { return s.To })
	}
	return b
}

// add adds when a strand ran within a span.
func (b *busyTimes) add(s timeline.StrandID, in timeline.Stint) {
	st := &b.t.Strands[s]
	for _, iv := range timeline.Clipped(st.Intervals, in.From, in.To) {
		if iv.State == timeline.StateRunning {
			b.runs[st.Process] = append(b.runs[st.Process], timeline.Stint{From: max(iv.From, in.From), To: min(iv.To, in.To), Request: in.Request})
		}
	}
}

// foreign returns from when on, after a time, a strand ran for another request than r.
func (b *busyTimes) foreign(p recording.ProcessID, r timeline.RequestID, after recording.Time) recording.Time {
	list, reach := b.runs[p], b.reach[p]
	i := sort.Search(len(list), func(k int) bool { return list[k].From > after })
	for k := i - 1; k >= 0 && reach[k] > after; k-- {
		if list[k].Request != r && list[k].To > after || i-k > manySteps {
			return after
		}
	}
	for ; i < len(list); i++ {
		if list[i].Request != r {
			return list[i].From
		}
	}
	return b.t.End
}
