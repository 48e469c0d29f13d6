package causality

import (
	"maps"
	"slices"
)

// Chain tells whose calls are that strands send which go on with the work of several owners, one thing after
// the other: what one of them sends follows from what it read right before. That is said of a call if of all that
// was read since the strand slept, and has led to nothing yet, there is one. It holds as long as nobody else could have
// sent the call: no other owner is open without a call under way, as one is that waits for a timer, a thread or a place
// in a pool; such a one is dark. Whether it holds otherwise, too, responses say: each is written in the turn in
// which an answer to a call of its own owner was read.
type Chain[O, C ~int32] struct {
	Owner map[C]O
	Said  Tally // responses in the turn of an answer to a call of which it is known whose it is; odd: another's
	Told  int   // in that of a call of which nothing else was known

	trust            Trust
	rest             bool // what nobody else can have sent is of the one that is dark
	open             map[O]*chained
	dark             int               // how many of those are
	turns            []chainTurn[O, C] // by strand
	*chainTurn[O, C]                   // of the strand that does what is noted
	opener           map[int32]O       // by connection: who opened it
	begun            map[C]bool        // calls that were sent
	over             map[C]bool        // and those whose answer began
	after            map[C]C           // the answer that had been read right before a call was sent of which it is not sure whose it is
}

// Trust says what a chain believes that a strand sends follows from.
type Trust int8

const (
	Freely   Trust = iota // whatever it read last
	Once                  // what it read as a whole, and once that has led to something it alone where nobody else is dark, since timers let others go on in the same turn
	Strictly              // all that where nobody else is dark
)

// chainTurn is what a strand has done since it slept.
type chainTurn[O, C ~int32] struct {
	pending []O            // what was read, and has led to nothing yet: whose it was
	last    O              // whose what was read last was; Nobody: that is not known
	answer  C              // what was read last, if that was an answer; else Nobody
	freed   map[int32]bool // connections that were answered on
}

// chained is an open owner.
type chained struct {
	calls   int // under way
	pending bool
}

func (c *chained) isDark() bool { return c.calls == 0 && !c.pending }

// NewChain returns one of which nothing is noted; rest says that what nobody else can have sent is of the one that is dark.
func NewChain[O, C ~int32](trust Trust, rest bool) *Chain[O, C] {
	return &Chain[O, C]{
		Owner: map[C]O{}, trust: trust, rest: rest, open: map[O]*chained{}, opener: map[int32]O{},
		begun: map[C]bool{}, over: map[C]bool{}, after: map[C]C{},
	}
}

// enoughSaid is how many responses must say the same before a chain is believed.
const enoughSaid = 20

// Believed reports that responses confirm a chain: hardly any says otherwise, and there is one
// for every fourth owner that calls were given to. Of strands that share tasks those count,
// too, that tell whose an answer was where nothing else does, as behind a semaphore.
func (l *Chain[O, C]) Believed(share bool) bool {
	say := l.Said.All - l.Said.Odd
	if share {
		say += l.Told
	}
	of := map[O]bool{}
	for _, o := range l.Owner {
		of[o] = true
	}
	return l.Said.Holds(enoughSaid, 2*Surely) && 4*say >= len(of) // twice: nothing else tells of these calls
}

// On says which strand, by number, does what is noted next.
func (l *Chain[O, C]) On(strand int) {
	for len(l.turns) <= strand {
		l.turns = append(l.turns, chainTurn[O, C]{last: Nobody, answer: Nobody, freed: map[int32]bool{}})
	}
	l.chainTurn = &l.turns[strand]
}

