package build

import "github.com/getdwell/dwell/internal/timeline"

// A program that lets only so many calls run at once, by a queue of its own, asks for the next one where the last is
// answered, as one that has its clients' pools do so; but the ids of promises, and whatever else follows the program's
// contexts, then tell of that call that it is of who made room. That shows where a request is answered: in the turn of
// the answer of a call that, by those ids, is another's.

// hearing is which answer was read last, in the turn that runs, None in other turns; and how many requests were
// answered in such turns.
type hearing struct {
	after timeline.CallID
	counted
}

// hear counts requests that are answered in the turn of the answer of a call, whatever else goes on in it; odd:
// of one that is known to be another's.
func (w *inTurns) hear(m *move) {
	switch {
	case m.kind == moveAnswer && !w.shared[m.conn] && !w.atOnce[m.call]:
		w.heard.after = m.call
	case !m.callback() && (m.kind != moveFired || m.done):
		w.heard.after = timeline.None
	case m.kind == moveRespond && w.heard.after != timeline.None && w.t.Requests[m.request].FirstWrite == m.at:
		if r := w.sets.known(callRef(w.heard.after)); r != timeline.None {
			w.heard.add(r != m.request)
		}
	}
}

// How many requests must be answered in the turn of another's call for ids to be doubted, and of how many one.
const (
	misledLeast = 2
	misledOneIn = 1000
)

// idsMislead reports a loop of which ids contradict what requests are answered in.
func idsMislead(t *timeline.Timeline, in asyncInput) bool {
	if in.named == nil {
		return false
	}
	in.loop.moves = toldMoves(in.loop.moves)
	if len(in.loop.moves) == 0 {
		return false
	}
	p := newToldPasses(t, in)
	defer in.chains.reset()
	p.play(toldPlain)
	return p.w.contradicted()
}

func (w *inTurns) contradicted() bool {
	return w.heard.odd >= misledLeast && misledOneIn*w.heard.odd >= w.heard.all-w.heard.odd
}

// misled makes passes in which ids are not believed, if these contradict what requests are answered in; and keeps what
// those tell, if that contradicts nothing, and tells as much. It reports whether it does.
func (p *toldPasses) misled() bool {
	before, known := p.w, p.w.known()
	if p.in.named == nil || !before.contradicted() {
		return false
	}
	p.blind = true
	if now := p.best(); now && p.w.heard.odd == 0 && p.w.heard.all >= before.heard.all && p.w.known() >= known {
		return true
	}
	p.blind = false
	p.best()
	return false
}
