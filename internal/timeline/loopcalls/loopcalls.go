// Package loopcalls decides to which requests the calls of event loops belong (Associate). The Why of a call names the
// rule that decided, and dwell show REC --whose CALL prints it: a call of a wrong request is mended in that rule's files.
//
// A loop whose moves carry Node's async ids is gone over by these rules, the surest first; what one has told is known to
// those after it, so that where several are wrong at once the first of them is to blame, or what they share:
//
//	Why              files                evidence                                   believed if
//	WhyAwaited       awaited, awaitedwho  which function awaits the promise that     its address serves hardly any other
//	                                      an answer resolved, and goes on last as    request
//	                                      a request is answered
//	WhyAsync         async*, chains       for whom ids were given out (asyncids),    always: they are facts
//	                                      and so in whose turn a call was asked for
//	WhyAsyncHint     async*, chains       the same, where that leaves two requests   one hint from before the call and
//	                                                                                 one from after it agree
//	WhyTurnTold      told, toldport       whose each turn is, where promises tell    responses, each in the turn of an
//	                                      it; who waits for a place at a peer, or    answer to a call of its own request:
//	                                      for another's call                         100 for each other one
//	WhyInLine        poolorder            who stands in line for a connection        the same, 9 for each
//	WhyTurn          inturns, askedfor    what is sent in the turn of an answer      the same, 19 for each
//	WhyShared        shared*              the order in which requests could send     the same, 50 for each
//	                                      on a connection that several use at once
//	WhyAwaitedSet    asyncsets            whose most of the calls are that one       two thirds of them agree
//	                                      function awaits
//	WhyNoAsync                            none of them tells
//
// Who goes on in a turn that no read began, after a timer, a file or a message of a worker thread, is told in fired.go,
// calledback.go and mailturns.go. A write for whoever waited for a connection, made in the callback of another's answer, is
// told from a request's own in asynchanded.go.
//
// A loop without ids is gone over by two rules:
//
//	WhyLoopSingle    single               one request was open on the loop           always
//	WhyLoopChain     loopchain            what the loop had read last                responses: 200 for each other one
//	WhyAmbiguous                          several were open, and neither tells
//	WhyNoOwner       single               no request was open
//
// What the rules share is in causality: sets of calls of one request, who stands in line, how many calls a request makes
// at a point. What a loop did, and in which order, is told by package loops.
package loopcalls

import (
	"slices"

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

// asks reports whether ids can tell anything of what a loop does: it calls somebody, or goes on for whom it worked before.
func asks(moves []loops.Move) bool {
	return slices.ContainsFunc(moves, func(m loops.Move) bool {
		return m.Call != timeline.None || m.Kind == loops.MoveFired || m.Port != 0
	})
}

// associateLeft associates the calls of a loop that ids alone do not give to a request. What is
// found where timers are seen to fire confirms nothing of what is guessed where they are not.
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
