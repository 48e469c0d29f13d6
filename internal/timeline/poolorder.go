package timeline

import "github.com/getdwell/dwell/recording"

// A pool that has no connection left lets whoever asks wait, and gives the next that comes
// free to who asked first. It does so in the callback of the answer that freed it, and so
// Node's ids tell whose connection it was, not whose it is now. But who asks next is known:
// a request that was read, or whose call was answered, and then neither sent anything nor
// was answered itself, waits; if for one pool alone, in the order of these turns. Whether
// that is how it is, the requests tell: each is answered in the turn of its own last call.
// Calls are given only to requests that are so confirmed, and to none if fewer than nine
// of ten are.

// poolOrder follows one loop and gives the calls of its pool to who stands in line for it.
type poolOrder struct {
	t      *Timeline
	peer   string
	line   []standing
	in     map[RequestID]int   // the place in line, counted from the recording's begin, plus 1
	gone   int                 // of line, taken from its front
	flying map[RequestID]int   // calls under way
	given  map[CallID]guess    // calls under way, or answered last on their connection, that ids do not tell of
	of     map[RequestID][]int // places in guesses
	list   []guess
	fate   map[RequestID]bool // of requests that were answered: confirmed or not
	last   map[recording.ConnID]CallID
	turn   poolTurn
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

// fewestInLine is how many calls without owner make a pool worth following.
const fewestInLine = 20

// associateInLine associates the calls to the one peer of a loop that ids do not tell of,
// and notes since when they were wanted.
func associateInLine(t *Timeline, loop loopMoves, wanted []Time) {
	peer := unownedPeer(t, loop)
	if peer == "" {
		return
	}
	p := poolOrder{
		t: t, peer: peer, in: map[RequestID]int{}, flying: map[RequestID]int{}, given: map[CallID]guess{}, of: map[RequestID][]int{},
		fate: map[RequestID]bool{}, last: map[recording.ConnID]CallID{}, turn: poolTurn{of: None, call: None},
	}
	for i := range loop.moves {
		p.step(&loop.moves[i])
	}
	good := 0
	for _, confirmed := range p.fate {
		if confirmed {
			good++
		}
	}
	if 10*good < 9*len(p.fate) {
		return
	}
	for _, g := range p.list {
		if c := &t.Calls[g.call]; p.fate[g.request] && c.SendFrom >= t.Requests[g.request].FirstRead {
			c.Request, c.Why, wanted[g.call] = g.request, WhyInLine, g.since
		}
	}
}

// unownedPeer is the one peer that a loop makes calls to of which ids do not tell whose
// they are; "" if there is none, or more than one.
func unownedPeer(t *Timeline, loop loopMoves) string {
	count := map[string]int{}
	for i := range loop.moves {
		if m := &loop.moves[i]; m.kind == moveSend && m.at == t.Calls[m.call].SendFrom && t.Calls[m.call].Why == WhyNoAsync {
			count[t.Calls[m.call].Peer]++
		}
	}
	most, all := "", 0
	for peer, n := range count {
		if all += n; n > count[most] || n == count[most] && peer < most {
			most = peer
		}
	}
	if n := count[most]; n < fewestInLine || 10*n < 9*all {
		return ""
	}
	return most
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
	case moveBlock, moveBoundary, moveForeign:
		p.begin(poolTurn{of: None, call: None, at: m.at})
	}
}

// begin ends the turn that runs: if all that its request could do was to ask for a
// connection, it stands in line now.
func (p *poolOrder) begin(next poolTurn) {
	if u := p.turn; u.of != None && !u.sent && p.flying[u.of] == 0 {
		if done := p.t.Requests[u.of].FirstWrite; done == recording.NoTime || done > next.at {
			p.leave(u.of)
			p.line = append(p.line, standing{u.of, u.at})
			p.in[u.of] = p.gone + len(p.line)
		}
	}
	if next.of != None {
		p.leave(next.of)
	}
	p.turn = next
}

// leave takes a request out of the line.
func (p *poolOrder) leave(r RequestID) {
	if k := p.in[r] - p.gone; k > 0 {
		p.line[k-1].request = None
	}
	delete(p.in, r)
}

// first takes who stands first in line; False if nobody does.
func (p *poolOrder) first() (standing, bool) {
	for len(p.line) > 0 {
		s := p.line[0]
		p.line, p.gone = p.line[1:], p.gone+1
		if s.request != None {
			delete(p.in, s.request)
			return s, true
		}
	}
	return standing{}, false
}

// owner is whose a call is, or seems to be.
func (p *poolOrder) owner(c CallID) RequestID {
	if r := p.t.Calls[c].Request; r != None {
		return r
	}
	if g, ok := p.given[c]; ok {
		return g.request
	}
	return None
}

func (p *poolOrder) send(m *move) {
	c := &p.t.Calls[m.call]
	g := guess{m.call, c.Request, p.turn.at}
	before, used := p.last[c.Conn]
	p.last[c.Conn] = m.call
	if g.request == None && c.Why == WhyNoAsync && c.Peer == p.peer {
		g.request = p.turn.of
		if used && inTransaction(&p.t.Calls[before]) {
			g.request = p.owner(before)
		} else if s, ok := p.first(); ok {
			g.request, g.since = s.request, s.since
		}
		if g.request != None {
			p.given[m.call] = g
			p.of[g.request] = append(p.of[g.request], len(p.list))
			p.list = append(p.list, g)
		}
	}
	delete(p.given, before)
	if g.request == None {
		return
	}
	p.leave(g.request)
	p.flying[g.request]++
	p.turn.sent = p.turn.sent || g.request == p.turn.of
}

// inTransaction reports a call after which its session is held for who made it.
func inTransaction(c *Call) bool {
	return c.Transaction == recording.TransactionOpen || c.Transaction == recording.TransactionFailed
}

// respond holds what was guessed against the answer of a request: it is written in the turn
// in which the request's own last call was answered.
func (p *poolOrder) respond(r RequestID) {
	by := None
	if p.turn.call != None {
		by = int(p.turn.of)
	}
	if len(p.of[r]) > 0 {
		p.fate[r] = by == int(r)
	}
	if by != None && by != int(r) && len(p.of[RequestID(by)]) > 0 {
		p.fate[RequestID(by)] = false
	}
	p.leave(r)
}
