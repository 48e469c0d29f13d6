package timeline

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// WindowOf returns the index of the window that contains a time, else of the next window, else of the last one.
func WindowOf(list []Window, at Time) int {
	i := sort.Search(len(list), func(k int) bool { return list[k].To >= at })
	return min(i, len(list)-1)
}

// WindowAt returns the window that contains a time, or else the next one.
func (t *Timeline) WindowAt(at Time) Window { return t.Windows[WindowOf(t.Windows, at)] }

// SeenUntil returns when a connection that was seen at a time was closed. If no close was recorded, it returns the end
// of the window: connections that are open when a window ends are not followed any further.
func (t *Timeline) SeenUntil(cn *Conn, seen Time) Time {
	if cn.Closed != recording.NoTime {
		return cn.Closed
	}
	return t.WindowAt(seen).To
}

// InWindows returns how much of a span was recorded.
func (t *Timeline) InWindows(from, to Time) (d Duration) {
	for i := WindowOf(t.Windows, from); i < len(t.Windows) && t.Windows[i].From < to; i++ {
		w := t.Windows[i]
		d += max(0, min(to, w.To).Sub(max(from, w.From)))
	}
	return d
}

// ThreadsIn returns, for each of some processes, when any of its threads was in one of some states: in order, disjoint.
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

// Clipped returns the intervals that overlap [from, to); the ends may stick out.
func Clipped(list []Interval, from, to Time) []Interval {
	i := sort.Search(len(list), func(k int) bool { return list[k].To > from })
	j := lists.Near(len(list), i, func(k int) bool { return list[k].From >= to })
	if i >= j {
		return nil
	}
	return list[i:j]
}

// Overhead is what recording has cost: the last report, and every sample.
type Overhead struct {
	recording.Overhead
	Samples []OverheadSample // in order of time
}

// OverheadSample is what recording had cost by a time.
type OverheadSample struct {
	Time Time
	Used Duration // processor time, programs in the kernel included
}
