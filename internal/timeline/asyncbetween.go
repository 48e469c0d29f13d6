package timeline

// idsToWrite is how many ids a callback gives out at most that does nothing but write what was asked
// for before: of a tick, and of the write.
const idsToWrite = 4

// giveBefore notes whose ids are that were given out before such a callback ran, on a connection that
// several requests share, or one of which it is known how many it gives out; by is whose all are up to
// its write, and the rest.
func (w *asyncWalk) giveBefore(m *move, by giver) giver {
	few := w.few
	if w.named[m.conn] {
		few = idsToWrite
	}
	if before := by.either[0]; before != nobody && m.kind == moveSend && few >= 0 {
		w.ids.give(m.counter-few, giver{before, [2]ref{nobody, nobody}}, m.at)
	}
	return by
}

// trustNames notes of calls that ids tell whose they are, where what is sent names a promise of its request:
// unless several were written together, what the first asked for.
func (in *asyncInput) trustNames(t *Timeline, conns map[int32]*sharedConn) {
	if in.named == nil {
		return
	}
	for _, c := range conns {
		for k, id := range c.calls {
			call := &t.Calls[id]
			together := k > 0 && t.Calls[c.calls[k-1]].SendFrom == call.SendFrom ||
				k+1 < len(c.calls) && t.Calls[c.calls[k+1]].SendFrom == call.SendFrom
			if call.Why == WhyAsync && call.Request != None && !(c.shared && together) {
				in.sure[id] = true
			}
		}
	}
}
