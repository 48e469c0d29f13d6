package loopcalls

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// Where a client lets only so many calls to a peer run at once, what it sends as one is answered is
// of who stands first in line. How many calls a request asks for in a turn is known from turns in
// which there was room; where it sent less than that, it stands in line with the rest.

// toldLine follows who stands in line for each peer.
type toldLine struct {
	d        *doubts
	learns   bool
	alone    bool // also where there was no room, but nobody else
	plays    bool
	asked    asked                                          // what requests ask for, where there was room
	at       map[timeline.RequestID]*callPoint              // of requests that are not answered
	depth    map[timeline.CallID]int16                      // of calls under way: of the turn in which they were asked for
	now      map[string]int                                 // by peer: calls that its request sent in the turn that runs
	lines    map[string]*causality.Line[timeline.RequestID] // by peer
	queued   map[timeline.RequestID]int                     // how many calls of a request wait
	since    recording.Time                                 // when the turn that runs began
	together bool                                           // in which another may go on too
	given    map[timeline.CallID]recording.Time             // calls of who stood in line, and since when
}

func newToldLine(d *doubts) *toldLine { return &toldLine{d: d, asked: asked{}} }

// begin forgets who waits.
func (l *toldLine) begin(how toldPass) {
	l.alone = how == toldLearnsAlone
	l.learns, l.plays = how == toldLearns || l.alone, how == toldLines
	if l.learns {
		l.asked = asked{}
	}
	l.at, l.depth, l.now = map[timeline.RequestID]*callPoint{}, map[timeline.CallID]int16{}, map[string]int{}
	l.lines, l.queued = map[string]*causality.Line[timeline.RequestID]{}, map[timeline.RequestID]int{}
	l.given = map[timeline.CallID]recording.Time{}
}

// read notes that a request was.
func (l *toldLine) read(r timeline.RequestID) {
	if l.at[r] == nil {
		l.at[r] = &callPoint{endpoint: l.d.t.Requests[r].Endpoint, turn: -1, path: fnvBasis}
	}
	l.woke(r)
}

// answered notes that a call of a request was.
func (l *toldLine) answered(id timeline.CallID, r timeline.RequestID) {
	if c := l.at[r]; c != nil {
		c.answered, c.turn, c.depth = min(c.answered+1, farthest), 0, l.depth[id]
		c.begins(l.d.under[r] + l.queued[r])
	}
	delete(l.depth, id)
}

// woke notes that something else than an answer called back for a request.
func (l *toldLine) woke(r timeline.RequestID) {
	if c := l.at[r]; c != nil {
		c.turn = min(c.turn+1, farthest)
		c.begins(l.d.under[r] + l.queued[r])
	}
}

// over notes that a request was answered: it waits for nothing.
func (l *toldLine) over(r timeline.RequestID) {
	delete(l.at, r)
	if l.queued[r] == 0 {
		return
	}
	delete(l.queued, r)
	for _, line := range l.lines {
		line.Leave(r)
	}
}

// ends ends the turn of a request, None if it is not known whose that is. Nothing is learned from it
// if it may go on in the next, with another.
func (l *toldLine) ends(r timeline.RequestID, together bool) {
	defer clear(l.now)
	c := l.at[r]
	mixed := together || l.together
	l.together = together
	switch {
	case c == nil, l.learns && mixed:
	case l.learns && (l.d.room() || l.alone && l.d.alone()):
		l.asked.learn(c, l.now)
	case l.plays:
		l.joins(r, c)
	}
}

// line is that for a peer.
func (l *toldLine) line(peer string) *causality.Line[timeline.RequestID] {
	return lists.Entry(l.lines, peer)
}

// joins puts a request in line for what it asked for in the turn that ends, and was not sent.
func (l *toldLine) joins(r timeline.RequestID, c *callPoint) {
	known := c.known(l.asked)
	if known == nil {
		for peer, p := range l.d.peers {
			if p.peak >= p.most {
				l.line(peer).Doubtful = true
			}
		}
		return
	}
	for peer := range known.calls {
		n, sure := known.of(peer)
		if p := l.d.peers[peer]; !sure && p.peak >= p.most {
			l.line(peer).Doubtful = true
		}
		if more := n - l.now[peer]; sure && more > 0 {
			l.line(peer).Join(causality.Waiter[timeline.RequestID]{Owner: r, Since: l.since, Grants: more, Depth: int(c.next())})
			l.queued[r] += more
		}
	}
}

// first is whose a call is that is sent to a peer: who has waited longest. Not told where nobody
// waits; None where it is not known who.
func (l *toldLine) first(id timeline.CallID) (r timeline.RequestID, told bool) {
	line := l.line(l.d.t.Calls[id].Peer)
	if p := l.d.peer(id); line.Len() == 0 && p.peak < p.most {
		line.Doubtful = false
	}
	if line.Doubtful {
		return timeline.None, true
	}
	w, ok := line.Grant()
	if !ok {
		return timeline.None, false
	}
	l.granted(id, w)
	l.given[id] = w.Since
	return w.Owner, true
}

// sends notes that a call of a request was sent that is known to be its own, in its turn or not.
func (l *toldLine) sends(id timeline.CallID, r timeline.RequestID, turn bool) {
	peer := l.d.t.Calls[id].Peer
	if w, waited := l.line(peer).GrantTo(r); waited {
		l.granted(id, w)
		return
	}
	if turn {
		l.now[peer]++
	}
	if c := l.at[r]; c != nil {
		l.depth[id] = c.next()
	}
}

// granted notes that a call was sent for who waited.
func (l *toldLine) granted(id timeline.CallID, w causality.Waiter[timeline.RequestID]) {
	l.depth[id] = int16(w.Depth)
	if l.queued[w.Owner]--; l.queued[w.Owner] == 0 {
		delete(l.queued, w.Owner)
	}
}
