package causality

import "github.com/getdwell/dwell/recording"

// Places follows which owners wait for a place at a peer, if each peer runs only so many calls at once. The limit is
// the highest number of concurrent calls that was ever seen. How many calls an owner asks for in a turn is learned
// from turns in which there was room. If an owner sends fewer calls than that, it stands in line with the rest. The
// next call to that peer, in whichever turn it is sent, then belongs to the first owner in line. Callers report the
// owner of each turn, and what is sent and answered in it, from the first turn to the last, once for each pass.
type Places[O, C ~int32] struct {
	Standing Line[O]              // owners whose turn ended with no call under way and no timer set that is still to fire
	Most     map[string]int       // by kind: the most calls that one owner had under way at once
	Since    map[C]recording.Time // of calls assigned to an owner that stood in line: since when it waited

	pass    Pass
	asked   points
	peers   map[string]*peer[O]
	busy    []*peer[O] // peers that calls were sent to, or that answered, since Sleeps
	owners  map[O]*placed
	calls   map[C]placedCall[O] // under way
	full    int                 // the number of peers that have as many calls under way as they ever have
	crowded int                 // full at the beginning of the running turn
	turn    placesTurn
}

// Pass is what is learned or decided in one pass over what happened.
type Pass int8

const (
	Count     Pass = iota // only count the concurrent calls per peer
	LearnRoom             // learn what owners ask for, from turns in which there was room
	// like LearnRoom, but also from turns in which no other owner was there to take the room: a pool of one is always
	// full
	LearnAlone
	GiveFirst // assign calls to the first owner in line
)

// peer is how many calls to one peer are under way.
type peer[O comparable] struct {
	line Line[O] // owners that wait for it
	now  int
	peak int // the most since Sleeps
	most int // the most ever
	busy bool
}

// placed is an owner that is not over yet.
type placed struct {
	point
	under  int // calls under way
	queued int // calls that wait for a place
}

// placedCall is a call that is under way or was granted.
type placedCall[O comparable] struct {
	of    O
	depth int16 // of the turn in which the call was asked for
}

// placesTurn is the running turn.
type placesTurn struct {
	since recording.Time
	fires recording.Time // when the first timer set in it fires
	sent  map[string]int // by peer: calls that the turn's owner sent
	mixed bool           // another owner may go on in it too
}

// NewPlaces returns empty places.
func NewPlaces[O, C ~int32]() *Places[O, C] {
	return &Places[O, C]{asked: points{}, peers: map[string]*peer[O]{}}
}

// Begin begins a pass. It drops everything but the limits of the peers and what was learned.
func (p *Places[O, C]) Begin(pass Pass) {
	if p.pass = pass; p.learns() {
		p.asked = points{}
	}
	for _, to := range p.peers {
		to.now, to.peak, to.line = 0, 0, Line[O]{}
	}
	p.Standing, p.Most, p.Since = Line[O]{}, map[string]int{}, map[C]recording.Time{}
	p.owners, p.calls = map[O]*placed{}, map[C]placedCall[O]{}
	p.full, p.crowded, p.turn = 0, 0, placesTurn{sent: map[string]int{}}
}

func (p *Places[O, C]) learns() bool { return p.pass == LearnRoom || p.pass == LearnAlone }

// Open is how many owners are not over yet.
func (p *Places[O, C]) Open() int { return len(p.owners) }

// at is the point that an owner has come to; nil if the owner is not known, or over.
func (p *Places[O, C]) at(o O) *point {
	if r := p.owners[o]; r != nil {
		return &r.point
	}
	return nil
}

// Come notes an owner of a kind, which may be new, and that it goes on.
func (p *Places[O, C]) Come(o O, kind string) {
	if p.owners[o] == nil {
		p.owners[o] = &placed{point: newPoint(kind)}
	}
	p.Wake(o)
}

// Wake notes that something other than an answer lets an owner go on.
func (p *Places[O, C]) Wake(o O) {
	if r := p.owners[o]; r != nil {
		r.turn = min(r.turn+1, farthest)
		r.begins(r.under + r.queued)
	}
}

// Answer notes that a call was answered: its owner goes on.
func (p *Places[O, C]) Answer(call C, to string) {
	c, sent := p.calls[call]
	if !sent {
		return
	}
	delete(p.calls, call)
	at := p.peer(to)
	if at.now == at.most {
		p.full--
	}
	at.now--
	if r := p.owners[c.of]; r != nil {
		r.under--
		r.answered, r.turn, r.depth = min(r.answered+1, farthest), 0, c.depth
		r.begins(r.under + r.queued)
	}
}

// Over notes that an owner has ended: it waits for nothing.
func (p *Places[O, C]) Over(o O) {
	p.Standing.Leave(o)
	if r := p.owners[o]; r != nil && r.queued > 0 {
		for _, to := range p.peers {
			to.line.Leave(o)
		}
	}
	delete(p.owners, o)
}

