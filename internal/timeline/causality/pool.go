package causality

import "github.com/getdwell/dwell/recording"

// Pool guesses whose the calls are that are sent as others make room for them: of who stands first in line. An owner
// is over in the turn of its own last call. That confirms what was guessed of it. If it is over in another's turn, the
// two were taken for each other: the other stands in line still, and the calls that are under way in the name of the
// one that is over are of who stands first. From then on nothing is proven of any that wait, or have calls under way.
type Pool[O, C ~int32] struct {
	Line    Line[O] // doubtful: somebody may have been given the place of another
	Guesses []Guess[O, C]
	Proven  map[O]bool // owners whose end confirms the guesses
	Wrong   int        // ends that contradict them

	atOnce func(O) int          // how many calls an owner makes at once
	flying map[O]int            // calls under way
	asked  map[O]recording.Time // when those last did who have some: the turn
	given  map[C]int            // calls of which something was guessed, until another is sent in their stead: places in Guesses
	of     map[O][]int          // the same by owner
	mended map[O]bool           // whose guesses were, and may be wrong still
}

// Guess is whose a call seems to be, and since when that one waited for it; Nobody's if that was taken back.
type Guess[O, C ~int32] struct {
	Call  C
	Owner O
	Since recording.Time
}

// NewPool returns a pool for which nobody waits. Of owners that have fewer calls under way than they make at once
// it is not known whether they wait for more.
func NewPool[O, C ~int32](atOnce func(O) int) *Pool[O, C] {
	return &Pool[O, C]{
		Proven: map[O]bool{}, atOnce: atOnce, flying: map[O]int{}, asked: map[O]recording.Time{},
		given: map[C]int{}, of: map[O][]int{}, mended: map[O]bool{},
	}
}

// Confirmed reports whether the ends of owners confirm the guesses.
func (p *Pool[O, C]) Confirmed() bool { return len(p.Proven) > 0 && len(p.Proven) >= 9*p.Wrong }

// Place is which of the guesses is about a call; false if none is, or another was sent in its stead.
func (p *Pool[O, C]) Place(c C) (int, bool) {
	k, ok := p.given[c]
	return k, ok
}

// Idle reports that an owner has no call under way.
func (p *Pool[O, C]) Idle(o O) bool { return p.flying[o] == 0 }

// Guess takes a call for an owner's.
func (p *Pool[O, C]) Guess(g Guess[O, C]) {
	p.given[g.Call] = len(p.Guesses)
	p.of[g.Owner] = append(p.of[g.Owner], len(p.Guesses))
	p.Guesses = append(p.Guesses, g)
}

// Sent notes that an owner has sent a call, and so does not wait; in its own turn, which began at a time, or NoTime.
func (p *Pool[O, C]) Sent(o O, turn recording.Time) {
	p.Line.Leave(o)
	if p.flying[o] > 0 { // its end confirms the last of them alone
		p.mended[o] = true
	}
	if p.flying[o]++; turn != recording.NoTime {
		p.asked[o] = turn
	}
}

// Answered notes that a call of an owner was.
func (p *Pool[O, C]) Answered(o O) {
	if p.flying[o]--; p.flying[o] <= 0 {
		delete(p.flying, o)
	}
}

// Replaced forgets a call in whose stead another was sent.
func (p *Pool[O, C]) Replaced(c C) { delete(p.given, c) }

// Grant is who has waited longest, and since when, for what is sent in the turn of an owner that began at a time: that
// owner, if nobody waits. It is Nobody if it may be one whose other calls are under way: from then on it is not
// known who waits, until nobody does.
func (p *Pool[O, C]) Grant(turn O, at recording.Time) (O, recording.Time) {
	head, ok := p.Line.Head()
	p.Line.Doubtful = p.Line.Doubtful && ok
	for o, n := range p.flying {
		if o != Nobody && n > 0 && n < p.atOnce(o) && (ok && p.asked[o] < head.Since || !ok && o != turn) {
			p.Line.Doubtful = true
			break
		}
	}
	switch {
	case p.Line.Doubtful:
		return Nobody, at
	case ok:
		p.Line.Grant()
		return head.Owner, head.Since
	}
	return turn, at
}

// Over holds what was guessed of an owner against that it is over in the turn of another, which began at a time. Of
// the turn of Nobody nothing is learned.
func (p *Pool[O, C]) Over(o, turn O, at recording.Time) {
	switch {
	case turn == Nobody:
		p.void(o)
	case turn == o && len(p.of[o]) > 0:
		if !p.mended[o] {
			p.Proven[o] = true
		}
	case turn != o && len(p.of[o])+len(p.of[turn]) > 0:
		p.contradict(o, turn, at)
	}
	p.Line.Leave(o)
}

// contradict mends the guesses where an owner is over in the turn of another.
func (p *Pool[O, C]) contradict(o, turn O, since recording.Time) {
	p.mendAll(turn, o)
	if list := p.of[turn]; len(list) > 0 {
		since = p.Guesses[list[0]].Since
	}
	p.void(turn)
	p.Wrong++
	p.Line.Rejoin(turn, since)
	p.Line.Leave(o)
	moved, under := p.of[o], p.flying[o]
	p.of[o], p.flying[o] = nil, 0
	if len(moved) == 0 {
		return
	}
	head, ok := p.Line.Grant()
	if !ok {
		head.Owner = Nobody
	}
	for _, k := range moved {
		p.Guesses[k].Owner = head.Owner
	}
	if ok {
		p.Guesses[moved[0]].Since = head.Since
		p.of[head.Owner], p.flying[head.Owner] = moved, under
	}
}

// mendAll notes that guesses of two owners were found wrong: those of all that stand in line or have calls under
// way may be.
func (p *Pool[O, C]) mendAll(a, b O) {
	p.mended[a], p.mended[b] = true, true
	p.Line.Each(func(w Waiter[O]) { p.mended[w.Owner] = true })
	for _, k := range p.given {
		if o := p.Guesses[k].Owner; o != Nobody {
			p.mended[o] = true
		}
	}
}

// void takes back the guesses of an owner.
func (p *Pool[O, C]) void(o O) {
	for _, k := range p.of[o] {
		p.Guesses[k].Owner = Nobody
	}
	delete(p.of, o)
	delete(p.flying, o)
}
