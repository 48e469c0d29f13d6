package causality

import "github.com/getdwell/dwell/recording"

// Pool guesses the owners of calls that are sent as other calls make room: such a call belongs to the first owner in
// line. An owner ends in the turn of its own last call, and that confirms what was guessed about it. If it ends in
// another owner's turn, the two were mistaken for each other. Then the other owner is still in line, and the calls
// that are under way in the name of the ended owner belong to the first owner in line. From then on, nothing is
// proven for owners that wait or have calls under way.
type Pool[O, C ~int32] struct {
	Line    Line[O] // doubtful: an owner may have been given the place of another
	Guesses []Guess[O, C]
	Proven  map[O]bool // owners whose end confirms the guesses
	Wrong   int        // ends that contradict the guesses

	atOnce func(O) int          // how many calls an owner makes at once
	flying map[O]int            // calls under way, by owner
	asked  map[O]recording.Time // by owner with calls under way: the beginning of the own turn in which it last sent one
	given  map[C]int            // by call, until another call replaces it on its connection: the index of its guess
	of     map[O][]int          // by owner: the indexes of its guesses
	mended map[O]bool           // owners whose guesses were corrected and may still be wrong
}

// Guess is the likely owner of a call, and since when that owner waited for it. The owner is Nobody if the guess was
// taken back.
type Guess[O, C ~int32] struct {
	Call  C
	Owner O
	Since recording.Time
}

// NewPool returns an empty pool. If an owner has fewer calls under way than it makes at once (atOnce), it is not
// known whether it waits for more.
func NewPool[O, C ~int32](atOnce func(O) int) *Pool[O, C] {
	return &Pool[O, C]{
		Proven: map[O]bool{}, atOnce: atOnce, flying: map[O]int{}, asked: map[O]recording.Time{},
		given: map[C]int{}, of: map[O][]int{}, mended: map[O]bool{},
	}
}

// Confirmed reports whether the ends of owners confirm the guesses: at least 9 for each one that contradicts them.
func (p *Pool[O, C]) Confirmed() bool { return len(p.Proven) > 0 && len(p.Proven) >= 9*p.Wrong }

// Place is the index of the guess about a call; false if there is none, or if another call replaced it on its
// connection.
func (p *Pool[O, C]) Place(c C) (int, bool) {
	k, ok := p.given[c]
	return k, ok
}

// Idle reports that an owner has no call under way.
func (p *Pool[O, C]) Idle(o O) bool { return p.flying[o] == 0 }

// Guess records that a call likely belongs to an owner.
func (p *Pool[O, C]) Guess(g Guess[O, C]) {
	p.given[g.Call] = len(p.Guesses)
	p.of[g.Owner] = append(p.of[g.Owner], len(p.Guesses))
	p.Guesses = append(p.Guesses, g)
}

// Sent notes that an owner has sent a call, and so does not wait. turn is when the owner's own turn began in which it
// sent the call; NoTime if another owner's turn ran.
func (p *Pool[O, C]) Sent(o O, turn recording.Time) {
	p.Line.Leave(o)
	if p.flying[o] > 0 { // the owner's end confirms only the last of its calls
		p.mended[o] = true
	}
	if p.flying[o]++; turn != recording.NoTime {
		p.asked[o] = turn
	}
}

// Answered notes that a call of an owner was answered.
func (p *Pool[O, C]) Answered(o O) {
	if p.flying[o]--; p.flying[o] <= 0 {
		delete(p.flying, o)
	}
}

// Replaced drops a call because another call was sent on its connection.
func (p *Pool[O, C]) Replaced(c C) { delete(p.given, c) }

// Grant returns the owner that has waited longest, and since when, for a call that is sent in a turn of owner turn
// which began at at. If no owner waits, that is the turn's owner. It is Nobody if an owner with other calls under way
// may have sent the call: from then on it is not known which owners wait, until none does.
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

// Over checks the guesses about owner o against its end in a turn of owner turn, which began at at. If the turn's
// owner is Nobody, the guesses about o are dropped and nothing is learned.
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

// contradict corrects the guesses after an owner ended in another owner's turn.
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

// mendAll notes that guesses about two owners were wrong. The guesses about all owners that are in line, or have
// calls under way, may then be wrong too.
func (p *Pool[O, C]) mendAll(a, b O) {
	p.mended[a], p.mended[b] = true, true
	p.Line.Each(func(w Waiter[O]) { p.mended[w.Owner] = true })
	for _, k := range p.given {
		if o := p.Guesses[k].Owner; o != Nobody {
			p.mended[o] = true
		}
	}
}

// void takes back the guesses about an owner.
func (p *Pool[O, C]) void(o O) {
	for _, k := range p.of[o] {
		p.Guesses[k].Owner = Nobody
	}
	delete(p.of, o)
	delete(p.flying, o)
}
