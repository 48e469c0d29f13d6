package causality

import "github.com/getdwell/dwell/recording"

// Places follows who waits for a place at peers, to each of which only so many calls run at once: as
// many as ever were seen to. How many calls an owner asks for in a turn is learned from turns in which there
// was room. Where it sends less than that, it stands in line with the rest, and what is sent to that peer
// next, in whoever's turn, is of who stands first. Callers say whose turns are, and what is sent and
// answered in them, from the first to the last, once for each pass.
type Places[O, C ~int32] struct {
	Standing Line[O]              // whose turn ended with no call under way, and no timer set in it
	Most     map[string]int       // by kind: the most calls that one owner had under way at once
	Since    map[C]recording.Time // of calls that were given to who stood in line: since when that did

	pass    Pass
	asked   points
	peers   map[string]*peer[O]
	busy    []*peer[O] // to which calls were sent, or which answered, since Sleeps
	owners  map[O]*placed
	calls   map[C]placedCall[O] // under way
	full    int                 // to how many peers as many calls are under way as ever are
	crowded int                 // the same as the turn that runs began
	turn    placesTurn
}

// Pass is what is made of what happens, in one pass over it.
type Pass int8

const (
	Count      Pass = iota // nothing but how many calls there are at once
	LearnRoom              // what owners ask for, where there was room
	LearnAlone             // the same, too, where nobody else was there to take it: a pool of one is always full
	GiveFirst              // who stands first is told by that
)

// peer is how many calls to one are under way.
type peer[O comparable] struct {
	line Line[O] // who waits for it
	now  int
	peak int // the most since Sleeps
	most int // ever
	busy bool
}

// placed is an owner that is not over.
type placed struct {
	point
	under  int // calls under way
	queued int // that wait for a place
}

type placedCall[O comparable] struct {
	of    O
	depth int16 // of the turn in which it was asked for
}

// placesTurn is the turn that runs.
type placesTurn struct {
	since recording.Time
	fires recording.Time // when the first timer does that is set in it
	sent  map[string]int // by peer: calls that its owner sent
	mixed bool           // another may go on in it, too
}

// NewPlaces returns places of which nothing is known.
func NewPlaces[O, C ~int32]() *Places[O, C] {
	return &Places[O, C]{asked: points{}, peers: map[string]*peer[O]{}}
}

// Begin begins a pass: it forgets all but how many calls ran at once, and what was learned.
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

// Open is how many owners are not over.
func (p *Places[O, C]) Open() int { return len(p.owners) }

// at is where an owner is; nil if it is not known, or over.
func (p *Places[O, C]) at(o O) *point {
	if r := p.owners[o]; r != nil {
		return &r.point
	}
	return nil
}

// Come notes that there is an owner of a kind, if it is new, and that it goes on.
func (p *Places[O, C]) Come(o O, kind string) {
	if p.owners[o] == nil {
		p.owners[o] = &placed{point: newPoint(kind)}
	}
	p.Wake(o)
}

// Wake notes that something else than an answer lets an owner go on.
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

// Over notes that an owner is: it waits for nothing.
func (p *Places[O, C]) Over(o O) {
	p.Standing.Leave(o)
	if r := p.owners[o]; r != nil && r.queued > 0 {
		for _, to := range p.peers {
			to.line.Leave(o)
		}
	}
	delete(p.owners, o)
}

// Sleeps notes that nothing more is done for now.
func (p *Places[O, C]) Sleeps() {
	for _, to := range p.busy {
		to.peak, to.busy = to.now, false
	}
	p.busy = p.busy[:0]
}

// peer is one, and notes that a call to it begins or ends.
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

// End ends the turn of an owner, Nobody if it is not known whose it is. Nothing is learned from it
// if it may go on in the next, with another.
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

// room reports whether there was room for all calls of the turn that ends: to none of the peers that
// were called since Sleeps as many ran at once as ever do; or nobody else can have taken it.
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

// queue puts an owner in line for what it asked for in the turn that ends, and was not sent.
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

// Turn begins the turn of an owner after that of another, Nobody if it is not known whose one is; fires is when
// the first timer does that is set in it.
func (p *Places[O, C]) Turn(from, to O, at, fires recording.Time) {
	if r := p.owners[from]; r != nil && from != to && r.under == 0 && p.turn.fires <= at {
		p.Standing.Rejoin(from, at)
	}
	p.Standing.Leave(to)
	p.turn.since, p.turn.fires, p.crowded = at, fires, p.full
}

// First gives a call that is sent to a peer to who has waited longest for that. It is not decided by that where
// nobody waits, and Nobody's where it is not known who.
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

// granted notes that a call was sent for who waited.
func (p *Places[O, C]) granted(call C, w Waiter[O]) {
	p.calls[call] = placedCall[O]{w.Owner, int16(w.Depth)}
	p.owners[w.Owner].queued--
}

// Send notes a call to a peer: of an owner as it is known, else Nobody; and whether that sent it in its own
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
