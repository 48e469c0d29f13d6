package hypotheses

import (
	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
)

// standing says in which symptom a request is, or None, and whether it is among its ordinary or slow requests: it may
// be both.
type standing struct {
	symptom        int32
	ordinary, slow bool
}

func standings(c *diagnosis.Case) []standing {
	out := make([]standing, len(c.Requests))
	for i := range out {
		out[i].symptom = timeline.None
	}
	for i := range c.Symptoms {
		s := &c.Symptoms[i]
		for _, id := range s.ByID() {
			out[id].symptom = int32(i)
		}
		for _, id := range s.Ordinary {
			out[id].ordinary = true
		}
		for _, id := range s.Slow {
			out[id].slow = true
		}
	}
	return out
}

// add books calls of a request of that standing.
func (s standing) add(parts []tallied, calls int) {
	if s.symptom == timeline.None {
		return
	}
	p := &parts[s.symptom]
	p.all += calls
	if s.ordinary {
		p.ordinary += calls
	}
	if s.slow {
		p.slow += calls
	}
}
