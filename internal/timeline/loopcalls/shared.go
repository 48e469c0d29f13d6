package loopcalls

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// A client may send the calls of many requests on one connection, without waiting for
// answers: those come in the order of the calls. What several requests asked for is then
// often written at once, by whoever's callback came first, and several answers are read at
// once; ids tell nothing. But who can have asked is known: requests that were read, and
// those whose calls were all answered, in this order. If as many went on as calls were
// sent, each sent one, the first the first. Where requests of one kind are known to send
// more, or none, at that point, their number has to agree. What cannot be told apart is
// nobody's, until one of them alone is answered: the response that is written in the turn
// of an answer is of the request whose call that was. It confirms all that was guessed
// about that request, or takes it back.

// sharing follows one loop some of whose connections are shared.
type sharing struct {
	t      *timeline.Timeline
	f      *facts.Facts
	lasts  lasting
	conns  map[int32]*sentOn // as in asyncInput.sends
	byConn map[recording.ConnID]*sentOn
	sure   map[timeline.CallID]bool    // as in asyncInput
	all    bool                        // whoever goes on is told: nobody who is away does so unseen
	some   bool                        // who waits for several answers may go on at each
	holds  bool                        // the client holds calls back until those before are answered
	counts *causality.Counts[progress] // of how many calls are sent on shared connections
	asides *causality.Counts[progress] // and on others
	sharedPass
}

// sharedPass is what one pass over what the loop did tells.
type sharedPass struct {
	now    recording.Time
	allEnd recording.Time // of the last to end of the requests that were read so far
	turn   sharedTurn
	acts   []*loops.Move // of the turn that runs: calls sent, and responses
	beside int           // calls under way on shared connections
	goingOn
	sharedGuesses
	sharedProof
}

// goingOn is who may go on, and how far each has come.
type goingOn struct {
	ready   []actor                  // who may go on
	resumed []actor                  // whose calls were answered
	set     map[*loops.Move][]int64  // timersSet
	naps    map[int64]*nap           // by timer
	away    map[loops.Owner]progress // who could go on and did nothing: they wait for what no fact shows
	unnamed []unnamed                // those of whom it is not known which request they are
	flying  map[loops.Owner]int      // calls under way
	did     map[loops.Owner]progress // what was done for it so far
}

// sharedGuesses are whose calls seem to be.
type sharedGuesses struct {
	owner  map[timeline.CallID]loops.Owner          // a request; or that of another call; its own, if not known
	told   map[timeline.CallID]bool                 // by ids
	many   map[timeline.CallID]bool                 // asked for when several could go on
	either map[timeline.CallID][]loops.Owner        // who may have made it, where that could not be told apart
	asked  map[timeline.CallID]recording.Time       // since when whoever made it could
	of     map[timeline.RequestID][]timeline.CallID // those of a request
}

// sharedProof is what confirms the guesses, and what contradicts them.
type sharedProof struct {
	proven map[timeline.RequestID]bool // it was answered in the turn of its own last call
	unsure map[timeline.RequestID]bool // it was not, or another in its stead
	lost   map[timeline.RequestID]bool // when some of its calls were answered is not known
	bound  int                         // proven by nothing but who else it could be
	wrong  int                         // requests answered while calls of them seemed to be under way
	odd    int                         // in a turn that was taken for others'
	blurs  int                         // calls sent together with some that were not told apart
	could  int                         // turns of somebody who could send a call on a shared connection while others' were under way there
	sends  int                         // in which that was done
}

// newSharedPass begins one; set are the loop's timersSet.
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

// sharedTurn is what began the callbacks that run, if it was a read.
type sharedTurn struct {
	n       int
	runs    bool
	counter int64
	checked bool  // immediates ran since the last read
	sent    bool  // a call was, on a shared connection
	judged  bool  // whether one could be, and was, is counted
	under   int   // calls that were under way there as it began
	nap     *nap  // nil: no timer was set in it
	tick    int64 // last id given out before the loop's tick, as far as is known
}

// associateShared associates the calls of a loop on shared connections, and what was sent
// in the turn of several answers. It does nothing where no connection is shared.
func associateShared(t *timeline.Timeline, f *facts.Facts, in asyncInput) {
	if len(in.shared) == 0 {
		return
	}
	lasts := lastingIDs(t, in.loop.Moves, nil) // anew: what only goes on after a read is marked since (MoveAlong), and begins no turn
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

// allTold reports whether it is told of all who go on who that is: not by messages of worker threads.
func allTold(moves []loops.Move) bool {
	messages := slices.ContainsFunc(moves, func(m loops.Move) bool { return m.Kind == loops.MoveFired && m.Port != 0 && m.By == loops.Nobody })
	return len(moves) > 0 && len(toldMoves(moves)) == len(moves) && !messages
}

// wellTold is of how many calls less than one is not told apart where nothing better is looked for.
const wellTold = 200

// found is how many calls are known to be whose they are, less those that are not and what
// speaks against them.
func (w *sharing) found() int {
	n := -minRightPerWrong * w.wrong
	for id := range w.owner {
		if w.confirmed(id) != timeline.None {
			n++
		}
	}
	return n
}

// learn finds what requests do at which point.
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

// learns is from how many moves that is learned, in so many passes at most: each tells
// apart more of what requests do, and so who is at which point then.
const (
	learns = 30000
	passes = 8
)

// play follows what the loop did; set are its timersSet.
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
		if m.Kind == loops.MoveBody { // what waits for all of it begins here
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

// begin ends the turn that runs and begins another.
func (w *sharing) begin(m *loops.Move) {
	w.end()
	w.lieDown()
	if w.holds {
		w.ready = slices.DeleteFunc(w.ready, func(a actor) bool { return a.point.over })
	}
	if w.turn.checked { // all who asked for an immediate got it
		w.leave()
	}
	for i := len(w.ready) - 1; i >= 0 && w.ready[i].turn == w.turn.n; i-- {
		w.ready[i].until = m.Counter
	}
	w.turn = sharedTurn{n: w.turn.n + 1, runs: true, counter: m.Counter, under: w.beside, tick: w.turn.tick}
	w.setsTimers(m)
}

// answers ends the calls whose answers were read with a move.
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

// who follows whose a call is.
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
