package causality

// Joined finds the owners that go on in the turn in which a call of one of them is answered, if several may wait for
// the same call. A cache, for instance, lets the first owner that misses fetch what all of them want. When that call
// is answered, all of them go on: first the owner that made it, then the others in the order in which they came.
//
// How many calls each owner sends at that point is learned from turns in which no other owner stands in line, or from
// turns in which the number of calls is a multiple of the number of owners. If a later turn sends exactly so many
// calls per owner, the calls are assigned in that order. Callers must say beforehand how many calls a turn will send.
type Joined[O, C ~int32] struct {
	places *Places[O, C]
	learns bool
	tells  bool
	alone  points // calls sent in the turn of an answer while no other owner stands
	beside points // calls per owner sent while others stand

	who    []O  // owners that go on in the running turn; empty: only the owner of the turn
	each   int  // calls that each of them sends
	n      int  // calls that were sent so far
	unsure bool // the owners of this turn's calls are not known
}

// NewJoined returns an empty Joined for owners whose places are followed.
func NewJoined[O, C ~int32](places *Places[O, C]) *Joined[O, C] {
	return &Joined[O, C]{places: places, alone: points{}, beside: points{}}
}

// Begin begins a pass in which the numbers are learned, or used.
func (s *Joined[O, C]) Begin(learns, tells bool) {
	s.learns, s.tells = learns, tells
	if learns {
		s.alone, s.beside = points{}, points{}
	}
	s.End()
}

// End ends a turn.
func (s *Joined[O, C]) End() { s.who, s.each, s.n, s.unsure = s.who[:0], 0, 0, false }

// Stands reports that an owner may have waited for another owner's call.
func (s *Joined[O, C]) Stands(o O) bool {
	_, stands := s.places.Standing.Waits(o)
	return s.tells && stands
}

// anyPeer is the key for the calls to all peers together.
const anyPeer = ""

// mostStanding is the number of standing owners above which nothing is learned. Turns with few of them are enough,
// and visiting all of them each time would take longer the more owners are served.
const mostStanding = 64

// Answer begins the turn of an answer to a call of o (Nobody if the call's owner is not known), in which so many
// calls will be sent.
func (s *Joined[O, C]) Answer(o O, sends int) {
	at := s.places.at(o)
	switch {
	case s.learns && at != nil:
		s.learn(at, sends)
	case s.tells && sends > 0 && s.places.Standing.Len() > 0:
		s.unsure = !s.join(o, at, sends)
	}
}

// learn records the number of calls of a turn.
func (s *Joined[O, C]) learn(at *point, sends int) {
	if s.places.Standing.Len() > mostStanding {
		return
	}
	if s.places.Standing.Len() == 0 {
		s.alone.learn(at, map[string]int{anyPeer: sends})
	} else if all := 1 + len(s.standing(at.kind)); all > 1 && sends%all == 0 {
		s.beside.learn(at, map[string]int{anyPeer: sends / all})
	} else if all > 1 {
		s.beside.learn(at, map[string]int{anyPeer: mostAtPoint}) // not evenly divisible: recorded as a number that cannot be used
	}
}

// join decides which owners send the calls of the turn that begins; not ok if that is not known.
func (s *Joined[O, C]) join(o O, at *point, sends int) (ok bool) {
	if at == nil {
		return false
	}
	known := at.known(s.alone, s.beside)
	if known == nil {
		return false
	}
	others := s.standing(at.kind)
	each, sure := known.of(anyPeer)
	if !sure || each == mostAtPoint || sends != each && sends != each*(1+len(others)) {
		return false
	}
	if sends != each {
		s.who, s.each = append(append(s.who, o), others...), each
		for _, other := range others {
			s.places.Wake(other)
		}
	}
	return true
}

// standing lists the owners of a kind that stand in line, the first first.
func (s *Joined[O, C]) standing(kind string) (list []O) {
	s.places.Standing.Each(func(w Waiter[O]) {
		if at := s.places.at(w.Owner); at != nil && at.kind == kind {
			list = append(list, w.Owner)
		}
	})
	return list
}

// Next returns the owner of the next call in the turn. decided is false if the call belongs to the owner of the turn.
// If decided is true and the owner is Nobody, the call's owner is not known.
func (s *Joined[O, C]) Next() (o O, decided bool) {
	switch {
	case s.unsure:
		return Nobody, true
	case s.n < s.each*len(s.who):
		s.n++
		return s.who[(s.n-1)/s.each], true
	}
	return Nobody, false
}
