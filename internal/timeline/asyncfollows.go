package timeline

// Where promises have ids, the first that goes on after an answer most often waited for that: it tells whose the call
// is, if nothing else does. But one may wait for another's call, as for a place in a pool, or for a result that several
// share: so it is believed only where it is right of the calls that are known.

// follower is what went on first after the answer of a call.
type follower struct {
	call CallID
	who  ref
}

// follows notes what goes on first after an answer.
func (w *asyncWalk) follows(m *move, who ref) {
	c, ok := w.turn.of.call()
	if ok && w.named != nil && w.turn.conn != noConn && !m.done && who != nobody && !w.chains.stranger(who) && !w.followed(c) {
		w.followers = append(w.followers, follower{c, who})
	}
}

// followed reports an answer after which it is known already what went on first.
func (w *asyncWalk) followed(c CallID) bool {
	n := len(w.followers)
	return n > 0 && w.followers[n-1].call == c
}

// followsRight is how many must be right for each that is wrong; followsKnown, how many must be of calls that are known.
const (
	followsRight = 50
	followsKnown = 20
)

// countFollowers takes for evidence what they say of calls of which nothing is known, if they are right of the others.
func (w *asyncWalk) countFollowers() {
	right, wrong := 0, 0
	for _, v := range w.followers {
		switch a, b := w.chains.known(callRef(v.call)), w.chains.known(v.who); {
		case a == None || b == None:
		case a == b:
			right++
		default:
			wrong++
		}
	}
	if right < followsKnown || right < followsRight*wrong {
		return
	}
	said := map[int]RequestID{} // by set that is nobody's
	for _, v := range w.followers {
		i, ok := w.chains.find(v.call)
		r := w.chains.known(v.who)
		if !ok || r == None || w.chains.claimed[w.chains.root(i)] != None {
			continue
		}
		root := w.chains.root(i)
		if before, ok := said[root]; ok && before != r {
			r = None
		}
		said[root] = r
	}
	for root, r := range said {
		if r != None {
			w.chains.claim(root, r)
		}
	}
}