// set changes an open owner and counts whether it is dark.
func (l *Chain[O, C]) set(o O, change func(*chained)) {
	c := l.open[o]
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

// Come notes that an owner was read that may be new.
func (l *Chain[O, C]) Come(o O) {
	if l.open[o] == nil {
		l.open[o] = &chained{pending: true}
		l.pending = append(l.pending, o)
	}
	l.Read(o)
}

// Read notes that something was read: whose it is, Nobody if that is not known, may go on.
func (l *Chain[O, C]) Read(o O) {
	l.last, l.answer = o, Nobody
	switch c := l.open[o]; {
	case c == nil: // each of them may be another's
		l.pending = append(l.pending, Nobody)
	case !c.pending:
		l.set(o, func(c *chained) { c.pending = true })
		l.pending = append(l.pending, o)
	}
}

// Answer notes that the answer to a call was read, or its end: the turn of whose call that was begins.
func (l *Chain[O, C]) Answer(call C) {
	o, known := l.Owner[call]
	if !known {
		o = Nobody
	}
	if !l.over[call] {
		l.over[call] = true
		l.set(o, func(c *chained) { c.calls = max(0, c.calls-1) })
	}
	l.Read(o)
	l.answer = call
}

// Answered is the call whose answer was read last, Nobody if something else was, or sent, since.
func (l *Chain[O, C]) Answered() C { return l.answer }

// Free notes that a connection may be free for whoever waited for it.
func (l *Chain[O, C]) Free(conn int32) { l.freed[conn] = true }

// Open notes that a connection is opened.
func (l *Chain[O, C]) Open(conn int32) {
	if o := l.acts(); o != Nobody {
		l.opener[conn] = o
		l.set(o, func(c *chained) { c.calls++ })
		l.led(o)
	}
}

// Opening notes that something was read on a connection before the first call was sent there.
func (l *Chain[O, C]) Opening(conn int32) {
	if o, ok := l.opener[conn]; ok {
		l.Read(o)
	}
}

// acts tells who does what the strand does now; Nobody if it may be several, or nobody known.
func (l *Chain[O, C]) acts() O {
	c := l.open[l.last]
	if c == nil || slices.ContainsFunc(l.pending, func(o O) bool { return o != l.last }) {
		return Nobody
	}
	others := l.dark > 1 || l.dark == 1 && !c.isDark() // may do something at any time
	if others && (l.trust == Strictly || l.trust == Once && len(l.pending) == 0) {
		return Nobody
	}
	return l.last
}

// led notes that an owner went on: it did something that was seen.
func (l *Chain[O, C]) led(o O) {
	l.set(o, func(c *chained) { c.pending = false })
	l.pending = slices.DeleteFunc(l.pending, func(p O) bool { return p == o })
}

// Send notes a call on a connection; sole is whose it must be as nobody else was there, else Nobody.
func (l *Chain[O, C]) Send(call C, conn int32, sole O) {
	if l.begun[call] {
		return
	}
	if l.answer != Nobody && len(l.pending) == 1 {
		l.after[call] = l.answer
	}
	l.begun[call], l.answer = true, Nobody
	o := l.acts()
	if l.freed[conn] && l.dark > 0 { // whoever waited for it may have it now
		o = Nobody
	}
	opened, connected := l.opener[conn]
	connected = connected && l.open[opened] != nil
	if delete(l.opener, conn); connected { // its first call is of who connected for it
		o = opened
	}
	if o == Nobody && l.rest && l.dark == 1 && l.open[l.last] == nil {
		o = l.soleDark()
	}
	if sole != Nobody {
		o = sole
	}
	if o == Nobody {
		return
	}
	l.Owner[call] = o
	l.set(o, func(c *chained) {
		if !connected {
			c.calls++
		}
	})
	l.led(o)
}

// soleDark is the one open owner that is dark, if all others wait for a call; else Nobody.
func (l *Chain[O, C]) soleDark() O {
	sole := O(Nobody)
	for o, c := range l.open {
		switch {
		case c.isDark():
			sole = o
		case c.calls == 0:
			return Nobody
		}
	}
	return sole
}

// Respond holds the chain against who is responded to; before: the answer that was read last was to a call that was sent
// before that owner came. Where the chain has no owner for that answer, nor for anything sent since, the response tells: of
// who seemed to do nothing.
func (l *Chain[O, C]) Respond(o O, before bool) {
	c := l.open[o]
	if c == nil {
		return
	}
	if l.answer != Nobody && len(l.pending) == 1 {
		switch by := l.pending[0]; {
		case by != Nobody, before:
			l.Said.Add(by != o)
		case c.isDark():
			l.Told++
			l.Owner[l.answer] = o
			l.pending = l.pending[:0]
		}
	}
	l.led(o)
	if c.isDark() {
		l.dark--
	}
	delete(l.open, o)
}

// Sleep ends what was read: whoever did nothing until now waits for something that is not seen.
func (l *Chain[O, C]) Sleep() {
	for _, o := range l.pending {
		l.set(o, func(c *chained) { c.pending = false })
	}
	l.pending, l.last, l.answer = l.pending[:0], Nobody, Nobody
	clear(l.freed)
}

// Bridge tells whose calls are that lie between two of one owner, each sent right after the answer to
// the one before was read, and nothing else: another may have sent one of them, but hardly all.
func (l *Chain[O, C]) Bridge() {
	for _, last := range slices.Sorted(maps.Keys(l.Owner)) {
		o, between := l.Owner[last], []C{}
		for call, follows := l.after[last]; follows; call, follows = l.after[call] {
			of, known := l.Owner[call]
			if known && of == o {
				for _, c := range between {
					l.Owner[c] = o
				}
			}
			if known {
				break
			}
			between = append(between, call)
		}
	}
}
