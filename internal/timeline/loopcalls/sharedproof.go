package loopcalls

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/loops"
)

// respond checks the responses written in a turn against the owners that may go on in it.
func (w *sharing) respond(responses []timeline.RequestID) {
	var strange []timeline.RequestID
	for _, r := range responses {
		if !w.expected(r) {
			strange = append(strange, r)
		}
	}
	unknown := w.inTurn(func(a *actor) bool {
		_, ok := a.who.Call()
		return ok && w.turn.runs && a.went == nothingSent
	})
	for k, r := range strange {
		_, away := w.away[loops.OfRequest(r)]
		free, place := w.flying[loops.OfRequest(r)] == 0, w.match(strange, unknown, k)
		switch delete(w.away, loops.OfRequest(r)); {
		case free && place != timeline.None:
			w.bind(place, r)
		case away: // nothing contradicts it
			w.bound++
			w.proven[r] = true
		case w.lost[r]:
			delete(w.lost, r)
			w.unsure[r] = true
		case !free && w.turn.runs:
			w.contradict(r)
		case free && w.turn.runs && len(unknown) == 0 && w.t.Requests[r].Endpoint != "":
			w.odd++
		}
	}
	for _, r := range responses {
		delete(w.away, loops.OfRequest(r))
	}
}

// match is the index of the unknown owner that must be the k-th of the requests answered in a turn. Either the two
// fit only each other, or all requests are of one kind, are as many as the unknown owners, and go on in the same
// order. None if there is no such owner.
func (w *sharing) match(answered []timeline.RequestID, unknown []int, k int) int {
	may := slices.DeleteFunc(slices.Clone(unknown), func(place int) bool { return !w.among(place, answered[k]) })
	another := func(r timeline.RequestID) bool { return r != answered[k] && w.among(may[0], r) }
	switch {
	case len(may) == 1 && !slices.ContainsFunc(answered, another):
		return may[0]
	case len(unknown) == len(answered) && w.alike(answered) && slices.Contains(may, unknown[k]):
		return unknown[k]
	}
	return timeline.None
}

// expected reports whether a request that was answered was one that may go on.
func (w *sharing) expected(r timeline.RequestID) bool {
	for i := len(w.ready) - 1; i >= 0; i-- {
		if a := &w.ready[i]; a.who == loops.OfRequest(r) && a.went == nothingSent {
			a.point.over = true
			if delete(w.lost, r); len(w.of[r]) > 0 {
				w.proven[r] = true
			}
			return true
		}
	}
	return false
}

// alike reports whether requests are all of one kind: then they also go on in the same way, in order.
func (w *sharing) alike(list []timeline.RequestID) bool {
	for _, r := range list[1:] {
		if w.t.Requests[r].Endpoint != w.t.Requests[list[0]].Endpoint {
			return false
		}
	}
	return true
}

// among reports whether an unknown owner may be a request: one of those that may have sent the call in question.
func (w *sharing) among(place int, r timeline.RequestID) bool {
	id, ok := w.ready[place].who.Call()
	if !ok {
		return false // its request became known meanwhile
	}
	list, ok := w.either[id]
	return !ok || slices.ContainsFunc(list, func(a loops.Owner) bool {
		who := w.who(a)
		_, unknown := who.Call()
		return unknown || who == loops.OfRequest(r) || who == loops.Nobody
	})
}

// bind makes a request the owner that was unknown.
func (w *sharing) bind(place int, r timeline.RequestID) {
	a := &w.ready[place]
	id, _ := a.who.Call()
	w.owner[id], a.who, a.point.over = loops.OfRequest(r), loops.OfRequest(r), true
	w.proven[r] = true
	w.bound++
	w.of[r] = append(w.of[r], id)
}

// contradict takes back what was guessed about a request that was answered although calls of it seemed to be under
// way. It also takes back what was guessed about the requests whose turn it seemed to be.
func (w *sharing) contradict(r timeline.RequestID) {
	w.wrong++
	w.unsure[r] = true
	for i := range w.ready {
		if q, ok := w.ready[i].who.Request(); ok && w.ready[i].turn == w.turn.n && w.ready[i].idle() {
			w.unsure[q] = true
		}
	}
	delete(w.flying, loops.OfRequest(r))
	for _, id := range w.of[r] {
		if w.underWay(id) {
			delete(w.owner, id)
			w.gets(id, loops.Nobody)
		}
	}
}

// underWay reports a call that is not answered yet.
func (w *sharing) underWay(id timeline.CallID) bool {
	c := w.byConn[w.t.Calls[id].Conn]
	return w.t.Calls[id].Ordinal >= w.t.Calls[c.calls[0]].Ordinal+c.answered
}

// minRightPerWrong is how many requests must be answered in the turn of their own last call for each that is answered
// before it. minRightPerOdd is the same for each that is answered in the turn of another request: there, a callback
// may have run that no fact shows.
const (
	minRightPerWrong = 50
	minRightPerOdd   = 9
)

// doubtful: if more than one in this many calls has an undecided sender, all guesses are doubtful, because owners
// that were not considered sent some of the calls. seldomBlurred is the same for calls that were sent together with
// some that were not recorded whole.
const (
	doubtful      = 4
	seldomBlurred = 50
)

// believed reports whether the responses confirm the guesses: most of them by the turn that they were written in, and
// for at least a third of the calls on shared connections.
func (w *sharing) believed() bool {
	proven := len(w.proven) - w.bound
	if proven <= 0 || 2*proven < len(w.proven) || proven < minRightPerWrong*w.wrong || proven < minRightPerOdd*w.odd ||
		doubtful*len(w.either) > len(w.owner) || seldomBlurred*w.blurs > len(w.owner) {
		return false
	}
	found, all := 0, 0
	for _, c := range w.conns {
		for _, id := range c.calls {
			if c.shared {
				all++
				if w.confirmed(id) != timeline.None {
					found++
				}
			}
		}
	}
	return 3*found >= all
}

// give writes the requests into the calls, if they are believed. If the client holds calls back, what ids show for a
// shared connection is dropped: the ids belong to the callback that happened to write what several requests had asked
// for.
func (w *sharing) give(in asyncInput) {
	held, believed := w.held(), w.believed()
	for _, c := range w.conns {
		for _, id := range c.calls {
			call := &w.t.Calls[id]
			if held && in.named != nil && c.shared && call.Why == timeline.WhyAsync {
				w.t.Assign(call, timeline.None, timeline.WhyNoAsync)
			}
			if !believed || held && !w.holds || w.told[id] || call.Why == timeline.WhyAwaited || !c.shared && !w.many[id] && call.Request != timeline.None {
				continue
			}
			if r := w.confirmed(id); r != timeline.None {
				w.t.Assign(call, r, timeline.WhyShared)
				in.wanted[id] = w.asked[id]
			} else if in.named == nil || call.Why != timeline.WhyAsync {
				w.t.Assign(call, timeline.None, timeline.WhyNoAsync)
			}
		}
	}
}

// confirmed is the request of a call, if that request's response confirmed it; else None.
func (w *sharing) confirmed(id timeline.CallID) timeline.RequestID {
	r, ok := w.who(loops.OfCall(id)).Request()
	if !ok || !w.proven[r] || w.unsure[r] {
		return timeline.None
	}
	if sent := w.t.Calls[id].SendFrom; sent < w.t.Requests[r].FirstRead || sent > w.t.Requests[r].End {
		return timeline.None
	}
	return r
}
