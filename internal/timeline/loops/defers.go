package loops

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
)

// defers reports whether a loop only queues a task for what it reads, as asyncio does, and runs the tasks when it has
// read what there is. Whenever it has read for several requests in a row, such a loop acts for the first of them next,
// or for another one if that has less to do. A loop that works for a request as soon as it has read it acts for the last
// one, if for any: there are no rows that show the contrary. A loop whose callbacks have ids shows when each begins.
func defers(t *timeline.Timeline, loop *Loop) bool {
	if loop.Wander {
		return false
	}
	var before, last int // rows after which it acted for the last request, or for one before that
	var row []timeline.RequestID
	for i := range loop.Moves {
		m := &loop.Moves[i]
		switch {
		case m.Exec != 0 && m.Kind != MoveBlock:
			return false
		case m.Kind == MoveRead || m.Kind == MoveBody || m.Kind == MoveAnswer:
			if r := whose(t, m); r != timeline.None && len(row) < rowAtMost && !slices.Contains(row, r) {
				row = append(row, r)
			}
			continue
		case m.acts() && len(row) > 1:
			switch k := slices.Index(row, whose(t, m)); {
			case k == len(row)-1:
				last++
			case k >= 0:
				before++
			}
		}
		row = row[:0]
	}
	return before >= enoughRows && before*lastForEach >= last
}

// A loop defers if at least enoughRows rows show it, and at most lastForEach times as many the contrary: a task may need
// several rounds of the loop after an answer. rowAtMost bounds the requests of a row that are looked at.
const (
	enoughRows  = 8
	lastForEach = 2
	rowAtMost   = 16
)

// acts reports whether a move is something that a request's code did.
func (m *Move) acts() bool {
	return m.Kind == MoveConnect || m.Kind == MoveSend || m.Kind == MoveRespond
}
