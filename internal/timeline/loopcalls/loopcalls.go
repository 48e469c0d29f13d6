// Package loopcalls decides to which requests the calls of event loops belong (Associate). The Why of a call names
// the rule that decided, and dwell show REC --whose CALL prints it. If a call was given to the wrong request, look at
// the files of that rule.
//
// Some words: a move is one thing that a loop was seen to do (loops.Move). A turn is the span from a read, or from
// something else that begins callbacks, to the next; its owner is the request that the loop works for in it. Node
// gives out async ids in ascending order. Each move carries three: the execution id of the callback that runs, the
// trigger id of what caused that callback, and the counter, which is the last id given out. So an id shows in which
// turn something was asked for.
//
// The following rules are applied to a loop whose moves carry such ids, the most reliable first. Later rules use what
// earlier ones found. So if several rules are wrong at once, suspect the first of them, or what they share.
//
//	Why              files                evidence                                   believed if
//	WhyAwaited       awaited, awaitedwho  which function awaits the promise that     its address serves hardly any other
//	                                      an answer resolved, and continues last     request
//	                                      when a request is answered
//	WhyAsync         async*, chains       the owner for which ids were given out     always: they are facts
//	                                      (asyncids), and so the turn in which a
//	                                      call was asked for
//	WhyAsyncHint     async*, chains       the same, if that leaves two requests      a hint from before the call and one
//	                                                                                 from after it agree
//	WhyTurnTold      told, toldport       the owner of each turn, if promises show   responses are written in the turn of an
//	                                      it; which requests wait for a place at     answer to a call of their own request:
//	                                      a peer, or for another request's call      100 for each one that is not
//	WhyInLine        poolorder            which request is in line for a connection  the same, 9 for each
//	WhyTurn          inturns, askedfor    what is sent in the turn of an answer      the same, 19 for each
//	WhyShared        shared*              the order in which requests could send     the same, 50 for each
//	                                      on a connection that several use at once
//	WhyAwaitedSet    asyncsets            the request of most of the calls that      two thirds of them agree
//	                                      one function awaits
//	WhyNoAsync                            no rule decides
//
// For turns that no read began, after a timer, a file or a message of a worker thread, fired.go, calledback.go and
// mailturns.go find the request that goes on. asynchanded.go distinguishes a request's own write from one for a
// request that waited for a connection, which is made in the callback of another request's answer.
//
// Two rules are applied to loops without ids:
//
//	WhyLoopSingle    single               one request was open on the loop           always
//	WhyLoopChain     loopchain            what the loop read last                    responses: 200 for each that contradicts
//	WhyAmbiguous                          several were open, and no rule decides
//	WhyNoOwner       single               no request was open
//
// Package causality holds what the rules share: sets of calls of one request, which request is in line, how many
// calls a request makes at a point. Package loops lists what a loop did, and in which order: look there if a move is
// missing.
package loopcalls

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// Associate assigns the calls of loop strands: by Node's async ids if they were recorded, else by which requests were
// open and what was read. It returns, by call, when the call was wanted, as far as known.
func Associate(t *timeline.Timeline, f *facts.Facts, calls []exchange.Call, moves []loops.Loop) (wanted []recording.Time) {
	wanted = make([]recording.Time, len(t.Calls))
	chains, conns, hands := newChains(len(t.Calls)), make([]asyncConn, len(f.Conns)), newAsked(len(t.Calls))
	alone := map[recording.ProcessID][]loops.Loop{} // loops without ids
	for _, loop := range moves {
		if hasAsyncIDs(loop.Moves) {
			if !asks(loop.Moves) {
				continue
			}
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
		exchange.WarmedBefore(t, c, &calls[i].Bounds)
		if c.Request != timeline.None && c.Start < t.Requests[c.Request].FirstRead {
			t.Assign(c, timeline.None, timeline.WhyNoOwner)
		}
	}
	return wanted
}

// asks reports whether ids can show anything about what a loop does: it makes calls, or continues for owners that it
// worked for before.
func asks(moves []loops.Move) bool {
	return slices.ContainsFunc(moves, func(m loops.Move) bool {
		return m.Call != timeline.None || m.Kind == loops.MoveFired || m.Port != 0
	})
}

// associateLeft assigns the calls of a loop that ids alone do not assign. The part of the loop in which timers are
// seen to fire confirms nothing about the part in which they are guessed.
func associateLeft(t *timeline.Timeline, in asyncInput) {
	if in.named == nil && !anyInLine(t, in) {
		return
	}
	all, told := in.loop.Moves, toldMoves(in.loop.Moves)
	if in.loop.Moves = told; len(told) > 0 {
		turns := associateTold(t, in)
		if !associateInLine(t, in) && !turns {
			associateInTurns(t, in)
		}
		in.told = told[len(told)-1].At
	}
	if len(told) == len(all) {
		return
	}
	rest := in
	in.loop.Moves, rest.loop.Moves = all, all[len(told):]
	if !associateBesideTimers(t, in) && !associateInLine(t, rest) {
		associateInTurns(t, in)
	}
}
