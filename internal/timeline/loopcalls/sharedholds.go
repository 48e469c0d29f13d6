package loopcalls

import "github.com/getdwell/dwell/internal/timeline/loops"

// A client may hold calls back until those before are answered, and then send as a whole what was asked for meanwhile
// (automatic pipelining). This is assumed if requests could often send a call while others were under way, and hardly
// ever did. With such a client, a request that waits for one of several calls goes on when all of them are answered.
// What was asked for before that is sent then, in the order of asking.

// held reports a client that holds calls back: owners that could send a call while others were under way hardly ever
// did.
func (w *sharing) held() bool {
	return w.could >= heldAtLeast && w.sends*heldSeldom < w.could
}

// It must have been possible at least heldAtLeast times to send a call while others were under way, and done in fewer
// than one of heldSeldom of these.
const (
	heldAtLeast = 20
	heldSeldom  = 100
)

// chance counts a turn, once, if an owner could send a call in it while others were under way.
func (w *sharing) chance(under, sent bool) {
	if !under || w.turn.judged || !w.turn.runs {
		return
	}
	w.turn.judged = true
	if sent {
		w.sends++
	}
	if sent || len(w.inTurn((*actor).idle)) > 0 {
		w.could++
	}
}

// release lets the owners of answered calls go on. If calls are held back until those before are answered, all of
// them go on at once when that is the case.
func (w *sharing) release(m *loops.Move) {
	if w.holds && w.beside > 0 {
		return
	}
	for _, a := range w.resumed {
		w.goesOn(a.who, a.point, m)
	}
	w.resumed = w.resumed[:0]
}

// waiting lists the owners that may have asked for what a client sends that holds calls back. When the calls before
// are answered, these are the owners that could ask before that. If there are none, or nothing was under way, any
// owner counts that can ask.
func (w *sharing) waiting() []int {
	var before, all []int
	for i := range w.ready {
		a := &w.ready[i]
		all = append(all, i)
		if n, known := w.counts.At(a.point); a.turn < w.turn.n && (n > 0 || !known) {
			before = append(before, i)
		}
	}
	if w.turn.under > 0 && len(before) > 0 {
		return before
	}
	return all
}
