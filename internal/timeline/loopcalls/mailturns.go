package loopcalls

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/loops"
)

// posts notes the owner for which a message is sent, as far as ids show it.
func (w *asyncWalk) posts(m *loops.Move) {
	m.By = w.sender(m)
	if m.Post != 0 {
		w.posted[m.Post] = m.By
	}
}

func (w *asyncWalk) sender(m *loops.Move) loops.Owner {
	_, read := w.turn.of.Request()
	_, handle := w.handles[m.Trigger]
	byTrigger := loops.Nobody
	if m.Trigger != 0 && !handle && !w.fresh(m.Trigger) && !w.lasting.has(m.Trigger) {
		byTrigger = w.ids.find(m.Trigger)
	}
	switch {
	case m.Exec == 0:
		return w.turn.of // by a promise that waited for what began the turn
	case read && w.turn.conn != loops.NoConn && m.Trigger != 0 && !w.fresh(m.Trigger) && w.ownHandle(m):
		return w.turn.of
	case w.reader(m) != loops.Nobody:
		return w.reader(m)
	case w.fresh(m.Exec) && w.named != nil && byTrigger != loops.Nobody:
		return byTrigger
	case w.turn.of != loops.Nobody && !w.foreign(m):
		return w.turn.of
	}
	if running := w.runs(m.Exec); running != loops.Nobody {
		return running
	}
	return byTrigger
}

// answersMail is the owner for which the loop continues at a message, as far as ids show it.
func (w *asyncWalk) answersMail(m *loops.Move) loops.Owner {
	who, sent := w.posted[m.Post]
	if !sent || who == loops.Nobody {
		return w.stranger()
	}
	if r := w.chains.known(who); r != timeline.None && w.t.Requests[r].End < m.At {
		return w.stranger()
	}
	return who
}

// posts notes the owner for which a message is sent: the one that ids show, or the owner of the turn.
func (w *inTurns) posts(m *loops.Move) {
	who := m.By
	if m.Exec == 0 && w.turn.of != loops.Nobody {
		who = w.turn.of
	}
	if m.Post != 0 && who != loops.Nobody {
		w.posted[m.Post] = who
	}
}

// answersMail is the owner for which the loop continues at a message that answers another.
func (w *inTurns) answersMail(m *loops.Move) loops.Owner {
	if who, sent := w.posted[m.Post]; sent {
		return w.alone(who)
	}
	return w.alone(m.By)
}
