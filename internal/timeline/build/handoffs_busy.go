package build

import (
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// openOnes tell of some requests how many are open, and which, if it is one alone.
type openOnes struct {
	starts, ends   []recording.Time
	started, ended []timeline.RequestID // sums of the requests up to each
}

// openAmong lists the requests of a kind.
func openAmong(t *timeline.Timeline, of func(*timeline.Request) bool) *openOnes {
	var list []timeline.RequestID
	for i := range t.Requests {
		if of(&t.Requests[i]) {
			list = append(list, timeline.RequestID(i))
		}
	}
	return newOpenOnes(t, list)
}

// openIn lists the requests of each process.
func openIn(t *timeline.Timeline) map[recording.ProcessID]*openOnes {
	of, all := map[recording.ProcessID][]timeline.RequestID{}, map[recording.ProcessID]*openOnes{}
	for i := range t.Requests {
		p := t.Requests[i].Process
		of[p] = append(of[p], timeline.RequestID(i))
	}
	for p, list := range of {
		all[p] = newOpenOnes(t, list)
	}
	return all
}

func newOpenOnes(t *timeline.Timeline, list []timeline.RequestID) *openOnes {
	sums := func(at func(*timeline.Request) recording.Time) (times []recording.Time, sums []timeline.RequestID) {
		sum := timeline.RequestID(0)
		for _, r := range lists.ByTime(slices.Clone(list), func(r *timeline.RequestID) recording.Time { return at(&t.Requests[*r]) }) {
			sum += r
			times, sums = append(times, at(&t.Requests[r])), append(sums, sum)
		}
		return times, sums
	}
	o := &openOnes{}
	o.starts, o.started = sums(func(r *timeline.Request) recording.Time { return r.FirstRead })
	o.ends, o.ended = sums(func(r *timeline.Request) recording.Time { return r.End })
	return o
}

// during returns how many are open at some time between from and to.
func (o *openOnes) during(from, to recording.Time) int {
	return countUpTo(o.starts, to) - countUpTo(o.ends, from-1)
}

// at returns the request that is open at a time, None if that is not one alone.
func (o *openOnes) at(t recording.Time) timeline.RequestID {
	if o == nil || o.during(t, t) != 1 {
		return timeline.None
	}
	return sumOf(o.started, countUpTo(o.starts, t)) - sumOf(o.ended, countUpTo(o.ends, t-1))
}

// throughout returns the request that is open all through a span if no other is open in
// any of it, or None.
func (o *openOnes) throughout(from, to recording.Time) timeline.RequestID {
	if o == nil || o.during(from, to) != 1 || o.during(to, to) != 1 || o.during(from, from) != 1 {
		return timeline.None
	}
	return o.at(to)
}

// sumOf is that of the first n.
func sumOf(sums []timeline.RequestID, n int) timeline.RequestID {
	if n == 0 {
		return 0
	}
	return sums[n-1]
}

// busyTimes are the spans in which strands ran for requests of their own, by process,
// in order of their start.
type busyTimes struct {
	runs  map[recording.ProcessID][]timeline.Stint
	reach map[recording.ProcessID][]recording.Time // the latest end of the spans up to each
	t     *timeline.Timeline
}

// newBusyTimes lists when strands ran that may hand over work: for requests of their own.
func (h *handOffs) newBusyTimes() busyTimes {
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
