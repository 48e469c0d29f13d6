package causality

import (
	"maps"
	"slices"
)

// Chain finds the owners of calls on strands that work for several owners in turn. It assumes that what a strand
// sends follows from what it read right before. A call is assigned to an owner if, of everything that the strand read
// since it last slept and that has led to nothing yet, all belongs to that one owner. The assumption holds as long as
// no other owner could have sent the call. An open owner with no call under way could: it may be waiting for a timer,
// a thread or a place in a pool. Such an owner is called dark. Responses check whether the assumption holds beyond
// that: a response is written in the turn in which an answer to a call of its own owner was read.
type Chain[O, C ~int32] struct {
	Owner map[C]O
	// responses in the turn of an answer to a call whose owner is known, or that is older than the responding owner;
	// odd: the call does not belong to that owner
	Said Tally
	// responses in the turn of an answer to a call whose owner was not known otherwise
	Told int

	trust            Trust
	rest             bool // assign to the only dark owner what no other owner can have sent
	open             map[O]*chained
	dark             int               // how many open owners are dark
	turns            []chainTurn[O, C] // by strand
	*chainTurn[O, C]                   // of the strand that is noted now
	opener           map[int32]O       // by connection: the owner that opened it
	begun            map[C]bool        // calls that were sent
	over             map[C]bool        // calls whose answer began
	// by call whose owner may be doubtful: the call whose answer had been read right before that call was sent
	after map[C]C
}

// Trust is how much a chain believes of what was read, from the least careful to the most.
type Trust int8

const (
	Freely Trust = iota // a strand's output follows from what it read last
	// Once is for strands that share tasks. Only answers that were read as a whole count. What was read leads to one
	// action. Further actions are assigned only if no other owner is dark, since timers let others go on in the same
	// turn.
	Once
	Strictly // nothing is assigned while another owner is dark
)

// chainTurn is what a strand has done since it last slept.
type chainTurn[O, C ~int32] struct {
	pending []O            // owners of what was read and has led to nothing yet
	last    O              // owner of what was read last; Nobody: not known
	answer  C              // the call whose answer was read last, if that was the last thing read; else Nobody
	freed   map[int32]bool // connections on which an answer was read
}

// chained is an open owner.
type chained struct {
	calls   int // calls under way
	pending bool
}

func (c *chained) isDark() bool { return c.calls == 0 && !c.pending }

// NewChain returns an empty chain. If rest is true, a call that no other owner can have sent is assigned to the only
// dark owner.
func NewChain[O, C ~int32](trust Trust, rest bool) *Chain[O, C] {
	return &Chain[O, C]{
		Owner: map[C]O{}, trust: trust, rest: rest, open: map[O]*chained{}, opener: map[int32]O{},
		begun: map[C]bool{}, over: map[C]bool{}, after: map[C]C{},
	}
}

// enoughSaid is how many responses must agree before a chain is believed.
const enoughSaid = 20

// Believed reports whether responses confirm the chain: hardly any contradicts it, and there is one confirming
// response for every four owners that calls were assigned to. If strands share tasks (share), responses that alone
// decided the owner of an answer count too, as behind a semaphore.
func (l *Chain[O, C]) Believed(share bool) bool {
	say := l.Said.All - l.Said.Odd
	if share {
		say += l.Told
	}
	of := map[O]bool{}
	for _, o := range l.Owner {
		of[o] = true
	}
	return l.Said.Holds(enoughSaid, 2*Surely) && 4*say >= len(of) // twice Surely: nothing else decides the owners of these calls
}

// On selects the strand, by number, that does what is noted next.
func (l *Chain[O, C]) On(strand int) {
	for len(l.turns) <= strand {
		l.turns = append(l.turns, chainTurn[O, C]{last: Nobody, answer: Nobody, freed: map[int32]bool{}})
	}
	l.chainTurn = &l.turns[strand]
}

// set changes an open owner and keeps the number of dark ones up to date.
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

