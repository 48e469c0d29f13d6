package loopcalls

import (
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/internal/timeline/loops"
)

// What a worker thread has done comes as a message: the handle that it comes by calls back under its own
// id, again and again, and nothing tells for whom. A worker does one thing after the other. So where
// requests stand that wait for nothing seen, the first who stood goes on. That is believed of handles
// under which messages come only while requests are served, and lead on nobody who is seen to wait for
// something else; and of requests whose responses confirm it. So what goes on in the background is not
// taken for a request's.

// portIDs are the ids under which promises are resolved again and again in callbacks that no read
// began, as those of handles by which messages come: often as the loop wakes, and else after reads of
// any connections. A connection's own id comes after reads of that.
func portIDs(moves []loops.Move, again map[int64]bool) map[int64]bool {
	const asleep = int32(-2) // nothing since the loop slept
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

// portAlone is of how many messages one at least comes as the loop wakes, before anything was read.
const portAlone = 5

// How many messages there must be of a handle, and of how many one at least comes while nobody is served,
// or nobody waits for it, if what they lead on is not known.
const (
	portMessages = 10
	portNobody   = 10
)

// portTurns are the messages that came by a handle.
type portTurns struct{ all, nobody int }

// lead is by which handle the message came that led a request on, and the last id given out before.
type lead struct {
	by      *portTurns
	counter int64
}

// ports lists the handles by which messages come, none if there are no such.
func ports(moves []loops.Move) map[int64]*portTurns {
	found := map[int64]*portTurns{}
	for i := range moves {
		if m := &moves[i]; m.Kind == loops.MoveFired && m.Port != 0 && m.Post == 0 && found[m.Exec] == nil {
			found[m.Exec] = &portTurns{}
		}
	}
	return found
}

// leads forgets the handles for whose messages nobody waited, and reports whether any are left.
func (d *toldTurns) leads() bool {
	for id, n := range d.ports {
		if n.nobody*portNobody > n.all {
			delete(d.ports, id)
		}
	}
	return len(d.ports) > 0
}

// goesOn is who goes on in the turn that a move begins in which a promise is resolved.
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
	case m.By != loops.Nobody: // a promise tells
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

// misled notes that what a request had asked for before a message led it on calls back only now: it did
// not wait for that message.
func (w *inTurns) misled(m *loops.Move) {
	r := w.sets.known(m.By)
	l, ok := w.led[r]
	if before := m.Exec <= l.counter || m.Trigger != 0 && m.Trigger <= l.counter && w.told.ports[m.Trigger] == nil; ok && before {
		l.by.nobody++
		delete(w.led, r)
	}
}
