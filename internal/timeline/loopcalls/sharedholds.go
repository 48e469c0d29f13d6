package loopcalls

import "github.com/getdwell/dwell/internal/timeline/loops"

// A client may hold calls back until those before are answered, and send what was asked for meanwhile
// as a whole then (automatic pipelining). That is so where requests could send a call beside others
// again and again, and hardly ever do. Whoever waits for one of several calls goes on when all of
// them are answered; before, what was asked for in the meantime is sent, in the order in which it was.

// held reports a client that holds calls back until those before are answered: whoever could send one
// beside others hardly ever did.
func (w *sharing) held() bool {
	return w.could >= heldAtLeast && w.sends*heldSeldom < w.could
}

// So often must it have been possible to send a call beside others, and so seldom done.
const (
	heldAtLeast = 20
	heldSeldom  = 100
)

// chance counts a turn of somebody who could send a call beside others, once.
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

// release lets go on whose calls were answered: where calls are held back until those before are answered,
// all at once when that is so.
func (w *sharing) release(m *loops.Move) {
	if w.holds && w.beside > 0 {
		return
	}
	for _, a := range w.resumed {
		w.goesOn(a.who, a.point, m)
	}
	w.resumed = w.resumed[:0]
}

// waiting is who may have asked for what a client sends that holds calls back: as those before are
// answered, who could before that; if none did, or nothing was under way, whoever can.
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
