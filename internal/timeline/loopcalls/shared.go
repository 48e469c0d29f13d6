package loopcalls

import (
	"cmp"
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
	t       *timeline.Timeline
	f       *facts.Facts
	lasts   lasting
	conns   map[int32]*sharedConn // by index in facts.conns
	byConn  map[recording.ConnID]*sharedConn
	habits  *causality.Counts[progress] // of how many calls are sent on shared connections
	offs    *causality.Counts[progress] // and on others
	sure    map[timeline.CallID]bool    // as in asyncInput
	some    bool                        // who waits for several answers may go on at each
	holds   bool                        // the client holds calls back until those before are answered
	all     bool                        // whoever goes on is told: nobody who is away does so unseen
	ready   []actor                     // who may go on, and was not seen to do anything yet
	resumed []actor                     // whose calls were answered
	turn    sharedTurn
	acts    []*loops.Move // of the turn that runs: calls sent, and responses

	owner  map[timeline.CallID]loops.Owner    // whose a call is: a request; or that of another call; its own, if not known
	told   map[timeline.CallID]bool           // by ids
	many   map[timeline.CallID]bool           // asked for when several could go on
	either map[timeline.CallID][]loops.Owner  // who may have made it, where that could not be told apart
	asked  map[timeline.CallID]recording.Time // since when whoever made it could
	flying map[loops.Owner]int                // calls under way
	did    map[loops.Owner]progress           // what was done for it so far

	set  map[*loops.Move][]int64 // timersSet
	naps map[int64]*nap          // by timer
	suspended

	of     map[timeline.RequestID][]timeline.CallID // what was guessed
	proven map[timeline.RequestID]bool              // it was answered in the turn of its own last call
	unsure map[timeline.RequestID]bool              // it was not, or another in its stead
	lost   map[timeline.RequestID]bool              // when some of its calls were answered is not known
	wrong  int                                      // requests answered while calls of them seemed to be under way
	odd    int                                      // in a turn that was taken for others'
	blurs  int                                      // calls sent together with some that were not told apart
	beside int                                      // calls under way on shared connections
	could  int                                      // turns of somebody who could send a call on a shared connection while others' were under way there
	sends  int                                      // in which that was done
	bound  int                                      // proven by nothing but who else it could be
}

// sharedConn are the calls on one connection.
type sharedConn struct {
	calls          []timeline.CallID
	sent, answered int  // how many were
	shared         bool // some were sent before the one before was answered
}

// actor is a request, or that of a call whichever that is, that may go on.
type actor struct {
	who     loops.Owner
	habit   progress
	turn    int   // in which it may
	until   int64 // last id given out before the next turn; 0: that is still to come
	counter int64 // last id given out before its turn
	at      recording.Time
	went    turnActivity // what it was seen to do
	nap     *nap         // in its turn; nil: no timer was set
	spent   bool         // sends nothing more but what it asked for in its turn already
	gone    bool
	told    bool // of those it was known whose they are
}

// idle reports who did nothing in its turn, and is not over.
func (a *actor) idle() bool { return a.went == nothingSent && !a.habit.over && !a.habit.some }

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
	conns, byConn := callsByConn(t, in.loop.Moves)
	if !anyShared(t, conns) {
		return
	}
	lasts := lastingIDs(t, in.loop.Moves, nil)
	in.trustNames(t, conns)
	var best *sharing
	for _, how := range []struct{ some, holds bool }{{}, {some: true}, {holds: true}} {
		if how.holds && !best.held() {
			break
		}
		w := &sharing{
			t: t, f: f, sure: in.sure, lasts: lasts, conns: conns, byConn: byConn, some: how.some, holds: how.holds,
			all:    allTold(in.loop.Moves),
			habits: causality.NewCounts(progress.usual), offs: causality.NewCounts(progress.usual),
		}
		w.learn(in.loop.Moves)
		w.play(in.loop.Moves, timersSet(in.loop.Moves))
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
	n := 0
	for _, c := range w.conns {
		for _, id := range c.calls {
			if w.confirmed(id) != timeline.None {
				n++
			}
		}
	}
	return n - minRightPerWrong*w.wrong
}

// learn finds what requests do at which point.
func (w *sharing) learn(moves []loops.Move) {
	some := moves[:min(len(moves), learns)]
	set := timersSet(some)
	for range passes {
		w.play(some, set)
		if on, off := w.habits.Solve(), w.offs.Solve(); !on && !off {
			break
		}
	}
	w.habits.Learning, w.offs.Learning = false, false
}

