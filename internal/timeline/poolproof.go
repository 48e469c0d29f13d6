package timeline

// Each request is answered in the turn of its own last call: that confirms what was guessed
// about it, or contradicts it.

// respond holds what was guessed against the answer of a request: it is written in the turn
// in which the request's own last call was answered.
func (p *poolOrder) respond(r RequestID) {
	switch by := p.turn.of; {
	case p.turn.call == None && !p.turn.woke || by == None:
		p.void(r)
	case by == r && len(p.of[r]) > 0:
		if !p.mended[r] {
			p.proven[r] = true
		}
	case by != r && len(p.of[r])+len(p.of[by]) > 0:
		p.contradict(r)
	}
	p.leave(r)
}

// contradict mends the guesses where a request, None if it was not seen to come, is
// answered in a turn that was taken for another's: that one still stands in line. What is
// under way in the name of the request that is answered is of whoever stands first.
func (p *poolOrder) contradict(r RequestID) {
	by, since := p.turn.of, p.turn.at
	p.mendAll(by, r)
	if list := p.of[by]; len(list) > 0 {
		since = p.list[list[0]].since
	}
	p.void(by)
	p.wrong++
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

// mendAll notes that guesses about two requests were found wrong: those about all that
// stand in line or have calls under way may be.
func (p *poolOrder) mendAll(by, r RequestID) {
	p.mended[by], p.mended[r] = true, true
	for q := range p.in {
		p.mended[q] = true
	}
	for _, k := range p.given {
		if q := p.list[k].request; q != None {
			p.mended[q] = true
		}
	}
}

// void takes back the guesses about a request.
func (p *poolOrder) void(r RequestID) {
	for _, k := range p.of[r] {
		p.list[k].request = None
	}
	delete(p.of, r)
	delete(p.flying, r)
}

// stoodFirst is who stood first in line, and since when: whose turn it is if nobody did, nobody if it
// may be one whose other calls are under way. From then on it is not known who stands, until nobody
// does.
func (p *poolOrder) stoodFirst(turn RequestID, at Time) (RequestID, Time) {
	s, ok := p.first()
	if !ok && len(p.in) == 0 {
		p.blurred = false
	}
	for r, n := range p.flying {
		if r == None || n <= 0 || n >= p.atOnce[p.t.Requests[r].Endpoint] {
			continue
		}
		if ok && p.asked[r] < s.since || !ok && r != turn {
			p.blurred = true
			break
		}
	}
	switch {
	case p.blurred && ok:
		p.stand(s.request, s.since)
		return None, at
	case p.blurred:
		return None, at
	case ok:
		return s.request, s.since
	}
	return turn, at
}
