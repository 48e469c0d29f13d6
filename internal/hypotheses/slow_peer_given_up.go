package hypotheses

import (
	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// givenUp are calls that the service closed the connection on before any answer came: it
// waited no longer. How long the answer would have taken is not known.
type givenUp struct {
	times  int
	waited Duration
}

func (g *givenUp) add(c *diagnosis.Case, call *timeline.Call) {
	if call.Cut && call.Arrived == recording.NoTime && call.SendFrom != recording.NoTime && c.Conns[connIndex(c, call.Conn)].By == recording.ClosedByUs {
		g.times++
		g.waited += call.End.Sub(call.SendFrom)
	}
}

func (g *givenUp) mean() Duration { return g.waited / Duration(max(1, g.times)) }

// words say so, if it is worth it.
func (g *givenUp) words(of int) string {
	if g.times == 0 {
		return ""
	}
	return "; " + diagnosis.Thousands(int64(g.times)) + " of " + diagnosis.Plural(of, "call") + " had no answer when we gave them up, after " + diagnosis.Human(g.mean()) + " on average"
}

func (g *givenUp) evidence(ev []diagnosis.Evidence) []diagnosis.Evidence {
	if g.times == 0 {
		return ev
	}
	return append(ev, diagnosis.Count("calls were given up without an answer", g.times), diagnosis.NS("mean time until they were", g.mean()))
}
