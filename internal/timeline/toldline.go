package timeline

import "slices"

// Where a client lets only so many calls to a peer run at once, what it sends as one is answered is
// of who stands first in line. How many calls a request asks for in a turn is known from turns in
// which there was room; where it sent less than that, it stands in line with the rest.

// toldLine follows who stands in line for each peer.
type toldLine struct {
	d        *doubts
	learns   bool
	alone    bool // also where there was no room, but nobody else
	plays    bool
	asked    asked                 // what requests ask for, where there was room
	at       map[RequestID]*course // of requests that are not answered
	depth    map[CallID]int16      // of calls under way: of the turn in which they were asked for
	now      map[string]int        // by peer: calls that its request sent in the turn that runs
	waiting  map[string][]queuer
	queued   map[RequestID]int // how many calls of a request wait
	since    Time              // when the turn that runs began
	together bool              // in which another may go on too
	given    map[CallID]Time   // calls of who stood in line, and since when
	blurred  map[string]bool   // by peer: it is not known who waits
}

// queuer is one in line, with so many calls.
type queuer struct {
	request RequestID
	calls   int
	depth   int16
	since   Time
}

func newToldLine(d *doubts) *toldLine { return &toldLine{d: d, asked: asked{}} }

// begin forgets who waits.
func (l *toldLine) begin(how toldPass) {
	l.alone = how == toldLearnsAlone
	l.learns, l.plays = how == toldLearns || l.alone, how == toldLines
	if l.learns {
		l.asked = asked{}
	}
	l.at, l.depth, l.now = map[RequestID]*course{}, map[CallID]int16{}, map[string]int{}
	l.waiting, l.queued, l.blurred = map[string][]queuer{}, map[RequestID]int{}, map[string]bool{}
	l.given = map[CallID]Time{}
}

// read notes that a request was.
func (l *toldLine) read(r RequestID) {
	if l.at[r] == nil {
		l.at[r] = &course{endpoint: l.d.t.Requests[r].Endpoint, turn: -1, path: fnvBasis}
	}
	l.woke(r)
}

// answered notes that a call of a request was.
func (l *toldLine) answered(id CallID, r RequestID) {
	if c := l.at[r]; c != nil {
		c.answered, c.turn, c.depth = min(c.answered+1, farJuncture), 0, l.depth[id]
		c.begins(l.d.under[r] + l.queued[r])
	}
	delete(l.depth, id)
}

// woke notes that something else than an answer called back for a request.
func (l *toldLine) woke(r RequestID) {
	if c := l.at[r]; c != nil {
		c.turn = min(c.turn+1, farJuncture)
		c.begins(l.d.under[r] + l.queued[r])
	}
}

// over notes that a request was answered: it waits for nothing.
func (l *toldLine) over(r RequestID) {
	delete(l.at, r)
	if l.queued[r] == 0 {
		return
	}
	delete(l.queued, r)
	for peer, list := range l.waiting {
		l.waiting[peer] = slices.DeleteFunc(list, func(p queuer) bool { return p.request == r })
	}
}

// ends ends the turn of a request, None if it is not known whose that is. Nothing is learned from it
// if it may go on in the next, with another.
func (l *toldLine) ends(r RequestID, together bool) {
	defer clear(l.now)
	c := l.at[r]
	mixed := together || l.together
	l.together = together
	switch {
	case c == nil, l.learns && mixed:
	case l.learns && (l.d.room() || l.alone && l.d.alone()):
		l.asked.learn(c, l.now)
	case l.plays:
		l.stands(r, c)
	}
}

// stands puts a request in line for what it asked for in the turn that ends, and was not sent.
func (l *toldLine) stands(r RequestID, c *course) {
	known := c.known(l.asked)
	if known == nil {
		for name, p := range l.d.peers {
			if p.peak >= p.most {
				l.blurred[name] = true
			}
		}
		return
	}
	for peer := range known.calls {
		switch n, sure := known.of(peer); {
		case !sure && l.d.peers[peer].peak >= l.d.peers[peer].most:
			l.blurred[peer] = true
		case sure && n > l.now[peer]:
			l.waiting[peer] = append(l.waiting[peer], queuer{r, n - l.now[peer], c.next(), l.since})
			l.queued[r] += n - l.now[peer]
		}
	}
}

// first is whose a call is that is sent to a peer: who stands first in line. Not told where nobody
// does; None where it is not known who.
func (l *toldLine) first(id CallID) (r RequestID, told bool) {
	peer := l.d.t.Calls[id].Peer
	list := l.waiting[peer]
	if p := l.d.peer(id); len(list) == 0 && p.peak < p.most {
		delete(l.blurred, peer)
	}
	if l.blurred[peer] {
		return None, true
	}
	if len(list) == 0 {
		return None, false
	}
	r, l.given[id] = list[0].request, list[0].since
	l.leaves(id, 0)
	return r, true
}

// sends notes that a call of a request was sent that is known to be its own, in its turn or not.
func (l *toldLine) sends(id CallID, r RequestID, turn bool) {
	peer := l.d.t.Calls[id].Peer
	if i := slices.IndexFunc(l.waiting[peer], func(p queuer) bool { return p.request == r }); i >= 0 {
		l.leaves(id, i)
		return
	}
	if turn {
		l.now[peer]++
	}
	if c := l.at[r]; c != nil {
		l.depth[id] = c.next()
	}
}

// leaves notes that the i-th in line got what it waits for.
func (l *toldLine) leaves(id CallID, i int) {
	peer := l.d.t.Calls[id].Peer
	list := l.waiting[peer]
	q := &list[i]
	l.depth[id] = q.depth
	if l.queued[q.request]--; l.queued[q.request] == 0 {
		delete(l.queued, q.request)
	}
	if q.calls--; q.calls == 0 {
		l.waiting[peer] = slices.Delete(list, i, i+1)
	}
}
