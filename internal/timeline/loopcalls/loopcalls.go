// Package loopcalls decides to which requests the calls of event loops belong. Associate is all that it
// does. A loop whose moves carry Node's async ids is gone over in this order, the surest first; what one pass
// has told is known to those after it:
//
//	pass                  evidence                                       what confirms it
//	awaited.go            who awaits the promise that an answer          one address is of hardly more requests than one
//	                      resolved, and went on as a request was answered
//	async.go              for whom ids were given out; hints, where      they are facts; of hints, one from before a call
//	                      that may be two                                and one from after it agree
//	told.go               whose turn each is, where promises tell;       responses, each in the turn of an answer to a call
//	                      places in line, and who waits for the same     of its own request: 100 for each other one
//	poolorder.go          who stands in line for a connection            the same, 9 for each
//	inturns.go            what is sent in the turn of an answer          the same, 19 for each
//	shared.go             the order in which requests could send         the same, 50 for each
//	asyncsets.go          what of the calls of one waiter is known       two thirds of those agree
//
// One without ids is gone over by single.go (one request was open), and loopchain.go (what the loop had read last; 200
// responses for each that says otherwise). A call of a loop that is given to a wrong request is mended here, by the rule that
// its Why names; if the loop's moves are wrong, in loops; if the order of a queue is, or who waits, in causality.
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
			sends := sentConns(t, loop.Moves)
			in := asyncInput{
				loop: loop, wanted: wanted, chains: chains, conns: conns, hands: hands, sure: map[timeline.CallID]bool{}, atOnce: map[string]int{},
				sends: sends, lasting: lastingIDs(t, loop.Moves, nil), shared: sharedOf(sends), together: answeredAtOnce(t, sends),
			}
			if namedPromises(loop.Moves, in.lasting) {
				in.named = in.shared
			}
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
