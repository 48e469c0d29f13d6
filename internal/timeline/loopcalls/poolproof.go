package loopcalls

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/recording"
)

// Each request is answered in the turn of its own last call: that confirms what was guessed
// about it, or contradicts it.

// respond holds what was guessed against the answer of a request: it is written in the turn
// in which the request's own last call was answered.
func (p *poolOrder) respond(r timeline.RequestID) {
	switch by := p.turn.of; {
	case p.turn.call == timeline.None && !p.turn.woke || by == timeline.None:
		p.void(r)
	case by == r && len(p.of[r]) > 0:
		if !p.mended[r] {
			p.proven[r] = true
		}
	case by != r && len(p.of[r])+len(p.of[by]) > 0:
		p.contradict(r)
	}
	p.line.Leave(r)
}

// contradict mends the guesses where a request, None if it was not seen to come, is
// answered in a turn that was taken for another's: that one still stands in line. What is
// under way in the name of the request that is answered is of whoever stands first.
func (p *poolOrder) contradict(r timeline.RequestID) {
	by, since := p.turn.of, p.turn.at
	p.mendAll(by, r)
	if list := p.of[by]; len(list) > 0 {
		since = p.list[list[0]].since
	}
	p.void(by)
	p.wrong++
	p.line.Rejoin(by, since)
	if r == timeline.None {
		return
	}
	p.line.Leave(r)
	moved, under := p.of[r], p.flying[r]
	p.of[r], p.flying[r] = nil, 0
	if len(moved) == 0 {
		return
	}
	head, ok := p.line.Grant()
	if !ok {
		head.Owner = timeline.None
	}
	for _, k := range moved {
		p.list[k].request = head.Owner
	}
	if ok {
		p.list[moved[0]].since = head.Since
		p.of[head.Owner], p.flying[head.Owner] = moved, under
	}
}

// mendAll notes that guesses about two requests were found wrong: those about all that
// stand in line or have calls under way may be.
func (p *poolOrder) mendAll(by, r timeline.RequestID) {
	p.mended[by], p.mended[r] = true, true
	p.line.Each(func(w causality.Waiter[timeline.RequestID]) { p.mended[w.Owner] = true })
	for _, k := range p.given {
		if q := p.list[k].request; q != timeline.None {
			p.mended[q] = true
		}
	}
}

// void takes back the guesses about a request.
func (p *poolOrder) void(r timeline.RequestID) {
	for _, k := range p.of[r] {
		p.list[k].request = timeline.None
	}
	delete(p.of, r)
	delete(p.flying, r)
}

// headOfLine is who has waited longest, and since when: whose turn it is if nobody waits, nobody if it
// may be one whose other calls are under way. From then on it is not known who waits, until nobody
// does.
func (p *poolOrder) headOfLine(turn timeline.RequestID, at recording.Time) (timeline.RequestID, recording.Time) {
	head, ok := p.line.Head()
	p.line.Doubtful = p.line.Doubtful && ok
	for r, n := range p.flying {
		if r == timeline.None || n <= 0 || n >= p.atOnce[p.t.Requests[r].Endpoint] {
			continue
		}
		if ok && p.asked[r] < head.Since || !ok && r != turn {
			p.line.Doubtful = true
			break
		}
	}
	switch {
	case p.line.Doubtful:
		return timeline.None, at
	case ok:
		p.line.Grant()
		return head.Owner, head.Since
	}
	return turn, at
}
