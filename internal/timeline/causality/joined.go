package causality

import (
	"slices"

	"github.com/getdwell/dwell/recording"
)

// Joined tells who goes on in the turn in which a call of one is answered, where several may wait for the same: a
// cache lets the first who misses fetch what all want. When that is answered, all of them go on, who asked for it
// first and the others in the order in which they came. How many calls one sends there is known from turns in which nobody
// else stood, or from all where each time so many were sent for each who did. If as many are sent as are
// so many for each, those are whose they are. Callers say whose turns are, and what is sent and answered in them, from the
// first to the last, once for each pass; and beforehand how many calls will be sent in a turn.
type Joined[O, C ~int32] struct {
	Most map[string]int // by kind: the most calls that one owner had under way at once

	tells    bool
	alone    *Counts[point] // calls that are sent in the turn of an answer, where nobody stands
	beside   *Counts[point] // the same for each, where others do
	owners   map[O]*point   // of those that are not over
	calls    map[C]O        // under way
	standing Line[O]        // whose turn ended with no call under way, and no timer set in it
	fires    recording.Time // when the first timer does that is set in the turn that runs

	who    []O  // who goes on in the turn that runs; none: only whose turn it is
	each   int  // how many calls each of them sends
	n      int  // how many they did
	unsure bool // whose calls are is not known there
}

// point is how far an owner has come in what it does.
type point struct {
	kind     string
	answered int16 // calls of it that were
	turn     int16 // its turn of that number since
	under    int16 // calls under way
}

// farthest is up to where turns and answers are counted: what one owner makes thousands of calls
// for is not kept for each.
const farthest = 200

// NewJoined returns it of owners of whom nothing is known.
func NewJoined[O, C ~int32]() *Joined[O, C] {
	one := func(point) int { return 1 }
	return &Joined[O, C]{alone: NewCounts(one), beside: NewCounts(one)}
}

// Begin begins the pass in which what owners do is learned, or, after it, that in which calls are told.
func (s *Joined[O, C]) Begin(tells bool) {
	if s.tells = tells; tells {
		for _, counts := range []*Counts[point]{s.alone, s.beside} {
			counts.Solve()
			counts.Learning = false
		}
	}
	s.Most, s.owners, s.calls, s.standing = map[string]int{}, map[O]*point{}, map[C]O{}, Line[O]{}
	s.fires = 0
	s.End()
}

// End ends a turn.
func (s *Joined[O, C]) End() { s.who, s.each, s.n, s.unsure = s.who[:0], 0, 0, false }

// Come notes that there is an owner of a kind, if it is new, and that it goes on.
func (s *Joined[O, C]) Come(o O, kind string) {
	if s.owners[o] == nil {
		s.owners[o] = &point{kind: kind, turn: -1}
	}
	s.Wake(o)
}

// Wake notes that something else than an answer lets an owner go on.
func (s *Joined[O, C]) Wake(o O) {
	if r := s.owners[o]; r != nil {
		r.turn = min(r.turn+1, farthest)
	}
}

// Send notes a call of an owner, Nobody if it is not known whose it is.
func (s *Joined[O, C]) Send(call C, o O) {
	if r := s.owners[o]; r != nil {
		r.under++
		s.Most[r.kind] = max(s.Most[r.kind], int(r.under))
	}
	s.calls[call] = o
	s.standing.Leave(o)
}

// Answer notes that a call was answered: its owner goes on.
func (s *Joined[O, C]) Answer(call C) {
	o, sent := s.calls[call]
	delete(s.calls, call)
	if r := s.owners[o]; sent && r != nil {
		r.under--
		r.answered, r.turn = min(r.answered+1, farthest), 0
	}
}

// Over notes that an owner is: it waits for nothing.
func (s *Joined[O, C]) Over(o O) {
	s.standing.Leave(o)
	delete(s.owners, o)
}

// Turn begins the turn of an owner after that of another, Nobody if it is not known whose one is; fires is when
// the first timer does that is set in it.
func (s *Joined[O, C]) Turn(from, to O, at, fires recording.Time) {
	if r := s.owners[from]; r != nil && from != to && r.under == 0 && s.fires <= at {
		s.standing.Join(from, at)
	}
	s.standing.Leave(to)
	s.fires = fires
}

// Stands reports that an owner may have waited for another's call.
func (s *Joined[O, C]) Stands(o O) bool {
	_, stands := s.standing.Waits(o)
	return s.tells && stands
}

// mostStanding is among how many who stand nothing is learned: turns with few tell it, and to look at
// all each time would take longer the more owners are served.
const mostStanding = 64

// Sends notes how many calls will be sent in the turn that an owner's answer began, Nobody if it is not known whose that was.
func (s *Joined[O, C]) Sends(o O, sends int) {
	at := s.owners[o]
	switch {
	case !s.tells && at != nil:
		s.learn(*at, sends)
	case s.tells && sends > 0 && s.standing.Len() > 0:
		s.unsure = at == nil || !s.join(o, *at, sends)
	}
}

// learn counts the calls of a turn.
func (s *Joined[O, C]) learn(at point, sends int) {
	if s.standing.Len() > mostStanding {
		return
	}
	if s.standing.Len() == 0 {
		s.alone.Saw([]point{at}, sends, false)
	} else if all := 1 + len(s.standingOf(at.kind)); all > 1 {
		s.beside.Saw(slices.Repeat([]point{at}, all), sends, false)
	}
}

// join tells who sends so many calls in the turn that begins; not ok if that is not known.
func (s *Joined[O, C]) join(o O, at point, sends int) (ok bool) {
	each, sure := s.alone.At(at)
	if !sure {
		each, sure = s.beside.At(at)
	}
	others := s.standingOf(at.kind)
	if !sure || sends != each && sends != each*(1+len(others)) {
		return false
	}
	if sends != each {
		s.who, s.each = append(append(s.who, o), others...), each
		for _, other := range others {
			s.Wake(other)
		}
	}
	return true
}

// standingOf lists who of a kind stands, the first first.
func (s *Joined[O, C]) standingOf(kind string) (list []O) {
	s.standing.Each(func(w Waiter[O]) {
		if at := s.owners[w.Owner]; at != nil && at.kind == kind {
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
