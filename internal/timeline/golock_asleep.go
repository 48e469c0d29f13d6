package timeline

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/recording"
)

// addAwake lists, of each process whose goroutines waited for each other, the spans in
// which one of its threads ran, was ready to, or did what is not known. Outside of them
// no goroutine ran, wherever it was.
func (l *goLives) addAwake(t *Timeline) {
	waits := map[recording.ProcessID]bool{}
	for i := range t.Waits {
		if s := &t.Strands[t.Waits[i].Strand]; s.Goroutine != recording.NoGoroutine {
			waits[s.Process] = true
		}
	}
	l.awake = t.ThreadsIn(waits, func(s State) bool { return s != StateSleeping && s != StateDisk })
}

// ThreadsIn returns, for each of some processes, when any of its threads was in one of
// some states: in order, disjoint.
func (t *Timeline) ThreadsIn(of map[recording.ProcessID]bool, states func(State) bool) map[recording.ProcessID][]Interval {
	out := map[recording.ProcessID][]Interval{}
	for p := range of {
		out[p] = nil
	}
	for i := range t.Strands {
		s := &t.Strands[i]
		if !of[s.Process] {
			continue
		}
		for _, iv := range s.Intervals { // a goroutine has none
			if states(iv.State) {
				out[s.Process] = append(out[s.Process], Interval{From: iv.From, To: iv.To})
			}
		}
	}
	for p, list := range out {
		out[p] = merged(list)
	}
	return out
}

// merged returns the union of spans, in order and disjoint.
func merged(list []Interval) []Interval {
	slices.SortFunc(list, func(a, b Interval) int { return cmp.Compare(a.From, b.From) })
	out := list[:0]
	for _, iv := range list {
		if n := len(out); n > 0 && iv.From <= out[n-1].To {
			out[n-1].To = max(out[n-1].To, iv.To)
			continue
		}
		out = append(out, iv)
	}
	return out
}

// splitAsleep appends what a goroutine did of which nothing else is known, in the parts
// in which it was asleep for sure, for its whole process was, and the others.
func (t *Timeline) splitAsleep(s StrandID, a Activity, list []Activity) []Activity {
	awake, ok := t.golang.awake[t.Strands[s].Process]
	if !ok {
		return append(list, a)
	}
	part := func(from, to Time, asleep bool) {
		if from < to {
			p := a
			p.From, p.To, p.Asleep = from, to, asleep
			list = append(list, p)
		}
	}
	at := a.From
	for i := sort.Search(len(awake), func(k int) bool { return awake[k].To > at }); i < len(awake) && awake[i].From < a.To; i++ {
		part(at, awake[i].From, true)
		at = min(awake[i].To, a.To)
		part(max(a.From, awake[i].From), at, false)
	}
	part(at, a.To, true)
	return list
}
