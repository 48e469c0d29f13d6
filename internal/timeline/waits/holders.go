package waits

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// manyHolds bounds the holds of a wait that are searched one by one; more are searched by strand, or not at all.
const manyHolds = 64

// holders determines which strands held what each Wait was for. While a strand sleeps waiting for a lock, any release
// wakes a strand. So between two such wake-ups, the strand that made the second one held the lock: if it waited itself,
// from the end of that wait on. It did not hold the lock while it waited for work; the holder during that time is
// unknown. A wake-up from outside a futex wake releases nothing.
func (s *Sleeps) holders() {
	t := s.t
	of := make([][]int32, len(t.Locks))
	for i := range s.all {
		x := &s.all[i]
		if x.wait == timeline.None || t.Waits[x.wait].Lock == timeline.None || t.Waits[x.wait].Rule == timeline.RuleShared {
			continue
		}
		switch id := t.Waits[x.wait].Lock; t.Locks[id].Kind {
		case timeline.CauseLock, timeline.CauseInterpreterLock, timeline.CausePool:
			of[id] = append(of[id], int32(i))
		}
	}
	for id := range of {
		s.inOrder(of[id])
	}
	one := s.sameLocks(of)
	for id, list := range of {
		switch l := &t.Locks[id]; {
		case len(list) == 0 || int(one[id]) != id:
		case l.Kind == timeline.CausePool, l.Address == 0 && l.Kind == timeline.CauseLock && s.several(list):
			s.poolHolds(list)
		default:
			s.lockHolds(list, l.Kind)
		}
	}
	s.ownerHolds()
	s.sharedHolds()
}

// inOrder sorts sleeps by their ends.
func (s *Sleeps) inOrder(list []int32) {
	slices.Sort(list)
	places := lists.Sorted(len(list), func(k int) recording.Time { return s.all[list[k]].to })
	for k, i := range places {
		places[k] = list[i]
	}
	copy(list, places)
}

// held is when each strand last returned from waiting for a lock, and when it last released it.
type held map[timeline.StrandID][2]recording.Time

// lockHolds gives the Waits for one lock their Holds. The lock's sleeps are in order of end.
func (s *Sleeps) lockHolds(list []int32, kind timeline.Cause) {
	var holds []timeline.Hold
	last, had := recording.Time(0), held{}
	pending := s.pending(list)
	for k, i := range list {
		x := &s.all[i]
		by, let, basis := s.releaser(x.off, x.strand), x.to, timeline.HoldByRelease
		switch {
		case kind == timeline.CauseInterpreterLock && x.verdict.code == timeline.RuleRubyYield && by != timeline.None:
			by, let, basis = x.strand, x.from, timeline.HoldByYield
		case kind == timeline.CauseInterpreterLock && !lets(x):
			by = timeline.None
		}
		if by != timeline.None {
			h := timeline.Hold{Strand: by, From: s.busySince(by, max(last, had[by][0]), let), To: let, Basis: basis}
			if got := had[by][0]; got > had[by][1] && got == h.From && pending[k] <= got {
				h.Since = got
			}
			if h.From < h.To {
				holds = append(holds, h)
			}
			last = max(last, let)
			had[by] = [2]recording.Time{had[by][0], let}
		}
		had[x.strand] = [2]recording.Time{x.to, had[x.strand][1]}
	}
	if len(holds) > 0 {
		s.share(s.cut(holds, list), list)
	}
}

// busySince returns since when a strand has not waited for work, in a span at whose end it is awake.
func (s *Sleeps) busySince(id timeline.StrandID, from, to recording.Time) recording.Time {
	list := s.t.Strands[id].Waits
	for i := sort.Search(len(list), func(k int) bool { return s.t.Waits[list[k]].From >= to }); i > 0; i-- {
		switch w := &s.t.Waits[list[i-1]]; {
		case w.To <= from:
			return from
		case w.Rule == timeline.RuleIdle:
			return w.To
		}
	}
	return from
}

// lets reports whether the strand that ended a sleep for an interpreter's lock thereby released the lock. A CPython
// wait without a time limit is that of a thread that had to give the lock up: the thread that has just taken the lock
// ends it. In Ruby (RuleRubyYield) the waiting thread itself released the lock when its wait began.
func lets(x *sleepAt) bool {
	if strings.HasPrefix(x.verdict.code, "ruby-") {
		return x.verdict.code == timeline.RuleRubyGVL
	}
	return x.off.Timed == 1
}