// Come notes that input of an owner was read; the owner may be new.
func (l *Chain[O, C]) Come(o O) {
	if l.open[o] == nil {
		l.open[o] = &chained{pending: true}
		l.pending = append(l.pending, o)
	}
	l.Read(o)
}

// Read notes that something was read: its owner may go on. Nobody if the owner is not known.
func (l *Chain[O, C]) Read(o O) {
	l.last, l.answer = o, Nobody
	switch c := l.open[o]; {
	case c == nil: // each such read may belong to a different owner
		l.pending = append(l.pending, Nobody)
	case !c.pending:
		l.set(o, func(c *chained) { c.pending = true })
		l.pending = append(l.pending, o)
	}
}

// Answer notes that the answer to a call was read, or its end. The turn of the call's owner begins.
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

// Answered is the call whose answer was read last; Nobody if something else was read or sent since.
func (l *Chain[O, C]) Answered() C { return l.answer }

// Free notes that a connection may now be free for an owner that waited for one.
func (l *Chain[O, C]) Free(conn int32) { l.freed[conn] = true }

// Open notes that a connection is opened: by the owner that the strand works for, if that is known.
func (l *Chain[O, C]) Open(conn int32) {
	if o := l.acts(); o != Nobody {
		l.opener[conn] = o
		l.set(o, func(c *chained) { c.calls++ })
		l.led(o)
	}
}

// Opening notes that something was read on a connection before the first call was sent on it.
func (l *Chain[O, C]) Opening(conn int32) {
	if o, ok := l.opener[conn]; ok {
		l.Read(o)
	}
}

// acts returns the owner for which the strand acts now; Nobody if there are several candidates or none.
func (l *Chain[O, C]) acts() O {
	c := l.open[l.last]
	if c == nil || slices.ContainsFunc(l.pending, func(o O) bool { return o != l.last }) {
		return Nobody
	}
	others := l.dark > 1 || l.dark == 1 && !c.isDark() // other owners that may act at any time
	if others && (l.trust == Strictly || l.trust == Once && len(l.pending) == 0) {
		return Nobody
	}
	return l.last
}

// led notes that an owner went on: it was seen to do something.
func (l *Chain[O, C]) led(o O) {
	l.set(o, func(c *chained) { c.pending = false })
	l.pending = slices.DeleteFunc(l.pending, func(p O) bool { return p == o })
}

// Send notes a call on a connection. If only one owner was open, sole is that owner, else Nobody.
func (l *Chain[O, C]) Send(call C, conn int32, sole O) {
	if l.begun[call] {
		return
	}
	if l.answer != Nobody && len(l.pending) == 1 {
		l.after[call] = l.answer
	}
	l.begun[call], l.answer = true, Nobody
	o := l.acts()
	if l.freed[conn] && l.dark > 0 { // an owner that waited for this connection may have it now
		o = Nobody
	}
	opened, connected := l.opener[conn]
	connected = connected && l.open[opened] != nil
	if delete(l.opener, conn); connected { // the first call on a connection belongs to the owner that opened it
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

// soleDark is the one open owner that is dark, if all other owners have calls under way; else Nobody.
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

// Respond checks the chain against a response to owner o. If before is true, the answer read last was to a call that
// was sent before o came, so it cannot be o's. If the chain knows no owner for that answer, and nothing was sent
// since, the response decides: the answer belongs to o, if o seemed to do nothing.
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

// Sleep ends the strand's turn: an owner that did nothing until now waits for something that is not seen.
func (l *Chain[O, C]) Sleep() {
	for _, o := range l.pending {
		l.set(o, func(c *chained) { c.pending = false })
	}
	l.pending, l.last, l.answer = l.pending[:0], Nobody, Nobody
	clear(l.freed)
}

// Bridge assigns the calls between two calls of one owner, if each was sent right after the answer to the one before
// was read and nothing else was read. Another owner may have sent one of them, but hardly all.
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