// Sleeps notes that the loop sleeps: nothing more is done for now.
func (p *Places[O, C]) Sleeps() {
	for _, to := range p.busy {
		to.peak, to.busy = to.now, false
	}
	p.busy = p.busy[:0]
}

// peer returns the state of a peer and marks it as busy, since a call to it begins or ends.
func (p *Places[O, C]) peer(name string) *peer[O] {
	to := p.peers[name]
	if to == nil {
		to = &peer[O]{}
		p.peers[name] = to
	}
	if !to.busy {
		to.busy, p.busy = true, append(p.busy, to)
	}
	return to
}

// End ends the turn of an owner; Nobody if the turn's owner is not known. If the owner may go on in the next turn
// together with another (together), nothing is learned from it.
func (p *Places[O, C]) End(o O, together bool) {
	r, mixed := p.owners[o], together || p.turn.mixed
	switch {
	case r == nil, p.learns() && mixed:
	case p.learns() && p.room():
		p.asked.learn(&r.point, p.turn.sent)
	case p.pass == GiveFirst:
		p.queue(o, r)
	}
	p.turn.mixed = together
	clear(p.turn.sent)
}

// room reports whether there was room for all calls of the turn that ends. There was if no peer called since Sleeps
// had as many calls at once as it ever has, or if no other owner can have taken the room.
func (p *Places[O, C]) room() bool {
	if p.pass == LearnAlone && p.Standing.Len() == 0 && p.crowded == 0 {
		return true
	}
	for _, to := range p.busy {
		if to.peak >= to.most {
			return false
		}
	}
	return p.full == 0
}

// queue puts an owner in line for the calls that it asked for in the turn that ends and that were not sent.
func (p *Places[O, C]) queue(o O, r *placed) {
	known := r.known(p.asked)
	if known == nil {
		for _, to := range p.peers {
			to.line.Doubtful = to.line.Doubtful || to.peak >= to.most
		}
		return
	}
	for name := range known.calls {
		n, sure := known.of(name)
		to := p.peers[name]
		if !sure {
			to.line.Doubtful = to.line.Doubtful || to.peak >= to.most
		} else if more := n - p.turn.sent[name]; more > 0 {
			to.line.Join(Waiter[O]{Owner: o, Since: p.turn.since, Grants: more, Depth: int(r.next())})
			r.queued += more
		}
	}
}

// Turn begins the turn of owner to, after that of owner from; Nobody if an owner is not known. fires is when the
// first timer fires that is set in the new turn.
func (p *Places[O, C]) Turn(from, to O, at, fires recording.Time) {
	if r := p.owners[from]; r != nil && from != to && r.under == 0 && p.turn.fires <= at {
		p.Standing.Rejoin(from, at)
	}
	p.Standing.Leave(to)
	p.turn.since, p.turn.fires, p.crowded = at, fires, p.full
}

// First assigns a call sent to a peer to the owner that has waited longest for that peer. decided is false if no
// owner waits. If decided is true and the owner is Nobody, it is not known which owner waits.
func (p *Places[O, C]) First(call C, to string) (o O, decided bool) {
	at := p.peer(to)
	if at.line.Len() == 0 && at.peak < at.most {
		at.line.Doubtful = false
	}
	if p.pass != GiveFirst || at.line.Doubtful {
		return Nobody, p.pass == GiveFirst
	}
	w, ok := at.line.Grant()
	if !ok {
		return Nobody, false
	}
	p.Since[call] = w.Since
	p.granted(call, w)
	return w.Owner, true
}

// granted notes that a call was sent for an owner that waited.
func (p *Places[O, C]) granted(call C, w Waiter[O]) {
	p.calls[call] = placedCall[O]{w.Owner, int16(w.Depth)}
	p.owners[w.Owner].queued--
}

// Send notes a call to a peer, with its owner as far as known (else Nobody), and whether the owner sent it in its own
// turn.
func (p *Places[O, C]) Send(call C, to string, o O, own bool) {
	at, r := p.peer(to), p.owners[o]
	if _, given := p.calls[call]; !given {
		if w, waited := at.line.GrantTo(o); waited {
			p.granted(call, w)
		} else {
			c := placedCall[O]{of: o}
			if r != nil {
				c.depth = r.next()
			}
			if p.calls[call] = c; own {
				p.turn.sent[to]++
			}
		}
	}
	if at.now++; at.now == at.most {
		p.full++
	}
	at.peak, at.most = max(at.peak, at.now), max(at.most, at.now)
	p.Standing.Leave(o)
	if r != nil {
		r.under++
		p.Most[r.kind] = max(p.Most[r.kind], r.under)
	}
}
