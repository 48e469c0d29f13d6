package loops

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
)

// defers reports whether a loop only queues a task for what it reads, as asyncio does, and runs the tasks when it has
// read what there is. Whenever it has read for several requests in a row, such a loop acts for the first of them next,
// or for another one if that has less to do. A loop that works for a request as soon as it has read it acts for the last
// one, if for any. A loop whose callbacks have ids shows when each begins, and is not asked.
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
		case m.reads():
			if r := whose(t, m); r != timeline.None && len(row) < rowAtMost {
				row = append(slices.DeleteFunc(row, func(x timeline.RequestID) bool { return x == r }), r)
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

// taskQueue knows which tasks of a loop that defers may have been in its queue since the loop last did something for
// their requests. Nil: the loop does not defer, and has none.
type taskQueue struct {
	of     map[timeline.RequestID]int // the round in which the loop last did something for a request, since it slept
	rounds int                        // that the loop was seen to begin: it reads after it has acted
	acted  bool                       // in this round
}

// fewRounds bounds for how many rounds a task is taken to have been queued: one that is ready runs in the next round, or
// in one of those after it if one task has to wake another. A task that takes longer waits for something unseen.
const fewRounds = 3

// round notes whether a move begins another round of the loop.
func (q *taskQueue) round(m *Move) {
	if q == nil {
		return
	}
	if m.reads() && q.acted {
		q.rounds, q.acted = q.rounds+1, false
	}
	q.acted = q.acted || m.acts()
}

// runs reports whether a move of a request is made by a task that was queued. From then on the request has a task in the
// queue.
func (q *taskQueue) runs(r timeline.RequestID, m *Move) bool {
	if q == nil {
		return false
	}
	since, ok := q.of[r]
	q.of[r] = q.rounds
	return ok && m.acts() && q.rounds-since <= fewRounds
}

// empty notes that the loop slept: it had run all tasks.
func (q *taskQueue) empty() {
	if q != nil {
		clear(q.of)
	}
}

// reads reports whether a move only reads what has arrived.
func (m *Move) reads() bool {
	return m.Kind == MoveRead || m.Kind == MoveBody || m.Kind == MoveAnswer
}

// acts reports whether a move is something that a request's code did.
func (m *Move) acts() bool {
	return m.Kind == MoveConnect || m.Kind == MoveSend || m.Kind == MoveRespond
}
