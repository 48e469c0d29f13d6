package loopcalls

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// A client may send the calls of many requests on one connection without waiting for answers, which come in the order
// of the calls. Calls that several requests asked for are then often written at once, by whichever callback came
// first, and several answers are read at once. Ids show nothing in that case.
//
// But it is known which requests can have asked: those that were read, and those whose calls were all answered, in
// this order. If as many requests went on as calls were sent, each sent one, in the same order. If requests of one
// kind are known to send more calls at that point, or none, the numbers must agree. A call whose request cannot be
// decided stays unattributed until it alone is answered: a response that is written in the turn of an answer belongs
// to the request of the answered call. That confirms everything that was guessed about the request, or takes it back.

// sharing follows one loop that has shared connections.
type sharing struct {
	t      *timeline.Timeline
	f      *facts.Facts
	lasts  lasting
	conns  map[int32]*sentOn // as in asyncInput.sends
	byConn map[recording.ConnID]*sentOn
	sure   map[timeline.CallID]bool    // as in asyncInput
	all    bool                        // every request that goes on is seen to: none that is away does so unseen
	some   bool                        // a request that waits for several answers may go on at each of them
	holds  bool                        // the client holds calls back until those before are answered
	counts *causality.Counts[progress] // how many calls are sent at a point, on shared connections
	asides *causality.Counts[progress] // and on other connections
	sharedPass
}

// sharedPass is the result of one pass over what the loop did.
type sharedPass struct {
	now    recording.Time
	allEnd recording.Time // latest end of the requests that were read so far
	turn   sharedTurn
	acts   []*loops.Move // of the running turn: calls sent, and responses
	beside int           // calls under way on shared connections
	goingOn
	sharedGuesses
	sharedProof
}

// goingOn holds the owners that may go on, and how far each has come.
type goingOn struct {
	ready   []actor                  // owners that may go on
	resumed []actor                  // owners whose calls were answered
	set     map[*loops.Move][]int64  // result of timersSet
	naps    map[int64]*nap           // by id of a timer
	away    map[loops.Owner]progress // owners that could go on and did nothing: they wait for what no fact shows
	unnamed []unnamed                // those of them whose request is not known
	flying  map[loops.Owner]int      // calls under way, by owner
	did     map[loops.Owner]progress // by owner: what was done for it so far
}

// sharedGuesses holds the likely owners of calls.
type sharedGuesses struct {
	owner  map[timeline.CallID]loops.Owner          // a request, the owner of another call, or the call's own if nothing is known
	told   map[timeline.CallID]bool                 // calls whose owner ids show
	many   map[timeline.CallID]bool                 // calls asked for when several owners could go on
	either map[timeline.CallID][]loops.Owner        // candidates for a call whose owner could not be decided
	asked  map[timeline.CallID]recording.Time       // since when the owner could make the call
	of     map[timeline.RequestID][]timeline.CallID // the calls of a request
}

// sharedProof holds what confirms the guesses, and what contradicts them.
type sharedProof struct {
	proven map[timeline.RequestID]bool // requests that were answered in the turn of their own last call
	unsure map[timeline.RequestID]bool // requests that were not, or for which another may have been mistaken
	lost   map[timeline.RequestID]bool // requests for which it is not known when some calls were answered
	bound  int                         // requests proven only because they could be no other
	wrong  int                         // requests answered while calls of them seemed to be under way
	odd    int                         // requests answered in a turn that seemed to belong to others
	blurs  int                         // calls sent together with some that could not be separated
	// turns of an owner that could send a call on a shared connection while calls of others were under way on it
	could int
	sends int // those of them in which one was sent
}

// newSharedPass returns an empty pass; set is the loop's timersSet.
func newSharedPass(set map[*loops.Move][]int64) sharedPass {
	return sharedPass{
		goingOn: goingOn{set: set, naps: map[int64]*nap{}, away: map[loops.Owner]progress{}, flying: map[loops.Owner]int{}, did: map[loops.Owner]progress{}},
		sharedGuesses: sharedGuesses{
			owner: map[timeline.CallID]loops.Owner{}, told: map[timeline.CallID]bool{}, many: map[timeline.CallID]bool{},
			either: map[timeline.CallID][]loops.Owner{}, asked: map[timeline.CallID]recording.Time{}, of: map[timeline.RequestID][]timeline.CallID{},
		},
		sharedProof: sharedProof{proven: map[timeline.RequestID]bool{}, unsure: map[timeline.RequestID]bool{}, lost: map[timeline.RequestID]bool{}},
	}
}

