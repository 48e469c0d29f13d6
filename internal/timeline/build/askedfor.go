package build

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
)

// A client may send in an immediate what it was asked for: undici does. By then others may
// have had their turns. The id of such a callback was given out in the turn in which it was
// asked for, or while timers ran.

// whereAskedFor returns the moves of a loop with calls that promises asked for where they
// were asked for.
func whereAskedFor(t *timeline.Timeline, moves []move) []move {
	turns, lasting := newIDTurns(moves), lastingIDs(t, moves, nil)
	later, turn := map[int][]move{}, 0
	for i := range moves {
		m := &moves[i]
		if !m.callback() {
			turn = i
			continue
		}
		if !sendsFirst(t, m) || m.exec == 0 || m.exec > moves[turn].counter || m.exec == m.trigger+1 || lasting.has(m.exec) {
			continue
		}
		begin := turns.of(m.exec)
		if begin == timeline.None || begin == turn {
			continue
		}
		asked, place := *m, placeOf(moves, begin, m.exec)
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

// placeOf returns before which move of the turn that a move begins an id was given out.
func placeOf(moves []move, begin int, id int64) int {
	k := begin + 1
	for k < len(moves) && moves[k].callback() && moves[k].counter < id {
		k++
	}
	return k
}

// timersSend reports whether timers send calls of which ids do not tell whose they are.
func timersSend(t *timeline.Timeline, moves []move) bool {
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
				if timers && t.Calls[m.call].Why == timeline.WhyNoAsync {
					n++
				}
			}
		}
	}
	return n > all/manySends
}
