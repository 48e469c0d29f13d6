package timeline

import (
	"slices"

	"github.com/getdwell/dwell/recording"
)

// A pool that has no connection left lets whoever asks wait, and gives the next that comes
// free to who asked first. It does so in the callback of the answer that freed it, and so
// Node's ids tell whose connection it was, not whose it is now. But who asks next is known:
// a request that was read, or whose call was answered, and then neither sent anything nor
// was answered itself, waits; if for one pool alone, in the order of these turns. A session
// in a transaction is not free: what is sent on it is of the request that began that. What
// else is sent in a turn that ids tell nothing of is of whoever's answer began the turn.
// Whether that is how it is, the requests tell: each is answered in the turn of its own last
// call. Calls are given only to requests that are so confirmed, and to none if fewer than
// nine of ten are.

// poolOrder follows one loop and gives the calls of its pool to who stands in line for it.
type poolOrder struct {
	t      *Timeline
	f      *facts
	line   []standing          // in order of since; those who left included
	in     map[RequestID]Time  // since when who is in line stands there
	flying map[RequestID]int   // calls under way
	given  map[CallID]int      // calls under way, or answered last on their connection, that ids do not tell of: places in list
	of     map[RequestID][]int // places in list
	list   []guess
	proven map[RequestID]bool // requests whose answers confirm the guesses
	wrong  int                // answers that contradict them
	last   map[recording.ConnID]CallID
	turn   poolTurn
	hands  askedIn
	wanted []Time // by call, as in asyncInput
}

// standing is a request in line, and since when.
type standing struct {
	request RequestID
	since   Time
}

// guess is whose a call seems to be, and since when that one waited for it.
type guess struct {
	call    CallID
	request RequestID
	since   Time
}

// poolTurn is what the loop does for a request since it read its bytes or an answer.
type poolTurn struct {
	of   RequestID // None: nobody known
	call CallID    // that was answered, or None
	at   Time
	sent bool
}

// associateInLine associates the calls of a loop that ids do not tell of, and notes since
// when they were wanted.
func associateInLine(t *Timeline, f *facts, in asyncInput) {
	loop, wanted := in.loop, in.wanted
	if !anyInLine(t, in) {
		return
	}
	p := poolOrder{
		t: t, f: f, in: map[RequestID]Time{}, flying: map[RequestID]int{}, given: map[CallID]int{}, of: map[RequestID][]int{},
		proven: map[RequestID]bool{}, last: map[recording.ConnID]CallID{}, turn: poolTurn{of: None, call: None},
		hands: in.hands, wanted: in.wanted,
	}
	for i := range loop.moves {
		p.step(&loop.moves[i])
	}
	if len(p.proven) < 9*p.wrong {
		return
	}
	for _, g := range p.list {
		if c := &t.Calls[g.call]; g.request != None && p.proven[g.request] && c.SendFrom >= t.Requests[g.request].FirstRead {
			c.Request, c.Why, wanted[g.call] = g.request, WhyInLine, g.since
		}
	}
}

// anyInLine reports whether there are calls of a loop that may have stood in line: of which
// ids do not tell whose they are, or which made use of room that an answer had made.
func anyInLine(t *Timeline, in asyncInput) bool {
	return slices.ContainsFunc(in.loop.moves, func(m move) bool {
		return m.kind == moveSend && m.at == t.Calls[m.call].SendFrom && (t.Calls[m.call].Why == WhyNoAsync || in.hands.over[m.call])
	})
}

func (p *poolOrder) step(m *move) {
	switch m.kind {
	case moveRead, moveBody:
		p.begin(poolTurn{of: m.request, call: None, at: m.at})
	case moveAnswer:
		next := poolTurn{of: None, call: None, at: m.at}
		if p.t.Calls[m.call].End == m.at {
			next.of, next.call = p.owner(m.call), m.call
			p.flying[next.of]--
		}
		p.begin(next)
	case moveSend:
		if p.t.Calls[m.call].SendFrom == m.at {
			p.send(m)
		}
	case moveRespond:
		if p.t.Requests[m.request].FirstWrite == m.at {
			p.respond(m.request)
		}
	case moveAside:
		if p.f.conns[m.conn].decl.Side == recording.Inbound && len(p.of[p.turn.of]) > 0 && p.turn.call != None {
			p.contradict(None) // an answer to a request that came before the recording
		}
	case moveBlock, moveBoundary, moveForeign:
		p.begin(poolTurn{of: None, call: None, at: m.at})
	}
}

// begin ends the turn that runs: if all that its request could do was to ask for a
// connection, it stands in line now.
func (p *poolOrder) begin(next poolTurn) {
	if u := p.turn; u.of != None && !u.sent && p.flying[u.of] == 0 {
		if done := p.t.Requests[u.of].FirstWrite; done == recording.NoTime || done > next.at {
			p.stand(u.of, u.at)
		}
	}
	if next.of != None {
		p.leave(next.of)
	}
	p.turn = next
}

