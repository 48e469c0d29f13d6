package loopcalls

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// A pool that has no connection left lets whoever asks wait, and gives the next that comes
// free to who asked first. It does so in the callback of the answer that freed it, or in an
// immediate that was asked for there, and so Node's ids tell whose connection it was, not
// whose it is now. But who asks next is known: a request that was read, or whose call was
// answered, and then neither sent anything nor was answered itself, waits; if for one pool
// alone, in the order of these turns. A session in a transaction is not free: what is sent
// on it is of the request that began that. What else is sent is of whoever's turn it was
// asked for in. Whether that is how it is, the requests tell: each is answered in the turn
// of its own last call. Calls are given only to requests that are so confirmed, and to none
// if fewer than nine of ten are.

// poolGuess is whose a call seems to be.
type poolGuess = causality.Guess[timeline.RequestID, timeline.CallID]

// poolOrder follows one loop and gives the calls of its pool to who stands in line for it.
type poolOrder struct {
	*causality.Pool[timeline.RequestID, timeline.CallID]
	t      *timeline.Timeline
	in     asyncInput
	kind   lineKind
	last   map[recording.ConnID]timeline.CallID
	asleep map[timeline.CallID]int  // of the guesses: those in whose answer's turn a timer was set that fires
	timed  map[timeline.CallID]bool // sent by a timer: who did waited for that, and for no connection
	turn   poolTurn
}

// lineKind says which calls are those of who stands first in line, if somebody does. All
// others are of whoever's turn they were asked for in.
type lineKind int8

const (
	lineByIDs  lineKind = iota // those that ids tell to have been sent for a free connection
	lineByRoom                 // all: the application lets so many run at once
	lineKinds
)

// poolTurn is what the loop does for a request since it read its bytes or an answer.
type poolTurn struct {
	of    timeline.RequestID // None: nobody known
	call  timeline.CallID    // that was answered, or None
	at    recording.Time
	sent  bool
	timer bool           // timers run
	woke  bool           // one fired that its request waited for
	fires recording.Time // when a timer did that was set in it; 0: none did
}

// associateInLine associates the calls of a loop that ids do not tell of, and notes since
// when they were wanted. It reports whether there is a line.
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
			continue // most are of requests that nothing confirms
		}
		given, timed = found, p.timed
		if len(p.Proven) >= 99*p.Wrong {
			break
		}
	}
	told := len(toldMoves(in.loop.Moves)) == len(in.loop.Moves)
	timers := !told && timersSend(t, in.loop.Moves) // then it is not known who waits for a timer, and who in line
	for id, g := range given {
		c := &t.Calls[id]
		t.Assign(c, g.Owner, timeline.WhyInLine)
		if in.wanted[id] = g.Since; timed[id] || timers {
			in.wanted[id] = recording.NoTime
		}
	}
	return len(given) > 0
}

// hopeless is after how many contradictions a line that is not confirmed is none.
const hopeless = 1000

// followLine plays what a loop did, with a line of a kind.
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

// guesses are those about requests whose answers confirm them, if they are also among those
// of another kind of line that was confirmed.
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

// anyInLine reports whether there are calls of a loop that may have stood in line: of which
// ids do not tell whose they are, or which made use of room that an answer had made.
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
		// it is written in the turn in which the request's own last call was answered
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

// begin ends the turn that runs: if all that its request could do was to ask for a
// connection, it stands in line now.
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

// woke is the turn that begins as a timer fires.
func (p *poolOrder) woke(m *loops.Move) poolTurn {
	return poolTurn{of: p.request(m.By), call: timeline.None, at: m.At, woke: true, fires: m.Fires}
}

// sleeps reports whether the request of a turn waits for a timer since.
func (p *poolOrder) sleeps(u *poolTurn) bool {
	if u.fires == 0 {
		return false
	}
	done := p.t.Requests[u.of].FirstWrite
	return done == recording.NoTime || u.fires < done
}

// owner is whose a call is, or seems to be.
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

// request is the one that an owner names, or that a call seems to be of which it names.
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

// inLine reports a call that stood in line, if that is of the kind it is taken for; before
// is the one before on its connection, if that was used.
func (p *poolOrder) inLine(c, before timeline.CallID, used bool) bool {
	hands := p.in.hands
	return p.kind == lineByRoom || used && (hands.over[c] || !hands.room[c] && before == p.turn.call)
}

// askedBy is who seems to have asked for a call that did not wait, and when.
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
