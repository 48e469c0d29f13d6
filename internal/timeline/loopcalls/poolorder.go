package loopcalls

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// If a pool has no free connection, a request that asks for one waits, and the next connection that becomes free goes
// to the request that asked first. That happens in the callback of the answer that freed the connection, or in an
// immediate that was set there. So Node's ids show which request had the connection, and not which one has it now.
//
// But the waiting requests are known. A request that was read, or whose call was answered, and that then neither sent
// anything nor was answered itself, waits. If all of them wait for the same pool, they are in line in the order of
// these turns. A session in a transaction is not free: what is sent on it belongs to the request that began the
// transaction. Everything else belongs to the owner of the turn in which it was asked for.
//
// Responses check this: each request is answered in the turn of its own last call. Only requests that are confirmed
// in this way get calls, and none gets any if fewer than nine in ten are.

// poolGuess is the likely request of a call.
type poolGuess = causality.Guess[timeline.RequestID, timeline.CallID]

// poolOrder follows one loop and assigns the calls of its pool to the requests that are in line for it.
type poolOrder struct {
	*causality.Pool[timeline.RequestID, timeline.CallID]
	t      *timeline.Timeline
	in     asyncInput
	kind   lineKind
	last   map[recording.ConnID]timeline.CallID
	asleep map[timeline.CallID]int  // by call: the index of its guess, if a timer that fires was set in the turn of its answer
	timed  map[timeline.CallID]bool // sent by a timer: the request waited for the timer, and not for a connection
	turn   poolTurn
}

// lineKind says which calls belong to the first request in line, if there is one. All other calls belong to the owner
// of the turn in which they were asked for.
type lineKind int8

const (
	lineByIDs  lineKind = iota // those that ids show to have been sent because a connection became free
	lineByRoom                 // all: the application limits how many run at once
	lineKinds
)

// poolTurn is what the loop does for a request since it read the request's bytes or an answer.
type poolTurn struct {
	of    timeline.RequestID // None: not known
	call  timeline.CallID    // the call that was answered, or None
	at    recording.Time
	sent  bool
	timer bool           // timers run
	woke  bool           // a timer fired that its request waited for
	fires recording.Time // when a timer fired that was set in the turn; 0: none did
}

// associateInLine assigns the calls of a loop whose requests ids do not show, and notes since when they were wanted.
// It reports whether there is a line.
func associateInLine(t *timeline.Timeline, in asyncInput) bool {
	var given map[timeline.CallID]poolGuess
	var timed map[timeline.CallID]bool
	for kind := range lineKinds {
		p := followLine(t, in, kind)
		if !p.Confirmed() {
			continue
		}
		found := p.guesses(given)
		if 3*len(found) < len(p.Guesses) {
			continue // most belong to requests that nothing confirms
		}
		given, timed = found, p.timed
		if len(p.Proven) >= 99*p.Wrong {
			break
		}
	}
	told := len(toldMoves(in.loop.Moves)) == len(in.loop.Moves)
	timers := !told && timersSend(t, in.loop.Moves) // then it is not known which requests wait for a timer and which are in line
	for id, g := range given {
		c := &t.Calls[id]
		t.Assign(c, g.Owner, timeline.WhyInLine)
		if in.wanted[id] = g.Since; timed[id] || timers {
			in.wanted[id] = recording.NoTime
		}
	}
	return len(given) > 0
}

// hopeless is the number of contradictions after which an unconfirmed line is given up.
const hopeless = 1000

// followLine runs through what a loop did, with a line of one kind.
func followLine(t *timeline.Timeline, in asyncInput, kind lineKind) *poolOrder {
	p := &poolOrder{
		Pool: causality.NewPool[timeline.RequestID, timeline.CallID](func(r timeline.RequestID) int { return in.atOnce[t.Requests[r].Endpoint] }),
		t:    t, in: in, kind: kind, last: map[recording.ConnID]timeline.CallID{}, asleep: map[timeline.CallID]int{}, timed: map[timeline.CallID]bool{},
		turn: poolTurn{of: timeline.None, call: timeline.None},
	}
	for i := range in.loop.Moves {
		p.step(&in.loop.Moves[i])
		if p.Wrong > hopeless && !p.Confirmed() {
			break
		}
	}
	return p
}

// guesses returns the guesses about requests whose answers confirm them. If another kind of line was confirmed, the
// guesses must also agree with that one (among).
func (p *poolOrder) guesses(among map[timeline.CallID]poolGuess) map[timeline.CallID]poolGuess {
	all := map[timeline.CallID]poolGuess{}
	for _, g := range p.Guesses {
		if g.Owner == timeline.None || !p.Proven[g.Owner] || p.t.Calls[g.Call].SendFrom < p.t.Requests[g.Owner].FirstRead {
			continue
		}
		if other, ok := among[g.Call]; among == nil || ok && other.Owner == g.Owner {
			all[g.Call] = g
		}
	}
	return all
}

// anyInLine reports whether a loop has calls that may have been in line: their requests do not follow from ids, or
// they used room that an answer had made.
func anyInLine(t *timeline.Timeline, in asyncInput) bool {
	return slices.ContainsFunc(in.loop.Moves, func(m loops.Move) bool {
		return m.Kind == loops.MoveSend && m.At == t.Calls[m.Call].SendFrom && (t.Calls[m.Call].Why == timeline.WhyNoAsync || in.hands.over[m.Call])
	})
}

