package build

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Ids up to 10 were given out for request 1, up to 20 for request 2, up to 30 in a turn that a message began, for
// one of whom nothing is known, and up to 40 where several went on; now runs a turn that another message began.
func promises() *asyncWalk {
	first, second := requestRef(1), requestRef(2)
	w := &asyncWalk{
		chains: newChains(9), named: map[int32]bool{}, lasting: lasting{}, causes: lasting{}, handles: map[int64]int32{4: 0},
		hands: newAsked(9), conns: make([]asyncConn, 3), few: -1,
	}
	one, other := w.chains.someone(), w.chains.someone()
	w.turn = asyncTurn{of: other, counter: 40, conn: noConn}
	w.ids.expect([]move{{counter: 10}, {counter: 20}, {counter: 30}, {counter: 40}, {counter: 50}})
	none := [2]ref{nobody, nobody}
	w.ids.give(10, giver{first, none}, 1)
	w.ids.give(20, giver{second, none}, 2)
	w.ids.give(30, giver{one, none}, 3)
	w.ids.give(40, giver{nobody, none}, 4)
	w.ids.give(50, giver{other, none}, 5)
	return w
}

func TestWhatGoesOnAfterAPromise(t *testing.T) {
	for name, c := range map[string]struct {
		m      move
		change func(*asyncWalk)
		want   bool
	}{
		"of an earlier turn":               {m: move{exec: 45, trigger: 15, conn: 1}, want: true},
		"asked for in an earlier turn too": {m: move{exec: 35, trigger: 15, conn: 1}},
		"of this turn":                     {m: move{exec: 45, trigger: 44, conn: 1}},
		"nobody knows whose":               {m: move{exec: 45, trigger: 35, conn: 1}},
		"of the handle of a connection":    {m: move{exec: 45, trigger: 4, conn: 1}},
		"of what calls back again":         {m: move{exec: 45, trigger: 15, conn: 1}, change: func(w *asyncWalk) { w.lasting[15] = many }},
		"on the connection just read from": {m: move{exec: 45, trigger: 15, conn: 1}, change: func(w *asyncWalk) { w.turn.conn, w.turn.of = 1, callRef(3) }},
		"as another's answer was read":     {m: move{exec: 45, trigger: 15, conn: 1}, change: func(w *asyncWalk) { w.turn.conn, w.turn.of = 2, callRef(3) }, want: true},
		"as a request was read":            {m: move{exec: 45, trigger: 15, conn: 1}, change: func(w *asyncWalk) { w.turn.conn, w.turn.of = 2, requestRef(3) }},
		"promises have no ids":             {m: move{exec: 45, trigger: 15, conn: 1}, change: func(w *asyncWalk) { w.named = nil }},
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

// A message leads somebody on. That it is request 2 is told by what is sent, or by what it asked for then, and of all
// that it sent before, too.
func TestWhoAMessageLeadsOn(t *testing.T) {
	for name, c := range map[string]struct {
		m    move
		id   int64
		want timeline.RequestID
	}{
		"it goes on after a promise":         {move{exec: 45, trigger: 15}, 48, 2},
		"asked for in that turn":             {move{exec: 25, trigger: 15}, 28, 2},
		"its trigger is of that turn":        {move{exec: 15, trigger: 25}, 28, 2},
		"its trigger is a handle's":          {move{exec: 25, trigger: 4}, 28, timeline.None},
		"its trigger is of nobody known":     {move{exec: 25, trigger: 35}, 28, timeline.None},
		"asked for where several may go on":  {move{exec: 35, trigger: 15}, 38, timeline.None},
		"what the other had asked for leads": {move{exec: 45, trigger: 25}, 48, timeline.None},
	} {
		w := promises()
		w.chains.link(3, w.ids.find(c.id))
		w.noteMade(&c.m)
		if got := w.chains.known(w.ids.find(c.id)); got != c.want || w.chains.known(callRef(3)) != c.want {
			t.Errorf("%s: it is %d, who sent that %d; want %d", name, got, w.chains.known(callRef(3)), c.want)
		}
	}
	w := promises()
	w.noteMade(&move{exec: 45, trigger: 25})
	w.noteMade(&move{exec: 28, trigger: 15})
	if w.chains.known(w.turn.of) != 2 {
		t.Error("the one is the other, whoever that is")
	}
}

// Who turns out to be a request, or one who sent a call before, is that for all that comes after. Who was not seen to
// do anything else is nobody.
func TestWhomStrangersTurnOutToBe(t *testing.T) {
	tl := &timeline.Timeline{Calls: []timeline.Call{{SendFrom: 10}, {SendFrom: 30}}}
	w := &asyncWalk{t: tl, chains: newChains(2), hands: newAsked(2)}
	a, b, c := w.chains.someone(), w.chains.someone(), w.chains.someone()
	w.chains.meet(a, requestRef(1))
	w.chains.link(0, b)
	w.chains.link(1, c)
	w.hands.by[1] = a
	moves := []move{{by: a, at: 20}, {by: b, at: 20}, {by: c, at: 20}, {by: nobody}, {by: requestRef(7)}}
	w.toldStrangers(moves)
	for i, want := range []ref{requestRef(1), callRef(0), nobody, nobody, requestRef(7)} {
		if moves[i].by != want {
			t.Errorf("move %d is by %d, want %d", i, moves[i].by, want)
		}
	}
	if w.hands.by[1] != requestRef(1) {
		t.Errorf("call 1 names %d", w.hands.by[1])
	}
	if w.chains.reset(); w.chains.somebody(1) || !w.chains.somebody(2) || len(w.chains.index) != 2 {
		t.Error("they are gone with the sets")
	}
}

// Id 5 calls back in two turns. Where promises have ids, 7 triggers what was asked for in one turn, and is
// no handle though that was sent in two.
func TestIDsThatCallBackAgain(t *testing.T) {
	tl := &timeline.Timeline{}
	var moves []move
	for i := range 4 {
		at := recording.Time(10 * i)
		tl.Calls = append(tl.Calls, timeline.Call{SendFrom: at + 1})
		moves = append(moves, move{kind: moveBlock}, move{kind: moveFired, at: at, exec: int64(20 + i), trigger: 7, counter: int64(30 + i)},
			move{kind: moveSend, at: at + 1, call: timeline.CallID(i), exec: int64(20 + i), trigger: 7})
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
	moves[10].exec, moves[11].exec = 33, 33 // asked for later
	if !lastingIDs(tl, moves, map[int32]bool{}).has(7) || !causes(moves, true).has(7) {
		t.Error("7 had asked for something in two turns")
	}
	w := promises()
	w.ids.last, w.ids.owner, w.ids.either, w.ids.next = []int64{34, 35}, []ref{nobody, requestRef(1)}, make([][2]ref, 2), 35
	if w.runs(35) != requestRef(1) {
		t.Errorf("35 runs for %d", w.runs(35))
	}
	if w.lasting[35] = many; w.runs(35) != nobody {
		t.Error("what calls back again runs for nobody")
	}
}

// After what was asked for in the turn that had just ended, others send that were asked for before: two ids
// each. So of those given out up to the first's, all but two are of that turn.
func TestIDsThatSendsGiveOut(t *testing.T) {
	var moves []move
	for i := range 4 {
		n := int64(100 * i)
		moves = append(moves, move{kind: moveRead, counter: 10 + n}, move{kind: moveSend, exec: 5 + n, counter: 30 + n},
			move{kind: moveSend, exec: 6 + n, counter: 32 + n}, move{kind: moveSend, exec: 7 + n, counter: 34 + n})
	}
	if got := idsOfSends(moves); got != 2 {
		t.Errorf("they give out %d, want 2", got)
	}
	if got := idsOfSends(moves[:8]); got != -1 {
		t.Errorf("too few are seen: %d, want -1", got)
	}
	w := promises()
	w.few = 2
	w.ids.expect([]move{{counter: 70}})
	by := w.giveBefore(&move{kind: moveSend, counter: 70}, giver{nobody, [2]ref{requestRef(1), requestRef(2)}})
	w.ids.give(70, by, 9)
	if a, b := w.ids.maybe(69); w.ids.find(68) != requestRef(1) || a != requestRef(1) || b != requestRef(2) {
		t.Errorf("68 is of %d, 69 of %d or %d", w.ids.find(68), a, b)
	}
}
