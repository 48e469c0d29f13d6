package loopcalls

import (
	"maps"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// A loop whose runtime has no ids that could be read, as that of nginx, still does one thing
// after the other: what it sends follows from what it read right before. That is said of a call
// if of all that was read since the loop slept, and has led to nothing yet, there is one. It is
// believed if the loop's responses say the same: each is written in the turn in which an answer
// to a call of its own request was read. Where they do not, it may still hold as long as nobody
// else could have sent the call: no other request is open without a call under way, as one is
// that waits for a timer, a thread or a place in a pool. Threads that share tasks, as those of
// tokio and the carriers of virtual threads do, go on with each other's requests: what one of
// them sends follows from what that very thread read, or is of the one request that waits for something
// else than a call. What may be another's is given where calls before it and after it are of one request.

// trust says what a chain believes that a loop sends follows from: freely, whatever it read last;
// once, that which it read as a whole, and once it has led to something that alone where nobody else
// is dark, since timers let others go on in the same turn; strictly, all that where nobody else is dark.
type trust int8

const (
	freely trust = iota
	once
	strictly
)

// chainedMove is a move with the place of its loop among those of its process.
type chainedMove struct {
	*loops.Move
	loop int
}

// chainedMoves lists what the loops of a process did, in order of time, where they work for each
// other's requests; else nothing of several loops that read requests, of which one may do so unseen.
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

// linked is what the chain of a loop's moves says of its calls.
type linked struct {
	t          *timeline.Timeline
	trust      trust
	rest       bool // what nobody else can have sent is of the one that is dark
	open       map[timeline.RequestID]*chained
	dark       int                          // open requests that may do something at any time, see isDark
	turns      []chainTurn                  // by loop
	*chainTurn                              // of the loop whose move it is
	opener     map[int32]timeline.RequestID // who connected
	owner      map[timeline.CallID]timeline.RequestID
	begun      map[timeline.CallID]bool            // calls that were sent
	over       map[timeline.CallID]bool            // and those whose answer began
	said       causality.Tally                     // responses in the turn of an answer to a call of which it is known whose it is; odd: another's
	told       int                                 // in that of a call of which nothing else was known
	after      map[timeline.CallID]timeline.CallID // the answer that had been read right before a call was sent of which it is not sure whose it is
}

// chainTurn is what a loop has done since it slept.
type chainTurn struct {
	pending []timeline.RequestID // what was read, and has led to nothing yet: whose it was
	last    timeline.RequestID   // whose what was read last was; None: nobody's that is known
	answer  timeline.CallID      // what was read last, if that was an answer; else None
	freed   map[int32]bool       // connections that were answered on
}

// chained is an open request.
type chained struct {
	calls     int // under way
	pending   bool
	responded bool
}

func (c *chained) isDark() bool { return c.calls == 0 && !c.pending && !c.responded }

// minConfirmed is how many responses must say the same before a chain is believed.
const minConfirmed = 20

// associateChain gives the calls of loops that could be several requests' to the one that the
// chain of moves leads to, if responses confirm it.
func associateChain(t *timeline.Timeline, loops []loops.Loop) {
	moves := chainedMoves(loops)
	trusts := []trust{freely, strictly}
	if loops[0].Wander {
		trusts = []trust{freely, once, strictly}
	}
	for _, trust := range trusts {
		l := linkMoves(t, moves, trust, false)
		if l.believed(loops[0].Wander) {
			if more := linkMoves(t, moves, trust, true); loops[0].Wander && more.believed(true) {
				l = more
			}
			l.bridge()
			l.associate()
			return
		}
	}
}

// believed reports that responses confirm a chain: hardly any says otherwise, and there is one
// for every fourth request that calls were given to. Of threads that share tasks those count,
// too, that tell whose an answer was where nothing else does, as behind a semaphore.
func (l *linked) believed(wander bool) bool {
	say := l.said.All - l.said.Odd
	if wander {
		say += l.told
	}
	of := map[timeline.RequestID]bool{}
	for _, r := range l.owner {
		of[r] = true
	}
	return l.said.Holds(minConfirmed, 2*causality.Surely) && 4*say >= len(of) // twice: nothing else tells of these calls
}

func linkMoves(t *timeline.Timeline, moves []chainedMove, trust trust, rest bool) *linked {
	l := &linked{
		t: t, trust: trust, rest: rest, open: map[timeline.RequestID]*chained{}, opener: map[int32]timeline.RequestID{},
		owner: map[timeline.CallID]timeline.RequestID{}, begun: map[timeline.CallID]bool{}, over: map[timeline.CallID]bool{}, after: map[timeline.CallID]timeline.CallID{},
	}
	for i := range moves {
		for len(l.turns) <= moves[i].loop {
			l.turns = append(l.turns, chainTurn{last: timeline.None, answer: timeline.None, freed: map[int32]bool{}})
		}
		l.chainTurn = &l.turns[moves[i].loop]
		l.move(moves[i].Move)
	}
	return l
}

func (l *linked) associate() {
	for call, r := range l.owner {
		c := &l.t.Calls[call]
		if c.Why != timeline.WhyAmbiguous || c.SendFrom < l.t.Requests[r].FirstRead || c.End > l.t.Requests[r].End || c.Cut {
			continue
		}
		l.t.Assign(c, r, timeline.WhyLoopChain)
	}
}

// set changes an open request and counts whether it is dark.
func (l *linked) set(r timeline.RequestID, change func(*chained)) {
	c := l.open[r]
	if c == nil {
		return
	}
	if c.isDark() {
		l.dark--
	}
	change(c)
	if c.isDark() {
		l.dark++
	}
}

func (l *linked) move(m *loops.Move) {
	switch m.Kind {
	case loops.MoveRead:
		if l.open[m.Request] == nil {
			l.open[m.Request] = &chained{pending: true}
			l.pending = append(l.pending, m.Request)
		}
		l.begin(m.Request)
	case loops.MoveBody:
		l.begin(m.Request)
	case loops.MoveForeign:
		if m.Call == timeline.None {
			l.begin(timeline.None)
		} else {
			l.answered(m.Call)
		}
	case loops.MoveAnswer:
		l.freed[m.Conn] = true
		if l.trust != once || l.t.Calls[m.Call].End <= m.At {
			l.answered(m.Call)
		}
	case loops.MoveHandshake:
		if r, ok := l.opener[m.Conn]; ok {
			l.begin(r)
		}
	case loops.MoveConnect:
		if r := l.acts(); r != timeline.None {
			l.opener[m.Conn] = r
			l.set(r, func(c *chained) { c.calls++ })
			l.led(r)
		}
	case loops.MoveSend:
		l.sent(m)
	case loops.MoveRespond:
		l.responds(m.Request)
	case loops.MoveBlock, loops.MoveBoundary:
		l.sleeps()
	}
}

// begin notes that something was read: whose it is may go on.
func (l *linked) begin(r timeline.RequestID) {
	l.last, l.answer = r, timeline.None
	c := l.open[r]
	switch {
	case c == nil: // each of them may be another's
		l.pending = append(l.pending, timeline.None)
	case c != nil && !c.pending:
		l.set(r, func(c *chained) { c.pending = true })
		l.pending = append(l.pending, r)
	}
}

// acts tells who does what the loop does now; None if it may be several, or nobody known.
func (l *linked) acts() timeline.RequestID {
	c := l.open[l.last]
	if c == nil || slices.ContainsFunc(l.pending, func(r timeline.RequestID) bool { return r != l.last }) {
		return timeline.None
	}
	if l.others(c) && (l.trust == strictly || l.trust == once && len(l.pending) == 0) {
		return timeline.None
	}
	return l.last
}

// others reports that somebody else may do something at any time.
func (l *linked) others(c *chained) bool { return l.dark > 1 || l.dark == 1 && !c.isDark() }

// led notes that a request went on: it did something that was seen.
func (l *linked) led(r timeline.RequestID) {
	l.set(r, func(c *chained) { c.pending = false })
	l.pending = slices.DeleteFunc(l.pending, func(p timeline.RequestID) bool { return p == r })
}

func (l *linked) sent(m *loops.Move) {
	if l.begun[m.Call] {
		return
	}
	if l.answer != timeline.None && len(l.pending) == 1 {
		l.after[m.Call] = l.answer
	}
	l.begun[m.Call], l.answer = true, timeline.None
	r := l.acts()
	if l.freed[m.Conn] && l.dark > 0 { // whoever waited for it may have it now
		r = timeline.None
	}
	opened, connected := l.opener[m.Conn]
	connected = connected && l.open[opened] != nil
	if delete(l.opener, m.Conn); connected { // its first call is of who connected for it
		r = opened
	}
	if r == timeline.None && l.rest && l.dark == 1 && l.open[l.last] == nil {
		r = l.soleDark()
	}
	if sole := l.t.Calls[m.Call].Request; sole != timeline.None { // nobody else was there
		r = sole
	}
	if r == timeline.None {
		return
	}
	l.owner[m.Call] = r
	l.set(r, func(c *chained) {
		if !connected {
			c.calls++
		}
	})
	l.led(r)
}

// soleDark is the one open request that waits for something that is not seen, if all others wait for a call; else None.
func (l *linked) soleDark() timeline.RequestID {
	sole := timeline.RequestID(timeline.None)
	for id, c := range l.open {
		switch {
		case c.isDark():
			sole = id
		case c.calls == 0:
			return timeline.None
		}
	}
	return sole
}

// bridge tells whose calls are that lie between two of one request, each sent right after the answer to
// the one before was read, and nothing else: another may have sent one of them, but hardly all.
func (l *linked) bridge() {
	for _, last := range slices.Sorted(maps.Keys(l.owner)) {
		r, between := l.owner[last], []timeline.CallID{}
		for call, follows := l.after[last]; follows; call, follows = l.after[call] {
			of, known := l.owner[call]
			if known && of == r {
				for _, c := range between {
					l.owner[c] = r
				}
			}
			if known {
				break
			}
			between = append(between, call)
		}
	}
}

// answered begins the turn of whose call that was.
func (l *linked) answered(call timeline.CallID) {
	r, known := l.owner[call]
	if !known {
		r = timeline.None
	}
	if !l.over[call] {
		l.over[call] = true
		l.set(r, func(c *chained) { c.calls = max(0, c.calls-1) })
	}
	l.begin(r)
	l.answer = call
}

// responds holds the chain against who is responded to. Where it has no request for the
// answer that was read, nor for anything sent since, the response tells: of who seemed to do nothing.
func (l *linked) responds(r timeline.RequestID) {
	c := l.open[r]
	if c == nil {
		return
	}
	if l.answer != timeline.None && len(l.pending) == 1 {
		switch by := l.pending[0]; {
		case by != timeline.None, l.t.Calls[l.answer].SendFrom < l.t.Requests[r].FirstRead:
			l.said.Add(by != r)
		case c.isDark():
			l.told++
			l.owner[l.answer] = r
			l.pending = l.pending[:0]
		}
	}
	l.led(r)
	l.set(r, func(c *chained) { c.responded = true })
	delete(l.open, r)
}

// sleeps ends what was read: whoever did nothing until now waits for something that is not seen.
func (l *linked) sleeps() {
	for _, r := range l.pending {
		l.set(r, func(c *chained) { c.pending = false })
	}
	l.pending, l.last, l.answer = l.pending[:0], timeline.None, timeline.None
	clear(l.freed)
}
