package timeline

// A program that lets only so many calls run at once, by a queue of its own, asks for the next one where the last is
// answered, as one that has its clients' pools do so; but the ids of promises, and whatever else follows the program's
// contexts, then tell of that call that it is of who made room. That shows where a request is answered: in the turn of
// the answer of a call that, by those ids, is another's.

// hearing counts requests that are answered in the turn of the answer of a call, whatever else goes on in it.
type hearing struct {
	after   CallID // None in other turns
	agree   int    // the call is known to be its own
	against int    // or another's
}

// hear follows in which turn requests are answered.
func (w *inTurns) hear(m *move) {
	switch m.kind {
	case moveAnswer:
		w.heard.after = m.call
		if w.shared[m.conn] || w.atOnce[m.call] {
			w.heard.after = None
		}
	case moveFired:
		if m.done {
			w.heard.after = None
		}
	case moveRead, moveBody, moveBlock, moveBoundary, moveUntold, moveForeign:
		w.heard.after = None
	case moveRespond:
		if w.heard.after == None || w.t.Requests[m.request].FirstWrite != m.at {
			return
		}
		switch r := w.sets.known(callRef(w.heard.after)); r {
		case None:
		case m.request:
			w.heard.agree++
		default:
			w.heard.against++
		}
	}
}

// How many requests must be answered in the turn of another's call for ids to be doubted, and of how many one.
const (
	misledLeast = 2
	misledOneIn = 1000
)

// idsMislead reports a loop of which ids contradict what requests are answered in.
func idsMislead(t *Timeline, in asyncInput) bool {
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
	return p.w.heard.misled()
}

func (h hearing) misled() bool {
	return h.against >= misledLeast && misledOneIn*h.against >= h.agree
}

// misled makes passes in which ids are not believed, if these contradict what requests are answered in; and keeps what
// those tell, if that contradicts nothing, and tells as much. It reports whether it does.
func (p *toldPasses) misled() bool {
	before, known := p.w.heard, p.w.known()
	if p.in.named == nil || !before.misled() {
		return false
	}
	p.blind = true
	if now := p.best(); now && p.w.heard.against == 0 && p.w.heard.agree >= before.agree+before.against && p.w.known() >= known {
		return true
	}
	p.blind = false
	p.best()
	return false
}
