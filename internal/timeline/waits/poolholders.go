package waits

import (
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// visits is how one strand used a pool, in order of time.
type visits struct {
	got  []int32          // its sleeps for the pool
	gave []recording.Time // when it ended another strand's sleep
}

// poolHolds gives the Waits for one pool, or at one place for indistinguishable locks, their Holds. The strand that
// gave a part of the pool back, which ended the Wait, had held that part since its own wait ended; before that, the
// strand that had given the part to it held it. Nothing is said of the strands that hold other parts of the pool
// meanwhile. The pool's sleeps are in order of end.
func (s *Sleeps) poolHolds(list []int32) {
	of := map[timeline.StrandID]*visits{}
	visit := func(id timeline.StrandID) *visits { return lists.Entry(of, id) }
	for _, i := range list {
		x := &s.all[i]
		visit(x.strand).got = append(visit(x.strand).got, i)
		if by := s.releaser(x.off, x.strand); by != timeline.None {
			visit(by).gave = append(visit(by).gave, x.to)
		}
	}
	for _, i := range list {
		x := &s.all[i]
		w := &s.t.Waits[x.wait]
		if by := s.releaser(x.off, x.strand); by != timeline.None && x.to == w.To {
			w.Holds = s.poolChain(w, by, of)
		}
	}
}

// poolChain follows one part of a pool back, from the strand that gave it to the waiting strand.
func (s *Sleeps) poolChain(w *timeline.Wait, by timeline.StrandID, of map[timeline.StrandID]*visits) []timeline.Hold {
	var holds []timeline.Hold
	for end := w.To; by != timeline.None && by != w.Strand && end > w.From && len(holds) < manyHolds; {
		v := of[by]
		gave := v.gaveBefore(end)
		y := s.gotBefore(v, end)
		if y == nil || y.to < gave {
			if gave <= w.From && s.servedSince(by, end) <= w.From { // it held it all the time, for a request that began before the wait
				holds = append(holds, timeline.Hold{Strand: by, From: w.From, To: end})
			}
			break // else it took it again without waiting: when is not known
		}
		h := timeline.Hold{Strand: by, From: max(w.From, y.back), To: end}
		if y.to >= w.From {
			h.Since = y.back
		}
		if h.From < h.To {
			holds = append(holds, h)
		}
		end, by = y.to, s.releaser(y.off, y.strand)
	}
	slices.Reverse(holds)
	return holds
}

// servedSince returns since when a strand has worked for its request at a time; that time itself if it works for none.
func (s *Sleeps) servedSince(id timeline.StrandID, at recording.Time) recording.Time {
	for _, o := range []timeline.Stints{s.owners, s.parts} {
		list := o[id]
		i := sort.Search(len(list), func(k int) bool { return list[k].From > at })
		if i > 0 && at < list[i-1].To {
			return list[i-1].From
		}
	}
	return at
}

// gaveBefore returns when the strand last gave something back before a time.
func (v *visits) gaveBefore(at recording.Time) recording.Time {
	i := sort.Search(len(v.gave), func(k int) bool { return v.gave[k] >= at })
	if i == 0 {
		return recording.NoTime
	}
	return v.gave[i-1]
}

// gotBefore returns the strand's last sleep for the pool that ended before a time.
func (s *Sleeps) gotBefore(v *visits, at recording.Time) *sleepAt {
	i := sort.Search(len(v.got), func(k int) bool { return s.all[v.got[k]].to >= at })
	if i == 0 {
		return nil
	}
	return &s.all[v.got[i-1]]
}
