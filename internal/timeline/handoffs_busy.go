package timeline

import (
	"sort"

	"github.com/getdwell/dwell/recording"
)

// openOnes tell, of the requests of a process, which is open if it is the only one.
type openOnes struct {
	starts, ends   []Time
	started, ended []RequestID // sums of the requests up to each
}

// newOpenOnes lists the requests of each process.
func newOpenOnes(t *Timeline) map[recording.ProcessID]*openOnes {
	all := map[recording.ProcessID]*openOnes{}
	list := make([]RequestID, len(t.Requests))
	for i := range list {
		list[i] = RequestID(i)
	}
	of := func(r RequestID) *openOnes {
		p := t.Requests[r].Process
		if all[p] == nil {
			all[p] = &openOnes{}
		}
		return all[p]
	}
	for _, r := range byTime(list, func(r *RequestID) Time { return t.Requests[*r].FirstRead }) {
		o := of(r)
		o.starts, o.started = append(o.starts, t.Requests[r].FirstRead), append(o.started, r+last(o.started))
	}
	for _, r := range byTime(list, func(r *RequestID) Time { return t.Requests[*r].End }) {
		o := of(r)
		o.ends, o.ended = append(o.ends, t.Requests[r].End), append(o.ended, r+last(o.ended))
	}
	return all
}

func last(sums []RequestID) RequestID {
	if len(sums) == 0 {
		return 0
	}
	return sums[len(sums)-1]
}

// at returns the request that is open at a time, None if that is not one alone.
func (o *openOnes) at(t Time) RequestID {
	if o == nil {
		return None
	}
	n, m := countUpTo(o.starts, t), countUpTo(o.ends, t-1)
	if n-m != 1 {
		return None
	}
	return last(o.started[:n]) - last(o.ended[:m])
}

// busyTimes are the spans in which strands ran for requests of their own, by process,
// in order of their start.
type busyTimes struct {
	runs  map[recording.ProcessID][]stint
	reach map[recording.ProcessID][]Time // the latest end of the spans up to each
	t     *Timeline
}

// newBusyTimes lists when strands ran that may hand over work: for requests of their own.
func (h *handOffs) newBusyTimes() busyTimes {
	b := busyTimes{map[recording.ProcessID][]stint{}, map[recording.ProcessID][]Time{}, h.t}
	for s := range h.t.Strands {
		for _, own := range h.o[s] {
			own.to = min(own.to, h.bursts[own.request])
			b.add(StrandID(s), own)
		}
		for _, own := range h.serving[s] {
			own.to = min(own.to, h.bursts[own.request])
			b.add(StrandID(s), own)
		}
	}
	for p, list := range b.runs {
		list = byTime(list, func(s *stint) Time { return s.from })
		b.runs[p] = list
		reach := make([]Time, len(list))
		for i, s := range list {
			reach[i] = s.to
			if i > 0 {
				reach[i] = max(reach[i], reach[i-1])
			}
		}
		b.reach[p] = reach
	}
	return b
}

// add adds when a strand ran within a span.
func (b *busyTimes) add(s StrandID, in stint) {
	st := &b.t.Strands[s]
	for _, iv := range clipped(st.Intervals, in.from, in.to) {
		if iv.State == StateRunning {
			b.runs[st.Process] = append(b.runs[st.Process], stint{max(iv.From, in.from), min(iv.To, in.to), in.request})
		}
	}
}

// foreign returns from when on, after a time, a strand ran for another request than r.
func (b *busyTimes) foreign(p recording.ProcessID, r RequestID, after Time) Time {
	list, reach := b.runs[p], b.reach[p]
	i := sort.Search(len(list), func(k int) bool { return list[k].from > after })
	for k := i - 1; k >= 0 && reach[k] > after; k-- {
		if list[k].request != r && list[k].to > after || i-k > manyPieces {
			return after
		}
	}
	for ; i < len(list); i++ {
		if list[i].request != r {
			return list[i].from
		}
	}
	return b.t.End
}
