package timeline

import "github.com/getdwell/dwell/recording"

// wake is an edge between strands: one made the other runnable from inside a futex wake,
// as whoever gives back a lock, hands over work or delivers a result does.
type wake struct {
	at     Time
	by, of StrandID
	off    *Off // what it ended
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
func onFutex(off *Off) bool {
	return off != nil && off.State == recording.OffSleep && futexWait(off.Syscall)
}

// handedOn reports a sleep that another watched thread ended by a futex wake.
func handedOn(off *Off) bool {
	return onFutex(off) && off.Release == 1 && off.WakerKind == recording.WakerThread
}

func buildWakes(f *facts) wakes {
	counts := make([]int32, len(f.threads))
	n := 0
	each := func(visit func(wake)) {
		for i := range f.threads {
			for _, s := range f.threads[i].steps {
				if !handedOn(s.off) {
					continue
				}
				if by := f.strand(s.off.Waker); by != None && int(by) != i {
					visit(wake{s.off.Woken, by, StrandID(i), s.off})
				}
			}
		}
	}
	each(func(w wake) { counts[w.by]++; n++ })
	all := make([]wake, 0, n)
	each(func(w wake) { all = append(all, w) })
	w := wakes{lists[wake](counts)}
	for _, one := range byTime(all, func(w *wake) Time { return w.at }) {
		w.by[one.by] = append(w.by[one.by], one)
	}
	return w
}
