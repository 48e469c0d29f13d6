package causality

// Joined tells who goes on in the turn in which a call of one is answered, where several may wait for the same: a
// cache lets the first who misses fetch what all want. When that is answered, all of them go on, who asked for it
// first and the others in the order in which they came. How many calls one sends there is known from turns in which nobody
// else stood, or from all where each time so many were sent for each who did. If as many are sent as are
// so many for each, those are whose they are. Callers say beforehand how many will be sent.
type Joined[O, C ~int32] struct {
	places *Places[O, C]
	learns bool
	tells  bool
	alone  points // how many calls are sent in the turn of an answer, where nobody stands
	beside points // and for each, where others do

	who    []O  // who goes on in the turn that runs; none: only whose turn it is
	each   int  // how many calls each of them sends
	n      int  // how many they did
	unsure bool // whose calls are is not known there
}

// NewJoined returns it of owners whose places are followed; nothing is known of them.
func NewJoined[O, C ~int32](places *Places[O, C]) *Joined[O, C] {
	return &Joined[O, C]{places: places, alone: points{}, beside: points{}}
}

// Begin begins a pass in which that is learned, or told.
func (s *Joined[O, C]) Begin(learns, tells bool) {
	s.learns, s.tells = learns, tells
	if learns {
		s.alone, s.beside = points{}, points{}
	}
	s.End()
}

// End ends a turn.
func (s *Joined[O, C]) End() { s.who, s.each, s.n, s.unsure = s.who[:0], 0, 0, false }

// Stands reports that an owner may have waited for another's call.
func (s *Joined[O, C]) Stands(o O) bool {
	_, stands := s.places.Standing.Waits(o)
	return s.tells && stands
}

// anyPeer stands for the calls to all peers together.
const anyPeer = ""

// mostStanding is among how many who stand nothing is learned: turns with few tell it, and to look at
// all each time would take longer the more owners are served.
const mostStanding = 64

// Answer begins the turn of an answer to an owner's call, Nobody if it is not known whose that was, in which so many calls
// will be sent.
func (s *Joined[O, C]) Answer(o O, sends int) {
	at := s.places.at(o)
	switch {
	case s.learns && at != nil:
		s.learn(at, sends)
	case s.tells && sends > 0 && s.places.Standing.Len() > 0:
		s.unsure = !s.join(o, at, sends)
	}
}

// learn counts the calls of a turn.
func (s *Joined[O, C]) learn(at *point, sends int) {
	if s.places.Standing.Len() > mostStanding {
		return
	}
	if s.places.Standing.Len() == 0 {
		s.alone.learn(at, map[string]int{anyPeer: sends})
	} else if all := 1 + len(s.standing(at.kind)); all > 1 && sends%all == 0 {
		s.beside.learn(at, map[string]int{anyPeer: sends / all})
	} else if all > 1 {
		s.beside.learn(at, map[string]int{anyPeer: mostAtPoint}) // as of nobody
	}
}

// join tells who sends so many calls in the turn that begins; not ok if that is not known.
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

// standing lists who of a kind stands, the first first.
func (s *Joined[O, C]) standing(kind string) (list []O) {
	s.places.Standing.Each(func(w Waiter[O]) {
		if at := s.places.at(w.Owner); at != nil && at.kind == kind {
			list = append(list, w.Owner)
		}
	})
	return list
}

// Next is whose the next call is that is sent in the turn; not decided where it is of whose turn that
// is, Nobody where that is not known.
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
