package timeline

import "github.com/getdwell/dwell/recording"

// goKey names a goroutine.
type goKey struct {
	process   recording.ProcessID
	goroutine recording.GoroutineID
}

// goKeyOf names a goroutine that was seen on a thread.
func (f *facts) goKeyOf(th recording.ThreadID, g recording.GoroutineID) goKey {
	if x := f.thread(th); x != nil {
		return goKey{x.process, g}
	}
	return goKey{recording.NoProcess, g}
}

// goIndex finds the strands of goroutines.
type goIndex map[goKey]StrandID

func indexGoroutines(t *Timeline) goIndex {
	index := goIndex{}
	for i := range t.Strands {
		if g := t.Strands[i].Goroutine; g != recording.NoGoroutine {
			index[goKey{t.Strands[i].Process, g}] = StrandID(i)
		}
	}
	return index
}

// add returns the strand of a goroutine, which it adds to the Timeline if there is none;
// None for no goroutine.
func (x goIndex) add(t *Timeline, k goKey) StrandID {
	if k.goroutine == recording.NoGoroutine {
		return None
	}
	s, ok := x[k]
	if !ok {
		s = StrandID(len(t.Strands))
		x[k] = s
		t.Strands = append(t.Strands, Strand{Goroutine: k.goroutine, Process: k.process})
	}
	return s
}

// of returns the strand of a goroutine, or None.
func (x goIndex) of(k goKey) StrandID {
	if s, ok := x[k]; ok {
		return s
	}
	return None
}
