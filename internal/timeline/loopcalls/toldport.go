package loopcalls

import (
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/internal/timeline/loops"
)

// What a worker thread has done comes as a message: the handle that delivers it calls back under its own id, again
// and again, and nothing names the request. A worker does one thing after the other. So if requests wait for nothing
// that is seen, the first of them continues at the message.
//
// This is believed only for some handles: their messages come only while requests are served, and hardly ever let a
// request continue that is seen to wait for something else. And it is believed only for requests whose responses
// confirm it. So background activity is not mistaken for a request's.

// portIDs are the ids of handles that deliver messages. Promises are resolved under them again and again, in
// callbacks that no read began: often when the loop wakes, otherwise after reads of any connection. The id of a
// connection's own handle occurs after reads of that connection.
func portIDs(moves []loops.Move, again map[int64]bool) map[int64]bool {
	const asleep = int32(-2) // nothing was read since the loop slept
	type messages struct {
		all, alone int
		after      map[int32]int // by connection that was read from since; NoConn: timers ran, or the like
	}
	seen, read := map[int64]*messages{}, asleep
	for i := range moves {
		switch m := &moves[i]; {
		case m.Kind == loops.MoveBlock:
			read = asleep
		case m.Done:
		case m.Kind == loops.MoveFired && again[m.Exec]:
			n := lists.Entry(seen, m.Exec)
			if n.all++; n.after == nil {
				n.after = map[int32]int{}
			}
			if read == asleep {
				n.alone++
			} else {
				n.after[read]++
			}
		case m.Kind != loops.MoveFired && !m.Callback():
			read = m.Conn
		}
	}
	ports := map[int64]bool{}
	for id, n := range seen {
		most := 0
		for _, k := range n.after {
			most = max(most, k)
		}
		if n.all >= portMessages && 2*most <= n.all && portAlone*n.alone >= n.all {
			ports[id] = true
		}
	}
	return ports
}

// portAlone: at least one in this many messages comes when the loop wakes, before anything is read.
const portAlone = 5

// A handle must have at least portMessages messages. If more than one in portNobody comes while no request is served,
// or lets a request continue that did not wait for it, the handle is not believed.
const (
	portMessages = 10
	portNobody   = 10
)

// portTurns counts the messages of a handle, and those that no request waited for.
type portTurns struct{ all, nobody int }

// lead is the handle whose message led a request on, and the last id given out before.
type lead struct {
	by      *portTurns
	counter int64
}

// ports lists the handles that deliver messages.
func ports(moves []loops.Move) map[int64]*portTurns {
	found := map[int64]*portTurns{}
	for i := range moves {
		if m := &moves[i]; m.Kind == loops.MoveFired && m.Port != 0 && m.Post == 0 && found[m.Exec] == nil {
			found[m.Exec] = &portTurns{}
		}
	}
	return found
}

// leads drops the handles whose messages no request waited for, and reports whether any are left.
func (d *toldTurns) leads() bool {
	for id, n := range d.ports {
		if n.nobody*portNobody > n.all {
			delete(d.ports, id)
		}
	}
	return len(d.ports) > 0
}

// goesOn is the owner that continues in the turn that begins with a resolved promise.
func (w *inTurns) goesOn(m *loops.Move) loops.Owner {
	if w.told == nil {
		return m.By
	}
	switch {
	case m.Post != 0:
		return w.answersMail(m)
	case m.Port == 0:
		w.misled(m)
		return w.alone(m.By)
	case m.By != loops.Nobody: // a promise shows it
		return w.alone(m.By)
	}
	n := w.told.ports[m.Exec]
	if n == nil {
		return loops.Nobody
	}
	if n.all++; w.told.places.Open() == 0 {
		n.nobody++
	}
	head, ok := w.told.places.Standing.Head()
	if !ok {
		return loops.Nobody
	}
	w.led[head.Owner] = lead{n, m.Counter}
	return loops.OfRequest(head.Owner)
}

// misled notes that something a request had asked for before a message led it on calls back only now: it did not wait
// for that message.
func (w *inTurns) misled(m *loops.Move) {
	r := w.sets.known(m.By)
	l, ok := w.led[r]
	if before := m.Exec <= l.counter || m.Trigger != 0 && m.Trigger <= l.counter && w.told.ports[m.Trigger] == nil; ok && before {
		l.by.nobody++
		delete(w.led, r)
	}
}
