package build

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

// futexWait reports syscalls in which a thread waits for another thread.
func futexWait(syscall string) bool {
	switch syscall {
	case "futex", "futex_wait", "futex_waitv":
		return true
	}
	return false
}

// onFutex reports a sleep in which a thread waited for another thread.
func onFutex(off *timeline.Off) bool {
	return off != nil && off.State == recording.OffSleep && futexWait(off.Syscall)
}

// handedOn reports a sleep that another watched thread ended by a futex wake.
func handedOn(off *timeline.Off) bool {
	return onFutex(off) && off.Release == 1 && off.WakerKind == recording.WakerThread
}

func buildWakes(f *facts.Facts) wakes {
	counts := make([]int32, len(f.Threads))
	n := 0
	each := func(visit func(wake)) {
		for i := range f.Threads {
			for _, s := range f.Threads[i].Steps {
				if !handedOn(s.Off) {
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