// pending returns, for sleeps in order of end, since when at least one strand waited without a break at each end:
// meanwhile the lock cannot have been released unseen.
func (s *Sleeps) pending(list []int32) []recording.Time {
	since := make([]recording.Time, len(list))
	for k := len(list) - 1; k >= 0; k-- {
		since[k] = s.all[list[k]].from
		if k+1 < len(list) {
			since[k] = min(since[k], since[k+1])
		}
	}
	return since
}

// cut divides holds where Waits begin and end, so that each piece lies either within a Wait or outside it.
func (s *Sleeps) cut(holds []timeline.Hold, list []int32) []timeline.Hold {
	ends := make([]recording.Time, 0, 2*len(list))
	for _, i := range list {
		w := &s.t.Waits[s.all[i].wait]
		ends = append(ends, w.From, w.To)
	}
	slices.Sort(ends)
	ends = slices.Compact(ends)
	pieces := make([]timeline.Hold, 0, len(holds)+len(ends))
	k := 0
	for _, h := range holds {
		for k < len(ends) && ends[k] <= h.From {
			k++
		}
		for j := k; j < len(ends) && ends[j] < h.To; j++ {
			piece := h
			piece.To, h.From = ends[j], ends[j]
			pieces = append(pieces, piece)
			k = j
		}
		pieces = append(pieces, h)
	}
	return pieces
}

// share gives each Wait the pieces that lie within it. Waits for one lock share the slice.
func (s *Sleeps) share(pieces []timeline.Hold, list []int32) {
	byFrom := func(h timeline.Hold, at recording.Time) int { return cmp.Compare(h.From, at) }
	var of map[timeline.StrandID][]int32 // where in pieces each holder is; made if there are many holds
	for _, i := range list {
		w := &s.t.Waits[s.all[i].wait]
		if w.Holds != nil {
			continue
		}
		a, _ := slices.BinarySearchFunc(pieces, w.From, byFrom)
		b, _ := slices.BinarySearchFunc(pieces, w.To, byFrom)
		w.Holds = pieces[a:b:b]
		if b-a > manyHolds && of == nil {
			of = placesOf(pieces)
		}
		own := func(h timeline.Hold) bool { return h.Strand == w.Strand }
		if b-a > manyHolds && !anyIn(of[w.Strand], int32(a), int32(b)) {
			continue
		}
		if slices.ContainsFunc(w.Holds, own) {
			w.Holds = slices.DeleteFunc(slices.Clone(w.Holds), own)
		}
	}
}

// placesOf lists, by holder, the indexes of its pieces.
func placesOf(pieces []timeline.Hold) map[timeline.StrandID][]int32 {
	of := map[timeline.StrandID][]int32{}
	for i := range pieces {
		of[pieces[i].Strand] = append(of[pieces[i].Strand], int32(i))
	}
	return of
}

// anyIn reports whether any of some ascending numbers is in [from, to).
func anyIn(list []int32, from, to int32) bool {
	i, _ := slices.BinarySearch(list, from)
	return i < len(list) && list[i] < to
}

// ownerHolds adds the owner that a mutex named when a Wait began, up to the first hold that is known otherwise.
func (s *Sleeps) ownerHolds() {
	for i := range s.all {
		x := &s.all[i]
		if x.off.Owner == recording.NoThread || x.wait == timeline.None || i > 0 && s.all[i-1].wait == x.wait {
			continue
		}
		w := &s.t.Waits[x.wait]
		by := s.f.Strand(x.off.Owner)
		if w.Cause != timeline.CauseLock || len(w.Holds) > manyHolds || by == timeline.None || by == x.strand || s.t.Strands[by].Process != s.t.Strands[x.strand].Process {
			continue
		}
		h := timeline.Hold{Strand: by, From: w.From, To: w.To, Basis: timeline.HoldByOwner}
		if len(w.Holds) > 0 {
			h.To = w.Holds[0].From
		}
		if h.From < h.To {
			w.Holds = append([]timeline.Hold{h}, w.Holds...)
		}
	}
}
