package loopcalls

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/loops"
)

// Some clients send a call in an immediate, as undici does. By then other requests may have had their turns. The id
// of such a callback was given out in the turn in which the call was asked for, or while timers ran.

// whereAskedFor returns the moves of a loop in which such calls, if promises asked for them, are placed where they
// were asked for.
func whereAskedFor(t *timeline.Timeline, moves []loops.Move, handles lasting) []loops.Move {
	turns := newIDTurns(moves)
	later, turn := map[int][]loops.Move{}, 0
	for i := range moves {
		m := &moves[i]
		if !m.Callback() {
			turn = i
			continue
		}
		if !sendsFirst(t, m) || m.Exec == 0 || m.Exec > moves[turn].Counter || m.Exec == m.Trigger+1 || handles.has(m.Exec) {
			continue
		}
		begin := turns.of(m.Exec)
		if begin == timeline.None || begin == turn {
			continue
		}
		asked, place := *m, placeOf(moves, begin, m.Exec)
		asked.Kind, asked.At, asked.Counter = loops.MoveConnect, moves[place-1].At, m.Exec
		later[place] = append(later[place], asked)
		later[-i-1] = nil
	}
	if len(later) == 0 {
		return moves
	}
	all := make([]loops.Move, 0, len(moves))
	for i := range moves {
		more := later[i]
		slices.SortStableFunc(more, func(a, b loops.Move) int { return int(a.Exec - b.Exec) })
		all = append(all, more...)
		if _, moved := later[-i-1]; !moved {
			all = append(all, moves[i])
		}
	}
	return all
}

// placeOf returns the index before which an id was given out, within the turn that move begin begins.
func placeOf(moves []loops.Move, begin int, id int64) int {
	k := begin + 1
	for k < len(moves) && moves[k].Callback() && moves[k].Counter < id {
		k++
	}
	return k
}

// timersSend reports whether timers send calls whose requests ids do not show.
func timersSend(t *timeline.Timeline, moves []loops.Move) bool {
	timers, n, all := false, 0, 0
	for i := range moves {
		switch m := &moves[i]; m.Kind {
		case loops.MoveBoundary:
			timers = m.Trigger == 1
		case loops.MoveBlock, loops.MoveRead, loops.MoveBody, loops.MoveAnswer:
			timers = false
		case loops.MoveSend, loops.MoveConnect:
			if sendsFirst(t, m) {
				all++
				if timers && t.Calls[m.Call].Why == timeline.WhyNoAsync {
					n++
				}
			}
		}
	}
	return n > all/manySends
}
