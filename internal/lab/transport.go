package lab

import (
	"math/rand/v2"

	"github.com/getdwell/dwell/recording"
)

// What holds the end of a request back in its socket, by the numbers of recording.Late; or the request is lost on the
// way, and sent again.
const (
	unacknowledged int64 = iota
	noRoom
	lost
)

// Late is a call whose request reaches the peer only after a delay, for a given reason.
func Late(s Step, d Time, why int64) Step {
	s.late, s.why = d, why
	return s
}

// Cached calls a second peer, on a connection that is kept.
func Cached(d Time, route string) Step { return Step{do: call, took: d, route: route, cached: true} }

// InTurn makes a call go to an instance of the second peer that does one thing at a time.
func InTurn(s Step, instance int) Step {
	s.inTurn = instance
	return s
}

// Instances of the second peer that do one thing at a time.
const (
	first = 1 + iota
	another
)

// remote returns how long a call that is sent now waits for its answer.
func (p *play) remote(s *Step) Time {
	if s.inTurn == 0 {
		return s.late + s.took
	}
	done := &p.done[s.inTurn]
	*done = max(*done, p.now) + s.took
	return *done - p.now
}

// cache returns the second peer.
func cache() host { return host{"cache.test", "10.0.0.3"} }

// leftLate records when the request of an answered call left, if that was late.
func (f *facts) leftLate(at Time, t *thread, c *connection, s *Step) {
	switch left := t.woken - s.took; {
	case s.late == 0:
	case s.why == lost:
		f.add(left, &recording.Retransmit{Conn: c.id})
	default:
		f.add(at, &recording.Late{Conn: c.id, Offset: c.bytes[recording.Write], Left: left, Window: s.why})
	}
}

// transportFaults returns the faults between the socket and the peer, and that of a peer that others keep busy.
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
					if s = InTurn(Cached(x, "/keys"), first); mended { // another instance is asked instead
						s.inTurn = another
					}
				}
				return within(own, []Step{s})
			}
		}},
	}
}