// sharedTurn is what began the running callbacks, if it was a read.
type sharedTurn struct {
	n       int
	runs    bool
	counter int64
	checked bool  // immediates ran since the last read
	sent    bool  // a call was sent on a shared connection
	judged  bool  // the turn is counted in could and sends
	under   int   // calls that were under way on shared connections when the turn began
	nap     *nap  // nil: no timer was set in the turn
	tick    int64 // last id given out before the loop's tick, as far as known
}

// associateShared assigns the calls of a loop on shared connections, and what was sent in the turn of several
// answers. It does nothing if no connection is shared.
func associateShared(t *timeline.Timeline, f *facts.Facts, in asyncInput) {
	if len(in.shared) == 0 {
		return
	}
	// computed again: moves that only continue a read's turn have been marked since (MoveAlong), and begin no turn
	lasts := lastingIDs(t, in.loop.Moves, nil)
	in.trustNames(t)
	byConn := map[recording.ConnID]*sentOn{}
	for _, c := range in.sends {
		byConn[t.Calls[c.calls[0]].Conn] = c
	}
	var best *sharing
	all, set := allTold(in.loop.Moves), timersSet(in.loop.Moves)
	for _, how := range []struct{ some, holds bool }{{}, {some: true}, {holds: true}} {
		if how.holds && !best.held() {
			break
		}
		w := &sharing{
			t: t, f: f, sure: in.sure, lasts: lasts, conns: in.sends, byConn: byConn, all: all, some: how.some, holds: how.holds,
			counts: causality.NewCounts(progress.usual), asides: causality.NewCounts(progress.usual),
		}
		w.learn(in.loop.Moves)
		w.play(in.loop.Moves, set)
		if best == nil || w.holds || w.found() > best.found() {
			best = w
		}
		if len(best.either)*wellTold < len(best.owner) && best.wrong == 0 && !best.held() {
			break
		}
	}
	best.give(in)
}

// allTold reports whether the owner is known each time that one goes on. It is not if messages of worker threads have
// no known owner.
func allTold(moves []loops.Move) bool {
	messages := slices.ContainsFunc(moves, func(m loops.Move) bool { return m.Kind == loops.MoveFired && m.Port != 0 && m.By == loops.Nobody })
	return len(moves) > 0 && len(toldMoves(moves)) == len(moves) && !messages
}

// wellTold: no better reading is sought if fewer than one in this many calls could not be decided.
const wellTold = 200

// found is how many calls have a confirmed request, less a penalty for each contradiction.
func (w *sharing) found() int {
	n := -minRightPerWrong * w.wrong
	for id := range w.owner {
		if w.confirmed(id) != timeline.None {
			n++
		}
	}
	return n
}

// learn finds how many calls requests send at which point.
func (w *sharing) learn(moves []loops.Move) {
	some := moves[:min(len(moves), learns)]
	set := timersSet(some)
	for range passes {
		w.play(some, set)
		if on, off := w.counts.Solve(), w.asides.Solve(); !on && !off {
			break
		}
	}
	w.counts.Learning, w.asides.Learning = false, false
}

// learns is from how many moves this is learned, in at most passes passes. Each pass decides more of what requests
// do, and so which point each has come to.
const (
	learns = 30000
	passes = 8
)

// play runs through what the loop did; set is the moves' timersSet.
func (w *sharing) play(moves []loops.Move, set map[*loops.Move][]int64) {
	w.sharedPass = newSharedPass(set)
	for _, c := range w.conns {
		c.sent, c.answered = 0, 0
	}
	for i := range moves {
		w.step(&moves[i])
	}
	w.end()
}

