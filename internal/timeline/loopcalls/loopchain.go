package loopcalls

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// A loop whose runtime has no readable ids, such as nginx, still does one thing after the other: what it sends
// follows from what it read right before (causality.Chain). Threads that share tasks, such as those of tokio and the
// carriers of virtual threads, continue each other's requests. What one of them sends follows from what that same
// thread read, or belongs to the one request that waits for something other than a call. A call that may belong to
// another request is assigned if calls before and after it belong to one request.

// chainedMove is a move with the index of its loop among those of its process.
type chainedMove struct {
	*loops.Move
	loop int
}

// chainedMoves lists what the loops of a process did, in order of time, if they work for each other's requests.
// Otherwise, if several loops read requests, it lists nothing: one of them may continue another's request unseen.
func chainedMoves(of []loops.Loop) (out []chainedMove) {
	serve := 0
	for i := range of {
		if slices.ContainsFunc(of[i].Moves, func(m loops.Move) bool { return m.Kind == loops.MoveRead }) {
			serve++
		}
	}
	if serve == 0 || serve > 1 && !of[0].Wander {
		return nil
	}
	for i := range of {
		for k := range of[i].Moves {
			out = append(out, chainedMove{&of[i].Moves[k], i})
		}
	}
	if len(of) > 1 {
		lists.SortByTime(out, func(m *chainedMove) recording.Time { return m.At })
	}
	return out
}

// linked is what the chain of a loop's moves says about its calls.
type linked = causality.Chain[timeline.RequestID, timeline.CallID]

// associateChain assigns the calls of loops that may belong to several requests to the one that the chain of moves
// leads to, if responses confirm the chain. It uses the least careful trust that they confirm.
func associateChain(t *timeline.Timeline, loops []loops.Loop) {
	moves, wander := chainedMoves(loops), loops[0].Wander
	for _, trust := range []causality.Trust{causality.Freely, causality.Once, causality.Strictly} {
		if trust == causality.Once && !wander {
			continue
		}
		l := linkMoves(t, moves, trust, false)
		if !l.Believed(wander) {
			continue
		}
		if wander {
			if more := linkMoves(t, moves, trust, true); more.Believed(true) {
				l = more
			}
		}
		l.Bridge()
		for call, r := range l.Owner {
			c := &t.Calls[call]
			if c.Why == timeline.WhyAmbiguous && c.SendFrom >= t.Requests[r].FirstRead && c.End <= t.Requests[r].End && !c.Cut {
				t.Assign(c, r, timeline.WhyLoopChain)
			}
		}
		return
	}
}

func linkMoves(t *timeline.Timeline, moves []chainedMove, trust causality.Trust, rest bool) *linked {
	l := causality.NewChain[timeline.RequestID, timeline.CallID](trust, rest)
	for i := range moves {
		l.On(moves[i].loop)
		linkMove(t, l, moves[i].Move, trust == causality.Once)
	}
	return l
}

// linkMove notes a move; whole: an answer counts once it is complete.
func linkMove(t *timeline.Timeline, l *linked, m *loops.Move, whole bool) {
	switch m.Kind {
	case loops.MoveRead:
		l.Come(m.Request)
	case loops.MoveBody:
		l.Read(m.Request)
	case loops.MoveForeign:
		if m.Call == timeline.None {
			l.Read(timeline.None)
		} else {
			l.Answer(m.Call)
		}
	case loops.MoveAnswer:
		l.Free(m.Conn)
		if !whole || t.Calls[m.Call].End <= m.At {
			l.Answer(m.Call)
		}
	case loops.MoveHandshake:
		l.Opening(m.Conn)
	case loops.MoveConnect:
		l.Open(m.Conn)
	case loops.MoveSend:
		l.Send(m.Call, m.Conn, t.Calls[m.Call].Request)
	case loops.MoveRespond:
		a := l.Answered()
		l.Respond(m.Request, a != timeline.None && t.Calls[a].SendFrom < t.Requests[m.Request].FirstRead)
	case loops.MoveBlock, loops.MoveBoundary:
		l.Sleep()
	}
}
