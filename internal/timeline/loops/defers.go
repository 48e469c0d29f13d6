package loops

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
)

// defers reports whether a loop only queues a task for what it reads, as asyncio does, and runs the tasks in order when
// it has read what there is. Whenever it read for several requests in a row, such a loop acts for the first of them
// first. A loop that works for a request as soon as it has read it acts for the last one, if for any.
func defers(t *timeline.Timeline, loop *Loop) bool {
	if loop.Wander {
		return false
	}
	var first causality.Tally
	var row []timeline.RequestID
	for i := range loop.Moves {
		m := &loop.Moves[i]
		switch {
		case m.Kind == MoveRead || m.Kind == MoveBody || m.Kind == MoveAnswer:
			if r := whose(t, m); r != timeline.None && len(row) < rowAtMost && !slices.Contains(row, r) {
				row = append(row, r)
			}
			continue
		case m.acts() && len(row) > 1:
			first.Add(whose(t, m) != row[0])
		}
		row = row[:0]
	}
	return first.Holds(enoughRows, firstForEach)
}

// A loop is taken to defer from enoughRows rows on whose first request it acted for first. As a task may need several
// rounds of the loop after an answer, and another one fewer, one in three may differ.
const (
	enoughRows   = 8
	firstForEach = 2
	rowAtMost    = 16
)

// acts reports whether a move is something that a request's code did.
func (m *Move) acts() bool {
	return m.Kind == MoveConnect || m.Kind == MoveSend || m.Kind == MoveRespond
}
