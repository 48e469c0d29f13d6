package handoffs

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// wake is an edge between strands: one made the other runnable from inside a futex wake,
// as whoever gives back a lock, hands over work or delivers a result does.
type wake struct {
	at     recording.Time
	by, of timeline.StrandID
	off    *timeline.Off // what it ended
}

// wakes are the edges of a recording in order of time, by who woke.
type wakes struct{ by [][]wake }

func buildWakes(f *facts.Facts) wakes {
	counts := make([]int32, len(f.Threads))
	n := 0
	each := func(visit func(wake)) {
		for i := range f.Threads {
			for _, s := range f.Threads[i].Steps {
				if !timeline.HandedOn(s.Off) {
					continue
				}
				if by := f.Strand(s.Off.Waker); by != timeline.None && int(by) != i {
					visit(wake{s.Off.Woken, by, timeline.StrandID(i), s.Off})
				}
			}
		}
	}
	each(func(w wake) { counts[w.by]++; n++ })
	all := make([]wake, 0, n)
	each(func(w wake) { all = append(all, w) })
	w := wakes{lists.Sized[wake](counts)}
	for _, one := range lists.ByTime(all, func(w *wake) recording.Time { return w.at }) {
		w.by[one.by] = append(w.by[one.by], one)
	}
	return w
}
