package timeline

import "slices"

// Where a client lets only so many calls to a peer run at once, what it sends as one is answered is
// of who stands first in line. How many calls a request asks for in a turn is known from turns in
// which there was room; where it sent less than that, it stands in line with the rest.

// juncture is a point in what requests of an endpoint do: so many of their calls were answered, and
// this is their turn of that number since.
type juncture struct {
	endpoint       string
	answered, turn int16
}

// farJuncture is up to where turns and answers are counted: what one request makes thousands of calls
// for is not kept for each.
const farJuncture = 200

// toldLine follows who stands in line for each peer.
type toldLine struct {
	d       *doubts
	learns  bool
	plays   bool
	turns   map[juncture]int                        // how often there was one, with room
	sent    map[juncture]map[string]*[mostCalls]int // by peer: how often so many calls were sent in it
	at      map[RequestID]juncture
	now     map[string]int // by peer: calls that its request sent in the turn that runs
	waiting map[string][]queuer
	since   Time            // when the turn that runs began
	given   map[CallID]Time // calls of who stood in line, and since when
	blurred map[string]bool // by peer: it is not known who waits
}

// queuer is one in line, with so many calls.
type queuer struct {
	request RequestID
	calls   int
	since   Time
}

// A point tells how many calls are asked for where it was seen so often, and nearly always with the
// same number.
const (
	turnsSeen  = 5
	turnsAlike = 0.95
)

func newToldLine(d *doubts) *toldLine {
	return &toldLine{d: d, turns: map[juncture]int{}, sent: map[juncture]map[string]*[mostCalls]int{}}
}

// begin forgets who waits.
func (l *toldLine) begin(learns, plays bool) {
	l.learns, l.plays = learns, plays
	l.at, l.now = map[RequestID]juncture{}, map[string]int{}
	l.waiting, l.blurred = map[string][]queuer{}, map[string]bool{}
	l.given = map[CallID]Time{}
}

// read notes that a request was.
func (l *toldLine) read(r RequestID) {
	if at, before := l.at[r]; before {
		at.turn = min(at.turn+1, farJuncture)
		l.at[r] = at
	} else {
		l.at[r] = juncture{endpoint: l.d.t.Requests[r].Endpoint}
	}
}

// answered notes that a call of a request was.
func (l *toldLine) answered(r RequestID) {
	if at, ok := l.at[r]; ok {
		at.answered, at.turn = min(at.answered+1, farJuncture), 0
		l.at[r] = at
	}
}

// woke notes that something else called back for a request.
func (l *toldLine) woke(r RequestID) {
	if at, ok := l.at[r]; ok {
		at.turn = min(at.turn+1, farJuncture)
		l.at[r] = at
	}
}

// over notes that a request was answered: it waits for nothing.
func (l *toldLine) over(r RequestID) {
	delete(l.at, r)
	for peer, list := range l.waiting {
		l.waiting[peer] = slices.DeleteFunc(list, func(p queuer) bool { return p.request == r })
	}
}

// ends ends the turn of a request, None if it is not known whose that is.
func (l *toldLine) ends(r RequestID) {
	defer clear(l.now)
	at, open := l.at[r]
	if !open || !l.learns && !l.plays {
		return
	}
	if l.learns {
		if l.d.room() {
			l.learn(at)
		}
		return
	}
	if l.turns[at] < turnsSeen && l.d.under[r] == 0 {
		for name, p := range l.d.peers {
			if p.peak >= p.most {
				l.blurred[name] = true
			}
		}
	}
	for peer := range l.sent[at] {
		switch n, sure := l.asks(at, peer); {
		case !sure && l.d.peers[peer].peak >= l.d.peers[peer].most:
			l.blurred[peer] = true
		case sure && n > l.now[peer]:
			l.waiting[peer] = append(l.waiting[peer], queuer{r, n - l.now[peer], l.since})
		}
	}
}

// learn counts the calls of the turn that ends.
func (l *toldLine) learn(at juncture) {
	l.turns[at]++
	for peer, n := range l.now {
		if l.sent[at] == nil {
			l.sent[at] = map[string]*[mostCalls]int{}
		}
		if l.sent[at][peer] == nil {
			l.sent[at][peer] = &[mostCalls]int{}
		}
		l.sent[at][peer][min(n, mostCalls-1)]++
	}
}

// asks is how many calls to a peer are asked for at a point; not sure if that varies.
func (l *toldLine) asks(at juncture, peer string) (n int, sure bool) {
	counts := *l.sent[at][peer]
	none := l.turns[at]
	for _, n := range counts {
		none -= n
	}
	counts[0] += none
	for i, c := range counts {
		if c > counts[n] {
			n = i
		}
	}
	return n, l.turns[at] >= turnsSeen && float64(counts[n]) >= turnsAlike*float64(l.turns[at])
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
	l.leaves(peer, 0)
	return r, true
}

// sends notes that a call of a request was sent that is known to be its own, in its turn or not.
func (l *toldLine) sends(id CallID, r RequestID, turn bool) {
	peer := l.d.t.Calls[id].Peer
	if i := slices.IndexFunc(l.waiting[peer], func(p queuer) bool { return p.request == r }); i >= 0 {
		l.leaves(peer, i)
	} else if turn {
		l.now[peer]++
	}
}

func (l *toldLine) leaves(peer string, i int) {
	list := l.waiting[peer]
	if list[i].calls--; list[i].calls == 0 {
		l.waiting[peer] = slices.Delete(list, i, i+1)
	}
}
