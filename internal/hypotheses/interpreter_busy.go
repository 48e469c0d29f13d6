package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// besideInterpreter returns, of waits for the threads of a process with an interpreter's
// lock, as much as none of its threads ran or was ready to, from the beginning of each: another
// thread would have had to wait for the interpreter in the rest, or with it for a processor.
func besideInterpreter(c *diagnosis.Case, p recording.ProcessID, list []stay) (out []stay) {
	ran := c.ThreadsIn(map[recording.ProcessID]bool{p: true}, func(s timeline.State) bool { return s == timeline.StateRunning || s == timeline.StateRunnable })[p]
	for _, s := range list {
		idle := s.To.Sub(s.From)
		i, _ := slices.BinarySearchFunc(ran, s.From+1, func(w timeline.Interval, t diagnosis.Time) int { return cmp.Compare(w.To, t) })
		for ; i < len(ran) && ran[i].From < s.To; i++ {
			idle -= min(s.To, ran[i].To).Sub(max(s.From, ran[i].From))
		}
		if s.To = s.From + diagnosis.Time(idle); s.From < s.To {
			out = append(out, s)
		}
	}
	return out
}
