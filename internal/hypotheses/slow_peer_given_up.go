package hypotheses

import (
	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// givenUp counts calls that the service gave up before any answer came: it closed the connection or, over UDP, went on
// without one. How long the answer would have taken is not known.
type givenUp struct {
	times  int
	waited Duration
	of     map[string]Duration // what was waited for them, by operation
	again  int                 // calls over UDP that were asked again because no answer came
	silent Duration            // how long it took until those were asked again, the last time
}

func (g *givenUp) add(c *diagnosis.Case, call *timeline.Call) {
	if call.Again != recording.NoTime {
		g.again++
		g.silent += call.Again.Sub(call.Sent)
	}
	if !call.Cut || call.Arrived != recording.NoTime || call.SendFrom == recording.NoTime {
		return
	}
	if c.Conns[connIndex(c, call.Conn)].By == recording.ClosedByUs || call.Protocol == recording.ProtocolUDP {
		g.times++
		g.waited += call.End.Sub(call.SendFrom)
		if g.of == nil {
			g.of = map[string]Duration{}
		}
		g.of[call.Operation] += call.End.Sub(call.SendFrom)
	}
}

// named names their operation, if the peer is asked for several and all, or nearly all, of what was waited for these
// calls was for one of them; "" if operations are not known.
func (g *givenUp) named(operations int) string {
	switch name, share := mostOf(g.of); {
	case name == "" || operations < 2 || share < diagnosis.Whole*9/10:
		return ""
	case len(g.of) == 1:
		return ", all of them " + name + ","
	default:
		return ", nearly all of them " + name + ","
	}
}

func (g *givenUp) untilAgain() Duration { return g.silent / Duration(max(1, g.again)) }

func (g *givenUp) mean() Duration { return g.waited / Duration(max(1, g.times)) }

// words says how many of so many calls, of so many operations, were given up or asked again.
func (g *givenUp) words(of, operations int) (said string) {
	if g.again > 0 {
		said = "; " + diagnosis.Thousands(int64(g.again)) + " of " + diagnosis.Plural(of, "exchange") + " over UDP were repeated because no answer came, after " + diagnosis.Human(g.untilAgain()) + " on average"
	}
	if g.times == 0 {
		return said
	}
	return said + "; " + diagnosis.Thousands(int64(g.times)) + " of " + diagnosis.Plural(of, "call") + g.named(operations) + " had no answer and were given up after " + diagnosis.Human(g.mean()) + " on average"
}

func (g *givenUp) evidence(ev []diagnosis.Evidence) []diagnosis.Evidence {
	if g.again > 0 {
		ev = append(ev, diagnosis.Count("exchanges repeated because no answer came", g.again), diagnosis.NS("mean time until they were repeated", g.untilAgain()))
	}
	if g.times == 0 {
		return ev
	}
	return append(ev, diagnosis.Count("calls given up without an answer", g.times), diagnosis.NS("mean time until they were given up", g.mean()))
}
