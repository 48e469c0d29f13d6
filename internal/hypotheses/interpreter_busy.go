package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// besideInterpreter returns, of waits for the threads of a process with an interpreter's
// lock, as much as none of its threads ran, from the beginning of each: another thread
// would have had to wait for the interpreter in the rest.
func besideInterpreter(c *diagnosis.Case, p recording.ProcessID, list []stay) (out []stay) {
	ran := awake(c, p)
	for _, s := range list {
		idle := s.To.Sub(s.From)
		i, _ := slices.BinarySearchFunc(ran, s.From+1, func(w window, t diagnosis.Time) int { return cmp.Compare(w.to, t) })
		for ; i < len(ran) && ran[i].from < s.To; i++ {
			idle -= min(s.To, ran[i].to).Sub(max(s.From, ran[i].from))
		}
		if s.To = s.From + diagnosis.Time(idle); s.From < s.To {
			out = append(out, s)
		}
	}
	return out
}

// awake are the spans in which a thread of a process ran, in order and disjoint.
func awake(c *diagnosis.Case, p recording.ProcessID) (out []window) {
	var all []window
	for i := range c.Strands {
		if c.Strands[i].Process != p {
			continue
		}
		for _, iv := range c.Strands[i].Intervals {
			if iv.State == timeline.StateRunning {
				all = append(all, window{iv.From, iv.To})
			}
		}
	}
	slices.SortFunc(all, func(a, b window) int { return cmp.Compare(a.from, b.from) })
	for _, w := range all {
		if n := len(out); n > 0 && w.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, w.to)
			continue
		}
		out = append(out, w)
	}
	return out
}
