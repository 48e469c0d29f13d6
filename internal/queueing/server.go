// Package queueing is a model of servers with queues: things that serve so many at a
// time, each in turn, while others wait. Who comes, when, and for how much work is taken
// from a recording; the model says how busy the server is, and plays the same arrivals
// again with less work, more servers or more load. It knows no lock and no runtime, and
// reckons in integers: the same input has the same result everywhere.
package queueing

import (
	"slices"

	"github.com/getdwell/dwell/recording"
)

// Time and Duration are those of the recording, in nanoseconds.
type (
	Time     = recording.Time
	Duration = recording.Duration
)

// Ratio is a number in thousandths.
type Ratio int64

// One is a Ratio of one.
const One Ratio = 1000

// Of returns so much of d, rounded down.
func (r Ratio) Of(d Duration) Duration {
	return d/Duration(One)*Duration(r) + d%Duration(One)*Duration(r)/Duration(One)
}

// RatioOf returns part/whole, rounded down; 0 where whole is not positive.
func RatioOf(part, whole Duration) Ratio {
	if whole <= 0 {
		return 0
	}
	if whole > 1<<50 { // part*One could overflow
		return Ratio(part / (whole / Duration(One)))
	}
	return Ratio(part * Duration(One) / whole)
}

// Visit is one turn that a customer asks of a server.
type Visit struct {
	After   Duration // what it does elsewhere first: since it came, or since its visit before
	Waited  Duration // for its turn, as recorded
	Service Duration // how long the server was busy with it
}

// Customer is one that is served: a request, or work beside the requests.
type Customer struct {
	Comes  Time
	Took   Duration // its latency, as recorded
	Visits []Visit
	Beside bool // it is nobody's request: it takes its turns, and its latency counts for nothing
}

// Server serves so many at a time, in order of coming.
type Server struct {
	Servers   int
	Slice     Duration // after which it turns to the next one who waits; 0: everybody is served to the end
	Customers []Customer
}

// Measures is what a server is like, as recorded.
type Measures struct {
	Utilisation Ratio    // how much of the time it is busy
	Queue       Ratio    // how many wait on average (Little's law)
	Burstiness  Ratio    // of arrivals: 1 as if by chance, 0 evenly spaced, more in bursts
	Service     Duration // mean, of a visit
	Wait        Duration // mean, of a visit
	Visits      int
}

// Measures returns them, for visits that the recording shows in a span of time.
func (s *Server) Measures(span Duration) Measures {
	var m Measures
	var service, waited Duration
	var came []Time
	for i := range s.Customers {
		at := s.Customers[i].Comes
		for _, v := range s.Customers[i].Visits {
			at += Time(v.After)
			came = append(came, at)
			at += Time(v.Waited + v.Service)
			service, waited = service+v.Service, waited+v.Waited
		}
	}
	m.Visits = len(came)
	m.Utilisation = RatioOf(service/Duration(max(1, s.Servers)), span)
	m.Queue = RatioOf(waited, span)
	if m.Visits > 0 {
		m.Service, m.Wait = service/Duration(m.Visits), waited/Duration(m.Visits)
	}
	m.Burstiness = dispersion(came)
	return m
}

// perWindow is how many arrivals a window has on average in which they are counted.
const perWindow = 10

// dispersion is the index of dispersion of counts: the variance of the number of arrivals
// in a window over its mean. It is one for arrivals by chance (Poisson).
func dispersion(came []Time) Ratio {
	if len(came) < 2*perWindow {
		return One
	}
	slices.Sort(came)
	windows := len(came) / perWindow
	span := came[len(came)-1].Sub(came[0]) + 1
	counts := make([]int64, windows)
	for _, at := range came {
		counts[int64(at.Sub(came[0])/max(1, span/Duration(windows)+1))%int64(windows)]++
	}
	var sum, squares int64
	for _, n := range counts {
		sum, squares = sum+n, squares+n*n
	}
	// variance/mean = (E[n²] - E[n]²)/E[n]
	n := int64(windows)
	return Ratio((squares*n - sum*sum) * int64(One) / max(1, sum*n))
}
