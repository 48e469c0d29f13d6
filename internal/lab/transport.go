package lab

import (
	"math/rand/v2"

	"github.com/getdwell/dwell/recording"
)

// What keeps the end of a request in its socket, by the numbers of recording.Late; or it is lost
// on the way, and sent again.
const (
	unacknowledged int64 = iota
	noRoom
	lost
)

// Late is a call whose request reaches the peer only after a time, for such a reason.
func Late(s Step, d Time, why int64) Step {
	s.late, s.why = d, why
	return s
}

// Cached asks a second peer, on a connection that is kept.
func Cached(d Time, route string) Step { return Step{do: call, took: d, route: route, cached: true} }

// InTurn is a call to an instance of the second peer that does one thing at a time.
func InTurn(s Step, instance int) Step {
	s.inTurn = instance
	return s
}

// Instances of the second peer that do one thing at a time.
const (
	first = 1 + iota
	another
)

// remote is how long a call that was sent now waits for its answer.
func (p *play) remote(s *Step) Time {
	if s.inTurn == 0 {
		return s.late + s.took
	}
	done := &p.done[s.inTurn]
	*done = max(*done, p.now) + s.took
	return *done - p.now
}

// cache is the second peer.
func cache() host { return host{"cache.test", "10.0.0.3"} }

// leftLate tells when the request of a call that is answered had left, if that was late.
func (f *facts) leftLate(at Time, t *thread, c *connection, s *Step) {
	switch left := t.woken - s.took; {
	case s.late == 0:
	case s.why == lost:
		f.add(left, &recording.Retransmit{Conn: c.id})
	default:
		f.add(at, &recording.Late{Conn: c.id, Offset: c.bytes[recording.Write], Left: left, Window: s.why})
	}
}

// transportFaults are those between the socket and the peer, and of a peer that others keep busy.
func transportFaults() []Fault {
	plain := func([]Step) []Step { return []Step{Call(500*Microsecond, "/rates")} }
	kept := func(name string, why int64) Fault {
		return added(name, one(func(x Time) []Step { return []Step{Late(Call(500*Microsecond, "/rates"), x, why)} }), plain)
	}
	return []Fault{
		kept("delayed-ack", unacknowledged),
		kept("send-window", noRoom),
		added("retransmit", func(x Time, draw *rand.Rand) []Step {
			if draw.IntN(5) > 0 {
				return plain(nil)
			}
			return []Step{Late(plain(nil)[0], 5*x, lost)}
		}, plain),
		{Name: "head-of-line", Runtime: recording.RuntimeJVM, Lines: true, With: func(x Time, mended bool) func([]Step, *rand.Rand) []Step {
			return func(own []Step, draw *rand.Rand) []Step {
				s := InTurn(Cached(30*Microsecond, "/values"), first)
				if draw.IntN(8) == 0 {
					if s = InTurn(Cached(x, "/keys"), first); mended { // another instance is asked for it
						s.inTurn = another
					}
				}
				return within(own, []Step{s})
			}
		}},
	}
}
