package loopcalls

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// Several requests may wait for one call: a cache lets the first who misses fetch what all want. When
// that is answered, all of them go on in its turn, who asked for it first and the others in the
// order in which they came. How many calls one sends there is known from turns in which nobody else
// stood, or from all where each time so many were sent for each who did. If as many were sent as are
// so many for each, those are whose they are.

// sharers follows who goes on in the turn of somebody else's call.
type sharers struct {
	t      *timeline.Timeline
	places *causality.Places[timeline.RequestID, timeline.CallID]
	ahead  []int32 // by move that begins a turn: calls that are sent in it
	learns bool
	plays  bool
	alone  causality.Points // how many calls are sent in the turn of an answer, where nobody stands
	joined causality.Points // and for each, where others do

	who    []timeline.RequestID // who goes on in the turn that runs; none: only whose turn it is
	each   int                  // how many calls each of them sends
	n      int                  // how many they did
	stood  bool                 // who was answered just now had stood: in another's turn
	unsure bool                 // whose calls are is not known there
}

func newSharers(places *causality.Places[timeline.RequestID, timeline.CallID], t *timeline.Timeline, moves []loops.Move, shared map[int32]bool) *sharers {
	s := &sharers{t: t, places: places, ahead: make([]int32, len(moves)), alone: causality.Points{}, joined: causality.Points{}}
	n := int32(0)
	for i := len(moves) - 1; i >= 0; i-- {
		switch m := &moves[i]; {
		case !m.Callback():
			s.ahead[i], n = n, 0
		case sendsFirst(t, m) && !shared[m.Conn]:
			n++
		}
	}
	return s
}

// sendsFirst reports a move that sends the first bytes of a call, or begins to connect for it.
func sendsFirst(t *timeline.Timeline, m *loops.Move) bool {
	if m.Call == timeline.None || m.Kind == loops.MoveConnect {
		return m.Call != timeline.None
	}
	c := &t.Calls[m.Call]
	return m.Kind == loops.MoveSend && c.SendFrom == m.At && !(c.New && c.ConnectFrom != recording.NoTime)
}

func (s *sharers) begin(learns, plays bool) {
	s.learns, s.plays = learns, plays
	if learns {
		s.alone, s.joined = causality.Points{}, causality.Points{}
	}
	s.ends()
}

// ends ends a turn.
func (s *sharers) ends() { s.who, s.each, s.n, s.unsure = s.who[:0], 0, 0, false }

// answers begins the turn of an answer to a request's call with the i-th move; None if it is not
// known whose that was.
func (s *sharers) answers(r timeline.RequestID, i int) {
	n := int(s.ahead[i])
	c := s.places.At(r)
	switch {
	case s.learns && c != nil:
		s.learn(c, n)
	case s.plays && n > 0 && s.places.Standing.Len() > 0:
		s.shares(r, c, n)
	}
}

// anyPeer stands for the calls to all peers together.
const anyPeer = ""

// mostStanding is among how many who stand nothing is learned: turns with few tell it, and to look at
// all each time would take longer the more requests are served.
const mostStanding = 64

// learn counts the calls of a turn.
func (s *sharers) learn(c *causality.Point, n int) {
	if s.places.Standing.Len() > mostStanding {
		return
	}
	if s.places.Standing.Len() == 0 {
		s.alone.Learn(c, map[string]int{anyPeer: n})
	} else if all := 1 + len(s.standing(c.Kind)); all > 1 && n%all == 0 {
		s.joined.Learn(c, map[string]int{anyPeer: n / all})
	} else if all > 1 {
		s.joined.Learn(c, map[string]int{anyPeer: causality.MostAtPoint}) // as of nobody
	}
}

// responds notes that a request is answered.
func (s *sharers) responds(r timeline.RequestID) {
	_, stood := s.places.Standing.Waits(r)
	s.stood = s.plays && stood
}

// shares tells who sends so many calls in the turn that begins.
func (s *sharers) shares(r timeline.RequestID, c *causality.Point, n int) {
	if c == nil {
		s.unsure = true
		return
	}
	others := s.standing(c.Kind)
	known := c.Known(s.alone, s.joined)
	if known == nil {
		s.unsure = true
		return
	}
	each, sure := known.Of(anyPeer)
	switch {
	case !sure || each == causality.MostAtPoint, n != each && n != each*(1+len(others)):
		s.unsure = true
	case n != each:
		s.who, s.each = append(append(s.who, r), others...), each
		for _, o := range others {
			s.places.Wake(o)
		}
	}
}

// standing lists who of an endpoint stands, the first first.
func (s *sharers) standing(endpoint string) (list []timeline.RequestID) {
	s.places.Standing.Each(func(w causality.Waiter[timeline.RequestID]) {
		if s.t.Requests[w.Owner].Endpoint == endpoint {
			list = append(list, w.Owner)
		}
	})
	return list
}

// next is whose the next call is that is sent in the turn; not told where it is of whose turn that
// is, None where that is not known.
func (s *sharers) next() (r timeline.RequestID, told bool) {
	switch {
	case !s.plays:
		return timeline.None, false
	case s.unsure:
		return timeline.None, true
	case s.n < s.each*len(s.who):
		s.n++
		return s.who[(s.n-1)/s.each], true
	}
	return timeline.None, false
}
