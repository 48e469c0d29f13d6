package timeline

import (
	"slices"
	"sort"
)

// A client may send in an immediate what it was asked for: undici does. By then others may
// have had their turns. The id of such a callback was given out in the turn in which it was
// asked for, or while timers ran.

// turnSpan is a turn, or one in which timers ran: which ids were given out, and which moves made.
type turnSpan struct {
	from, to int64 // ids after from, up to to
	begin    int   // places of moves
	end      int
}

// whereAskedFor returns the moves of a loop with calls that promises asked for where they
// were asked for.
func whereAskedFor(t *Timeline, moves []move) []move {
	spans, lasting := turnSpans(moves), lastingIDs(t, moves, nil)
	later, counter := map[int][]move{}, int64(0)
	for i := range moves {
		m := &moves[i]
		if !m.callback() {
			counter = m.counter
			continue
		}
		if !sendsFirst(t, m) || m.exec == 0 || m.exec > counter || m.exec == m.trigger+1 || lasting.has(m.exec) {
			continue
		}
		k := sort.Search(len(spans), func(k int) bool { return spans[k].to >= m.exec })
		if k == len(spans) || spans[k].from >= m.exec || spans[k].begin <= i && i < spans[k].end {
			continue
		}
		asked, place := *m, spans[k].placeOf(m.exec, moves)
		asked.kind, asked.at, asked.counter = moveConnect, moves[place-1].at, m.exec
		later[place] = append(later[place], asked)
		later[-i-1] = nil
	}
	if len(later) == 0 {
		return moves
	}
	all := make([]move, 0, len(moves))
	for i := range moves {
		more := later[i]
		slices.SortStableFunc(more, func(a, b move) int { return int(a.exec - b.exec) })
		all = append(all, more...)
		if _, moved := later[-i-1]; !moved {
			all = append(all, moves[i])
		}
	}
	return all
}

// placeOf returns before which move of a turn an id was given out.
func (s *turnSpan) placeOf(id int64, moves []move) int {
	for k := s.begin + 1; k < s.end; k++ {
		if moves[k].counter >= id {
			return k
		}
	}
	return s.end
}

// turnSpans lists the turns in which ids were given out, in order.
func turnSpans(moves []move) []turnSpan {
	var spans []turnSpan
	last := turnSpan{}
	for i := range moves {
		m := &moves[i]
		if m.callback() {
			continue
		}
		if last.to, last.end = m.counter, i; last.from > 0 && last.to > last.from {
			spans = append(spans, last)
		}
		last = turnSpan{from: m.counter, begin: i}
	}
	return spans
}

// timersSend reports whether timers send calls of which ids do not tell whose they are.
func timersSend(t *Timeline, moves []move) bool {
	timers, n, all := false, 0, 0
	for i := range moves {
		switch m := &moves[i]; m.kind {
		case moveBoundary:
			timers = m.trigger == 1
		case moveBlock, moveRead, moveBody, moveAnswer:
			timers = false
		case moveSend, moveConnect:
			if sendsFirst(t, m) {
				all++
				if timers && t.Calls[m.call].Why == WhyNoAsync {
					n++
				}
			}
		}
	}
	return n > all/manySends
}