func (p *poolOrder) step(m *loops.Move) {
	next := poolTurn{of: timeline.None, call: timeline.None, at: m.At}
	switch m.Kind {
	case loops.MoveRead, loops.MoveBody:
		next.of, next.fires = m.Request, m.Fires
		p.begin(next)
	case loops.MoveAnswer:
		next.fires = m.Fires
		if p.t.Calls[m.Call].End == m.At {
			next.of, next.call = p.owner(m.Call), m.Call
			p.Answered(next.of)
			if k, ok := p.Place(m.Call); ok && m.Fires != 0 {
				p.asleep[m.Call] = k
			}
		}
		p.begin(next)
	case loops.MoveConnect, loops.MoveSend:
		if sendsFirst(p.t, m) {
			p.send(m)
		}
	case loops.MoveRespond:
		// a response is written in the turn in which the request's own last call was answered
		switch r := m.Request; {
		case p.t.Requests[r].FirstWrite != m.At:
		case p.turn.call == timeline.None && !p.turn.woke:
			p.Over(r, timeline.None, p.turn.at)
		default:
			p.Over(r, p.turn.of, p.turn.at)
		}
	case loops.MoveFired:
		p.begin(p.woke(m))
	case loops.MoveBlock, loops.MoveBoundary, loops.MoveUntold, loops.MoveForeign:
		next.timer = m.Kind == loops.MoveBoundary && m.Trigger == 1
		p.begin(next)
	}
}

// begin ends the running turn. If its request can only have asked for a connection, it is in line now.
func (p *poolOrder) begin(next poolTurn) {
	if u := p.turn; u.of != timeline.None && !u.sent && p.Idle(u.of) && !p.sleeps(&u) {
		if done := p.t.Requests[u.of].FirstWrite; done == recording.NoTime || done > next.at {
			p.Line.Rejoin(u.of, u.at)
		}
	}
	if next.of != timeline.None {
		p.Line.Leave(next.of)
	}
	p.turn = next
}

// woke is the turn that begins when a timer fires.
func (p *poolOrder) woke(m *loops.Move) poolTurn {
	return poolTurn{of: p.request(m.By), call: timeline.None, at: m.At, woke: true, fires: m.Fires}
}

// sleeps reports whether the request of a turn waits for a timer since that turn.
func (p *poolOrder) sleeps(u *poolTurn) bool {
	if u.fires == 0 {
		return false
	}
	done := p.t.Requests[u.of].FirstWrite
	return done == recording.NoTime || u.fires < done
}

// owner is the request of a call, known or guessed.
func (p *poolOrder) owner(c timeline.CallID) timeline.RequestID {
	if r := p.t.Calls[c].Request; r != timeline.None {
		return r
	}
	k, ok := p.Place(c)
	if !ok {
		k, ok = p.asleep[c]
	}
	if !ok {
		return timeline.None
	}
	return p.Guesses[k].Owner
}

// request is the request that an owner names, or the known or guessed request of the call that it names.
func (p *poolOrder) request(of loops.Owner) timeline.RequestID {
	if c, ok := of.Call(); ok {
		return p.owner(c)
	}
	r, _ := of.Request()
	return r
}

func (p *poolOrder) send(m *loops.Move) {
	c := &p.t.Calls[m.Call]
	g := poolGuess{Call: m.Call, Owner: c.Request, Since: p.turn.at}
	before, used := p.last[c.Conn]
	used = used && before != m.Call
	p.last[c.Conn] = m.Call
	if g.Owner == timeline.None && c.Why == timeline.WhyNoAsync {
		g.Owner, g.Since = p.askedBy(m.Call)
		if used && timeline.InTransaction(&p.t.Calls[before]) {
			g.Owner = p.owner(before)
		} else if p.inLine(m.Call, before, used) {
			g.Owner, g.Since = p.Grant(g.Owner, g.Since)
		}
		if g.Owner != timeline.None {
			p.Guess(g)
			p.timed[m.Call] = p.turn.timer
		}
	}
	if used {
		p.Replaced(before)
	}
	if g.Owner == timeline.None {
		return
	}
	if since, stands := p.Line.Waits(g.Owner); stands && p.in.hands.over[m.Call] && c.Request != timeline.None {
		p.in.wanted[m.Call] = since
	}
	turn := recording.NoTime
	if g.Owner == p.turn.of {
		p.turn.sent, turn = true, p.turn.at
	}
	p.Sent(g.Owner, turn)
}

// inLine reports whether a call counts as having been in line, by the kind of line; before is the call before on its
// connection, if that was used.
func (p *poolOrder) inLine(c, before timeline.CallID, used bool) bool {
	hands := p.in.hands
	return p.kind == lineByRoom || used && (hands.over[c] || !hands.room[c] && before == p.turn.call)
}

// askedBy is the request that seems to have asked for a call that did not wait, and when.
func (p *poolOrder) askedBy(c timeline.CallID) (timeline.RequestID, recording.Time) {
	made := p.in.hands.made[c]
	if !p.in.hands.late[c] && made == loops.Nobody {
		return p.turn.of, p.turn.at
	}
	since := recording.Time(recording.NoTime)
	if x, ok := made.Call(); ok {
		since = p.t.Calls[x].End
	}
	return p.request(made), since
}
