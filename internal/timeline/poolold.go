package timeline

import "github.com/getdwell/dwell/recording"

// A recording may begin with requests in line, and with calls under way. Whose those are is
// not known, but how many there are is, once they are answered, and they stand before all
// that come later. Ids beyond those of requests stand for them: for any of them.

// already puts the requests that came before the recording in line, less as many as are
// being called for.
func (p *poolOrder) already(moves []move) {
	p.old = map[RequestID]bool{}
	read, seen, requests, flying := map[RequestID]bool{}, map[int32]bool{}, 0, 0
	for i := range moves {
		m := &moves[i]
		first := m.conn != noConn && !seen[m.conn]
		switch {
		case m.kind == moveRead:
			read[m.request] = true
		case m.kind == moveRespond && !read[m.request] && !p.old[m.request]:
			p.old[m.request] = true
			requests++
		case first && m.kind == moveAside && p.side(m) == recording.Inbound:
			requests++
		case first && m.kind == moveForeign && p.side(m) == recording.Outbound:
			flying++
		}
		if first {
			seen[m.conn] = true
		}
	}
	p.abroad, p.full = min(flying, requests), requests > flying
	for i := p.abroad; i < requests; i++ {
		p.stand(RequestID(len(p.t.Requests)+i), moves[0].at)
	}
}

func (p *poolOrder) side(m *move) recording.Side { return p.f.conns[m.conn].decl.Side }

// isOld reports who stands for a request that came before the recording.
func (p *poolOrder) isOld(r RequestID) bool { return int(r) >= len(p.t.Requests) }

// back is the turn that a move begins which belongs to no request or call: if it may be the
// answer to a call that was under way when the recording began, it is of one who had one.
func (p *poolOrder) back(m *move) poolTurn {
	u := poolTurn{of: None, call: None, at: m.at}
	if m.conn != noConn && p.side(m) == recording.Outbound && p.abroad > 0 {
		p.abroad--
		u.of = RequestID(len(p.t.Requests) + p.abroad)
	}
	return u
}

// oldAnswer ends one that came before the recording: its answer was written.
func (p *poolOrder) oldAnswer() {
	switch by := p.turn.of; {
	case by != None && p.isOld(by):
		p.void(by)
		p.leave(by)
		p.turn.of = None
	case len(p.of[by]) > 0 && p.turn.call != None:
		p.contradict(None)
	}
}