func (w *sharing) step(m *loops.Move) {
	w.now = m.At
	switch m.Kind {
	case loops.MoveRead, loops.MoveBody:
		w.begin(m)
		who := loops.OfRequest(m.Request)
		w.allEnd = max(w.allEnd, w.t.Requests[m.Request].End)
		if m.Kind == loops.MoveBody { // a request that waits for all of its body begins here
			w.ready = slices.DeleteFunc(w.ready, func(a actor) bool { return a.who == who })
		}
		if _, went := w.did[who]; !went {
			w.goesOn(who, progress{endpoint: w.t.Requests[m.Request].Endpoint}, m)
		}
	case loops.MoveAnswer:
		w.begin(m)
		w.answers(m)
	case loops.MoveForeign:
		w.begin(m)
		if c := w.conns[m.Conn]; c != nil && c.shared {
			w.goesOn(loops.Nobody, progress{}, m)
		}
	case loops.MoveHandshake:
		if !m.Callback() {
			w.begin(m)
		}
	case loops.MoveConnect:
		if m.Call != timeline.None && !w.conns[m.Conn].shared {
			w.acts = append(w.acts, m)
		}
	case loops.MoveSend, loops.MoveRespond, loops.MoveAside:
		w.acts = append(w.acts, m)
	case loops.MoveFired:
		w.begin(m)
		w.wakes(m)
	case loops.MoveBoundary:
		w.end()
		w.lieDown()
		w.turn.runs = false
		if m.Trigger == 1 && m.Counter > 0 {
			w.turn.tick = m.Counter
		}
		w.turn.checked = m.Trigger != 1
	case loops.MoveBlock:
		w.end()
		if w.turn.runs = false; m.Counter > 0 {
			w.turn.tick = m.Counter
		}
		w.leave()
	}
}

// begin ends the running turn and begins another.
func (w *sharing) begin(m *loops.Move) {
	w.end()
	w.lieDown()
	if w.holds {
		w.ready = slices.DeleteFunc(w.ready, func(a actor) bool { return a.point.over })
	}
	if w.turn.checked { // all that asked for an immediate got it
		w.leave()
	}
	for i := len(w.ready) - 1; i >= 0 && w.ready[i].turn == w.turn.n; i-- {
		w.ready[i].until = m.Counter
	}
	w.turn = sharedTurn{n: w.turn.n + 1, runs: true, counter: m.Counter, under: w.beside, tick: w.turn.tick}
	w.setsTimers(m)
}

// answers ends the calls whose answers a move read.
func (w *sharing) answers(m *loops.Move) {
	defer w.release(m)
	c := w.conns[m.Conn]
	for c.answered < c.sent {
		id := c.calls[c.answered]
		call := &w.t.Calls[id]
		if call.End > m.At || call.Cut {
			return
		}
		if c.answered++; c.shared {
			w.beside--
		}
		who := w.who(loops.OfCall(id))
		if who == loops.Nobody {
			w.resumed = append(w.resumed, actor{who: loops.Nobody})
			continue
		}
		left := w.flying[who] - 1
		if w.flying[who] = left; left == 0 {
			delete(w.flying, who)
		}
		did := w.did[who]
		did.answers = min(did.answers+1, 100)
		w.did[who] = did
		if left > 0 && !w.some {
			continue
		}
		if r, ok := who.Request(); !ok && left == 0 || ok && !w.answeredBefore(r, m.At) {
			w.resumed = append(w.resumed, actor{who: who, point: did.after(call, left)})
		}
	}
}

// who returns the owner of a call by following the guesses.
func (w *sharing) who(r loops.Owner) loops.Owner {
	for {
		id, ok := r.Call()
		if !ok {
			return r
		}
		switch next, known := w.owner[id]; {
		case !known:
			return loops.Nobody
		case next == r:
			return r
		default:
			r = next
		}
	}
}

// answeredBefore reports whether a request's response was written before a time.
func (w *sharing) answeredBefore(r timeline.RequestID, at recording.Time) bool {
	first := w.t.Requests[r].FirstWrite
	return first != recording.NoTime && first < at
}