// reset forgets all but how many calls are sent at each point.
func (w *sharing) reset() {
	w.ready, w.resumed, w.acts, w.turn = nil, nil, nil, sharedTurn{}
	w.owner, w.told, w.many, w.either = map[timeline.CallID]loops.Owner{}, map[timeline.CallID]bool{}, map[timeline.CallID]bool{}, map[timeline.CallID][]loops.Owner{}
	w.asked, w.flying, w.did, w.suspended = map[timeline.CallID]recording.Time{}, map[loops.Owner]int{}, map[loops.Owner]progress{}, suspended{away: map[loops.Owner]progress{}}
	w.of, w.proven, w.unsure, w.lost = map[timeline.RequestID][]timeline.CallID{}, map[timeline.RequestID]bool{}, map[timeline.RequestID]bool{}, map[timeline.RequestID]bool{}
	w.wrong, w.odd, w.blurs, w.bound, w.beside, w.could, w.sends = 0, 0, 0, 0, 0, 0, 0
}

// learns is from how many moves that is learned, in so many passes at most: each tells
// apart more of what requests do, and so who is at which point then.
const (
	learns = 30000
	passes = 8
)

// mostReady bounds those who may go on and do nothing, where nothing shows that a loop's
// turn is over.
const mostReady = 1024

// play follows what the loop did; set are its timersSet.
func (w *sharing) play(moves []loops.Move, set map[*loops.Move][]int64) {
	w.reset()
	for _, c := range w.conns {
		c.sent, c.answered = 0, 0
	}
	w.set, w.naps = set, map[int64]*nap{}
	for i := range moves {
		w.step(&moves[i])
	}
	w.end()
}

// callsByConn lists the calls of the connections that a loop uses, in order.
func callsByConn(t *timeline.Timeline, moves []loops.Move) (conns map[int32]*sharedConn, seen map[recording.ConnID]*sharedConn) {
	conns, seen = map[int32]*sharedConn{}, map[recording.ConnID]*sharedConn{}
	for i := range moves {
		if m := &moves[i]; m.Call != timeline.None && conns[m.Conn] == nil {
			c := &sharedConn{}
			conns[m.Conn], seen[t.Calls[m.Call].Conn] = c, c
		}
	}
	for i := range t.Calls {
		if c := seen[t.Calls[i].Conn]; c != nil {
			c.calls = append(c.calls, timeline.CallID(i))
		}
	}
	return conns, seen
}

// anyShared finds the shared connections: whose client sent a call while one was under way.
func anyShared(t *timeline.Timeline, conns map[int32]*sharedConn) (found bool) {
	for _, c := range conns {
		slices.SortFunc(c.calls, func(a, b timeline.CallID) int { return cmp.Compare(t.Calls[a].Ordinal, t.Calls[b].Ordinal) })
		for k := 1; k < len(c.calls) && !c.shared; k++ {
			before, next := &t.Calls[c.calls[k-1]], &t.Calls[c.calls[k]]
			c.shared = before.Excluded == "" && next.Excluded == "" && next.SendFrom < before.End
		}
		found = found || c.shared
	}
	return found
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
		w.ready = slices.DeleteFunc(w.ready, func(a actor) bool { return a.habit.over })
	}
	if w.turn.checked { // all who asked for an immediate got it
		w.leave()
	}
	for i := len(w.ready) - 1; i >= 0 && w.ready[i].turn == w.turn.n; i-- {
		w.ready[i].until = m.Counter
	}
	w.turn.n++
	w.turn.runs, w.turn.counter, w.turn.checked, w.turn.sent, w.turn.judged = true, m.Counter, false, false, false
	w.turn.under = w.beside
	w.setsTimers(m)
}

// goesOn notes that somebody may go on.
func (w *sharing) goesOn(who loops.Owner, h progress, m *loops.Move) {
	if len(w.ready) >= mostReady {
		w.leave()
	}
	if w.holds && who != loops.Nobody {
		w.ready = slices.DeleteFunc(w.ready, func(a actor) bool { return a.who == who })
	}
	w.ready = append(w.ready, actor{who: who, habit: h, turn: w.turn.n, counter: m.Counter, at: m.At, nap: w.turn.nap})
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
			w.resumed = append(w.resumed, actor{who: who, habit: did.after(call, left)})
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
		next, ok := w.owner[id]
		if !ok {
			return loops.Nobody
		}
		if next == r {
			return r
		}
		r = next
	}
}

// answeredBefore reports whether a request's response was written before a time.
func (w *sharing) answeredBefore(r timeline.RequestID, at recording.Time) bool {
	first := w.t.Requests[r].FirstWrite
	return first != recording.NoTime && first < at
}
