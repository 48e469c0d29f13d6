package timeline

import "slices"

// What a worker thread has done comes as a message: the handle that it comes by calls back under its own
// id, again and again, and nothing tells for whom. A worker does one thing after the other. So where
// requests stand that wait for nothing seen, the first who stood goes on. Responses confirm that, or
// nothing of it is believed.

// portIDs are the ids under which promises are resolved again and again in callbacks that no read
// began, as those of handles by which messages come.
func portIDs(moves []move, again map[int64]bool) map[int64]bool {
	type count struct{ all, alone int }
	seen, read := map[int64]count{}, false // since the loop slept
	for i := range moves {
		switch m := &moves[i]; {
		case m.kind == moveBlock || m.kind == moveBoundary:
			read = false
		case m.kind == moveFired && again[m.exec]:
			n := seen[m.exec]
			if n.all++; !read {
				n.alone++
			}
			seen[m.exec] = n
		case m.kind != moveFired && !m.callback():
			read = true
		}
	}
	ports := map[int64]bool{}
	for id, n := range seen {
		if n.all >= portMessages && 2*n.alone >= n.all {
			ports[id] = true
		}
	}
	return ports
}

// anyPort reports whether messages come.
func anyPort(moves []move) bool {
	return slices.ContainsFunc(moves, func(m move) bool { return m.port })
}

// portMessages is how many messages there must be of a handle.
const portMessages = 10

// stander is who stood at a time.
type stander struct {
	request RequestID
	since   Time
}

// stands notes that a request does.
func (d *doubts) stands(r RequestID, at Time) {
	d.standing[r] = at
	d.stood = append(d.stood, stander{r, at})
}

// firstStanding is who stands longest, None if nobody does.
func (d *doubts) firstStanding() RequestID {
	for ; len(d.stood) > 0; d.stood = d.stood[1:] {
		first := d.stood[0]
		if since, stands := d.standing[first.request]; stands && since == first.since {
			return first.request
		}
	}
	return None
}

// goesOn is who goes on in the turn that a move begins in which a promise is resolved.
func (w *inTurns) goesOn(m *move) ref {
	if m.by != nobody || !m.port || w.told == nil || !w.told.ports {
		return m.by
	}
	if r := w.told.firstStanding(); r != None {
		return requestRef(r)
	}
	return nobody
}
