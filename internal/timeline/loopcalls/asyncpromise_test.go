package loopcalls

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// Ids up to 10 were given out for request 1, up to 20 for request 2, up to 30 in a turn that a message began, for an
// unknown owner, and up to 40 when several owners went on. Now a turn runs that another message began.
func promises() *asyncWalk {
	first, second := loops.OfRequest(1), loops.OfRequest(2)
	w := &asyncWalk{
		asyncInput: asyncInput{chains: newChains(9), named: map[int32]bool{}, lasting: lasting{}, hands: newAsked(9), conns: make([]asyncConn, 3)},
		causes:     lasting{}, handles: map[int64]int32{4: 0}, few: -1,
	}
	one, other := w.chains.newPlaceholder(), w.chains.newPlaceholder()
	w.turn = asyncTurn{of: other, counter: 40, conn: loops.NoConn}
	none := [2]loops.Owner{loops.Nobody, loops.Nobody}
	w.ids.give(10, giver{first, none}, 1)
	w.ids.give(20, giver{second, none}, 2)
	w.ids.give(30, giver{one, none}, 3)
	w.ids.give(40, giver{loops.Nobody, none}, 4)
	w.ids.give(50, giver{other, none}, 5)
	return w
}

func TestWhatGoesOnAfterAPromise(t *testing.T) {
	for name, c := range map[string]struct {
		m      loops.Move
		change func(*asyncWalk)
		want   bool
	}{
		"of an earlier turn":               {m: loops.Move{Exec: 45, Trigger: 15, Conn: 1}, want: true},
		"asked for in an earlier turn too": {m: loops.Move{Exec: 35, Trigger: 15, Conn: 1}},
		"of this turn":                     {m: loops.Move{Exec: 45, Trigger: 44, Conn: 1}},
		"nobody knows whose":               {m: loops.Move{Exec: 45, Trigger: 35, Conn: 1}},
		"of the handle of a connection":    {m: loops.Move{Exec: 45, Trigger: 4, Conn: 1}},
		"of what calls back again":         {m: loops.Move{Exec: 45, Trigger: 15, Conn: 1}, change: func(w *asyncWalk) { w.lasting[15] = many }},
		"on the connection just read from": {m: loops.Move{Exec: 45, Trigger: 15, Conn: 1}, change: func(w *asyncWalk) { w.turn.conn, w.turn.of = 1, loops.OfCall(3) }},
		"as another's answer was read":     {m: loops.Move{Exec: 45, Trigger: 15, Conn: 1}, change: func(w *asyncWalk) { w.turn.conn, w.turn.of = 2, loops.OfCall(3) }, want: true},
		"as a request was read":            {m: loops.Move{Exec: 45, Trigger: 15, Conn: 1}, change: func(w *asyncWalk) { w.turn.conn, w.turn.of = 2, loops.OfRequest(3) }},
		"promises have no ids":             {m: loops.Move{Exec: 45, Trigger: 15, Conn: 1}, change: func(w *asyncWalk) { w.named = nil }},
	} {
		w := promises()
		if c.change != nil {
			c.change(w)
		}
		if got := w.byPromise(&c.m); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A placeholder that turns out to be a request, or the owner of an earlier call, is that owner for everything that
// comes after. One that was not seen to do anything else is Nobody.
func TestWhomStrangersTurnOutToBe(t *testing.T) {
	tl := &timeline.Timeline{Calls: []timeline.Call{{SendFrom: 10}, {SendFrom: 30}}}
	w := &asyncWalk{t: tl, asyncInput: asyncInput{chains: newChains(2), hands: newAsked(2)}}
	a, b, c := w.chains.newPlaceholder(), w.chains.newPlaceholder(), w.chains.newPlaceholder()
	w.chains.meet(a, loops.OfRequest(1))
	w.chains.link(0, b)
	w.chains.link(1, c)
	w.hands.by[1] = a
	moves := []loops.Move{{By: a, At: 20}, {By: b, At: 20}, {By: c, At: 20}, {By: loops.Nobody}, {By: loops.OfRequest(7)}}
	w.resolvePlaceholders(moves)
	for i, want := range []loops.Owner{loops.OfRequest(1), loops.OfCall(0), loops.Nobody, loops.Nobody, loops.OfRequest(7)} {
		if moves[i].By != want {
			t.Errorf("move %d is by %d, want %d", i, moves[i].By, want)
		}
	}
	if w.hands.by[1] != loops.OfRequest(1) {
		t.Errorf("call 1 names %d", w.hands.by[1])
	}
	if w.chains.reset(); w.chains.Made(1) || !w.chains.Made(2) || w.chains.newPlaceholder() != loops.OfCall(2) {
		t.Error("they are gone with the sets")
	}
}

// Id 5 calls back in two turns. If promises have ids, 7 triggers what was asked for in one turn, and is no handle
// although that was sent in two turns.
func TestIDsThatCallBackAgain(t *testing.T) {
	tl := &timeline.Timeline{}
	var moves []loops.Move
	for i := range 4 {
		at := recording.Time(10 * i)
		tl.Calls = append(tl.Calls, timeline.Call{SendFrom: at + 1})
		moves = append(moves, loops.Move{Kind: loops.MoveBlock}, loops.Move{Kind: loops.MoveFired, At: at, Exec: int64(20 + i), Trigger: 7, Counter: int64(30 + i)},
			loops.Move{Kind: loops.MoveSend, At: at + 1, Call: timeline.CallID(i), Exec: int64(20 + i), Trigger: 7})
	}
	for name, c := range map[string]struct {
		named  map[int32]bool
		handle bool
	}{
		"promises have no ids": {nil, true},
		"they have":            {map[int32]bool{}, false},
	} {
		if got := lastingIDs(tl, moves, c.named).has(7); got != c.handle {
			t.Errorf("%s: sent under a handle: %v", name, got)
		}
		if got := causes(moves, c.named != nil).has(7); got != c.handle {
			t.Errorf("%s: resolved by a handle: %v", name, got)
		}
	}
	moves[10].Exec, moves[11].Exec = 33, 33 // asked for later
	if !lastingIDs(tl, moves, map[int32]bool{}).has(7) || !causes(moves, true).has(7) {
		t.Error("7 had asked for something in two turns")
	}
	w := promises()
	w.ids = asyncIDs{}
	w.ids.give(34, sole(loops.Nobody), 1)
	w.ids.give(35, sole(loops.OfRequest(1)), 2)
	if w.runs(35) != loops.OfRequest(1) {
		t.Errorf("35 runs for %d", w.runs(35))
	}
	if w.lasting[35] = many; w.runs(35) != loops.Nobody {
		t.Error("what calls back again runs for nobody")
	}
}

// After calls that were asked for in the turn that had just ended, others are sent that were asked for before, with
// two ids each. So of the ids given out up to the first of these, all but two belong to that turn.
func TestIDsThatSendsGiveOut(t *testing.T) {
	var moves []loops.Move
	for i := range 4 {
		n := int64(100 * i)
		moves = append(moves, loops.Move{Kind: loops.MoveRead, Counter: 10 + n}, loops.Move{Kind: loops.MoveSend, Exec: 5 + n, Counter: 30 + n},
			loops.Move{Kind: loops.MoveSend, Exec: 6 + n, Counter: 32 + n}, loops.Move{Kind: loops.MoveSend, Exec: 7 + n, Counter: 34 + n})
	}
	if got := idsOfSends(moves); got != 2 {
		t.Errorf("they give out %d, want 2", got)
	}
	if got := idsOfSends(moves[:8]); got != -1 {
		t.Errorf("too few are seen: %d, want -1", got)
	}
	w := promises()
	w.few = 2
	by := w.giveBefore(&loops.Move{Kind: loops.MoveSend, Counter: 70}, giver{loops.Nobody, [2]loops.Owner{loops.OfRequest(1), loops.OfRequest(2)}})
	w.ids.give(70, by, 9)
	if a, b := w.ids.maybe(69); w.ids.find(68) != loops.OfRequest(1) || a != loops.OfRequest(1) || b != loops.OfRequest(2) {
		t.Errorf("68 is of %d, 69 of %d or %d", w.ids.find(68), a, b)
	}
}
