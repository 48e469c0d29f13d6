package loopcalls

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/loops"
)

// A program that lets only so many calls run at once, by a queue of its own, asks for the next one where the last is
// answered, as one that has its clients' pools do so; but the ids of promises, and whatever else follows the program's
// contexts, then tell of that call that it is of who made room. That shows where a request is answered: in the turn of
// the answer of a call that, by those ids, is another's.

// hearing is which answer was read last, in the turn that runs, None in other turns; and how many requests were
// answered in such turns.
type hearing struct {
	after timeline.CallID
	causality.Tally
}

// hear counts requests that are answered in the turn of the answer of a call, whatever else goes on in it; odd:
// of one that is known to be another's.
func (w *inTurns) hear(m *loops.Move) {
	switch {
	case m.Kind == loops.MoveAnswer && !w.shared[m.Conn] && !w.atOnce[m.Call]:
		w.heard.after = m.Call
	case !m.Callback() && (m.Kind != loops.MoveFired || m.Done):
		w.heard.after = timeline.None
	case m.Kind == loops.MoveRespond && w.heard.after != timeline.None && w.t.Requests[m.Request].FirstWrite == m.At:
		if r := w.sets.known(loops.OfCall(w.heard.after)); r != timeline.None {
			w.heard.Add(r != m.Request)
		}
	}
}

// How many requests must be answered in the turn of another's call for ids to be doubted, and of how many one.
const (
	misledLeast = 2
	misledOneIn = 1000
)

func (w *inTurns) contradicted() bool {
	return w.heard.Odd >= misledLeast && misledOneIn*w.heard.Odd >= w.heard.All-w.heard.Odd
}

// misled makes passes in which ids are not believed, if these contradict what requests are answered in; and keeps what
// those tell, if that contradicts nothing, and tells as much. It reports whether it does.
func (p *toldPasses) misled() bool {
	before, known := p.w, p.w.known()
	if p.in.named == nil || !before.contradicted() {
		return false
	}
	p.blind = true
	if now := p.best(); now && p.w.heard.Odd == 0 && p.w.heard.All >= before.heard.All && p.w.known() >= known {
		return true
	}
	p.blind = false
	p.best()
	return false
}