// stand puts a request in line.
func (p *poolOrder) stand(r RequestID, since Time) {
	i, _ := slices.BinarySearchFunc(p.line, since, func(s standing, t Time) int {
		if s.since <= t {
			return -1
		}
		return 1
	})
	p.line, p.in[r] = slices.Insert(p.line, i, standing{r, since}), since
}

// leave takes a request out of the line.
func (p *poolOrder) leave(r RequestID) { delete(p.in, r) }

// first takes who stands first in line; false if nobody does.
func (p *poolOrder) first() (s standing, ok bool) {
	for len(p.line) > 0 && !ok {
		s, p.line = p.line[0], p.line[1:]
		since, stands := p.in[s.request]
		ok = stands && since == s.since
	}
	p.leave(s.request)
	return s, ok
}

// owner is whose a call is, or seems to be.
func (p *poolOrder) owner(c CallID) RequestID {
	if r := p.t.Calls[c].Request; r != None {
		return r
	}
	if k, ok := p.given[c]; ok {
		return p.list[k].request
	}
	return None
}

func (p *poolOrder) send(m *move) {
	c := &p.t.Calls[m.call]
	g := guess{m.call, c.Request, p.turn.at}
	before, used := p.last[c.Conn]
	p.last[c.Conn] = m.call
	if g.request == None && c.Why == WhyNoAsync {
		g.request, g.since = p.askedBy(m.call)
		if used && inTransaction(&p.t.Calls[before]) {
			g.request = p.owner(before)
		} else if used && (before == p.turn.call || p.hands.over[m.call]) {
			if s, ok := p.first(); ok {
				g.request, g.since = s.request, s.since
			}
		}
		if g.request != None {
			p.given[m.call] = len(p.list)
			p.of[g.request] = append(p.of[g.request], len(p.list))
			p.list = append(p.list, g)
		}
	}
	delete(p.given, before)
	if g.request == None {
		return
	}
	if since, stands := p.in[g.request]; stands && p.hands.over[m.call] && c.Request != None {
		p.wanted[m.call] = since
	}
	p.leave(g.request)
	p.flying[g.request]++
	p.turn.sent = p.turn.sent || g.request == p.turn.of
}

// askedBy is who seems to have asked for a call that did not wait, and when.
func (p *poolOrder) askedBy(c CallID) (RequestID, Time) {
	if !p.hands.late[c] && p.hands.made[c] == nobody {
		return p.turn.of, p.turn.at
	}
	r, since := p.maker(p.hands.made[c])
	if p.hands.or[c] != nobody {
		other, then := p.maker(p.hands.or[c])
		switch stands, too := p.waits(r), p.waits(other); {
		case stands == too:
			return None, since
		case too:
			return other, then
		}
	}
	return r, since
}

// waits reports a request that has no call under way, and is not known to have asked for one that was sent.
func (p *poolOrder) waits(r RequestID) bool {
	_, stands := p.in[r]
	return stands || r != None && r == p.turn.of && !p.turn.sent && p.flying[r] == 0
}

// maker is the request in whose turn something was asked for, and when that was.
func (p *poolOrder) maker(made ref) (RequestID, Time) {
	if r, ok := made.request(); ok {
		return r, recording.NoTime
	}
	if x, ok := made.call(); ok {
		return p.owner(x), p.t.Calls[x].End
	}
	return None, recording.NoTime
}

// inTransaction reports a call after which its session is held for who made it.
func inTransaction(c *Call) bool {
	return c.Transaction == recording.TransactionOpen || c.Transaction == recording.TransactionFailed
}

// respond holds what was guessed against the answer of a request: it is written in the turn
// in which the request's own last call was answered.
func (p *poolOrder) respond(r RequestID) {
	switch by := p.turn.of; {
	case p.turn.call == None || by == None:
		p.void(r)
	case by == r && len(p.of[r]) > 0:
		p.proven[r] = true
	case by != r && len(p.of[r])+len(p.of[by]) > 0:
		p.contradict(r)
	}
	p.leave(r)
}

// contradict mends the guesses where a request, None if it was not seen to come, is
// answered in a turn that was taken for another's: that one still stands in line. What is
// under way in the name of the request that is answered is of whoever stands first.
func (p *poolOrder) contradict(r RequestID) {
	p.wrong++
	by, since := p.turn.of, p.turn.at
	if list := p.of[by]; len(list) > 0 {
		since = p.list[list[0]].since
	}
	p.void(by)
	p.stand(by, since)
	p.turn.of = r
	if r == None {
		return
	}
	p.leave(r)
	moved, under := p.of[r], p.flying[r]
	p.of[r], p.flying[r] = nil, 0
	if len(moved) == 0 {
		return
	}
	s, ok := p.first()
	if !ok {
		s.request = None
	}
	for _, k := range moved {
		p.list[k].request = s.request
	}
	if ok {
		p.list[moved[0]].since = s.since
		p.of[s.request], p.flying[s.request] = moved, under
	}
}

// void takes back the guesses about a request.
func (p *poolOrder) void(r RequestID) {
	for _, k := range p.of[r] {
		p.list[k].request = None
	}
	delete(p.of, r)
	p.flying[r] = 0
}
