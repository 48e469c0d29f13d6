// Package loopcalls decides to which requests the calls of event loops belong. Associate is all that it
// does. A loop whose moves carry Node's async ids is walked by who awaits what (awaited.go), by these
// ids (async.go), by what fired and in whose turn (fired.go, inturns.go, told.go), and by pools and
// connections that requests share (poolorder.go, shared.go), the surest first; one without ids only where
// one request was open (single.go) or by what the loop had read last (loopchain.go). A call of a
// loop that is given to a wrong request is mended here, by the rule that its Why names; if the loop's
// moves are wrong, in loops; if the order of a queue is, in causality.
package loopcalls

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// Associate associates the calls of loop strands: by Node's async ids where they
// were recorded, else only where one request was open.
func Associate(t *timeline.Timeline, f *facts.Facts, calls []exchange.Call, moves []loops.Loop) (wanted []recording.Time) {
	wanted = make([]recording.Time, len(t.Calls))
	chains, conns, hands := newChains(len(t.Calls)), make([]asyncConn, len(f.Conns)), newAsked(len(t.Calls))
	alone := map[recording.ProcessID][]loops.Loop{} // loops without ids
	for _, loop := range moves {
		if hasAsyncIDs(loop.Moves) {
			in := asyncInput{loop: loop, wanted: wanted, chains: chains, conns: conns, hands: hands, sure: map[timeline.CallID]bool{}, atOnce: map[string]int{}, named: namedPromises(t, loop.Moves)}
			rest := associateAwaited(t, in)
			associateAsync(t, f, in)
			associateLeft(t, in)
			associateShared(t, f, in)
			agreeInSets(t, rest)
		} else {
			associateSingle(t, loop)
			p := t.Strands[loop.Strand].Process
			alone[p] = append(alone[p], loop)
		}
	}
	for _, loops := range alone {
		associateChain(t, loops)
	}
	for i := range t.Calls {
		c := &t.Calls[i]
		if c.Why == "" {
			t.Assign(c, c.Request, timeline.WhyNoOwner)
		}
		if c.Request != timeline.None && c.Start < t.Requests[c.Request].FirstRead {
			exchange.Warmed(c, &calls[i].Bounds)
		}
		if c.Request != timeline.None && c.Start < t.Requests[c.Request].FirstRead {
			t.Assign(c, timeline.None, timeline.WhyNoOwner)
		}
	}
	return wanted
}
