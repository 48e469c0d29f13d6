// Package queueing is a model of servers with queues: a server serves a number of customers at a time, each in turn,
// while others wait. The customers, their arrival times and their work are taken from a recording. Measures says how
// busy the server is; Play replays the same arrivals with less work, more servers or more load; Fit says whether the
// model reproduces the recording. The package knows no lock and no runtime. It calculates with integers: the same input
// has the same result everywhere.
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

// Of returns this ratio of d, rounded down.
func (r Ratio) Of(d Duration) Duration {
	return d/Duration(One)*Duration(r) + d%Duration(One)*Duration(r)/Duration(One)
}

// RatioOf returns part/whole, rounded down; 0 unless whole is positive.
func RatioOf(part, whole Duration) Ratio {
	if whole <= 0 {
		return 0
	}
	if whole > 1<<50 { // part*One could overflow
		return Ratio(part / (whole / Duration(One)))
	}
	return Ratio(part * Duration(One) / whole)
}

// Visit is one turn that a customer requests from a server.
type Visit struct {
	After   Duration // time spent elsewhere before it: since the customer came, or since its previous visit
	Waited  Duration // for its turn, as recorded
	Service Duration // how long the server was busy with it
}

// Customer is what a server serves: a request, or work beside the requests.
type Customer struct {
	Comes  Time
	Took   Duration // its latency, as recorded
	Visits []Visit
	Beside bool // it belongs to no request: it takes its turns, but its latency does not count
}

// Server serves a number of customers at a time, in order of arrival.
type Server struct {
	Servers   int
	Slice     Duration // after which it turns to the next waiting customer; 0: every customer is served to the end
	Customers []Customer
}

// Measures describes a server, as recorded.
type Measures struct {
	Utilisation Ratio    // how much of the time it is busy
	Queue       Ratio    // how many wait on average (Little's law)
	Burstiness  Ratio    // of arrivals: 1 as if by chance, 0 evenly spaced, more in bursts
	Service     Duration // mean per visit
	Wait        Duration // mean per visit
	Visits      int
}

// Measures returns the measures for the visits that the recording shows in a span of time.
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

// perWindow is the average number of arrivals per window in which they are counted.
const perWindow = 10

// dispersion returns the index of dispersion of counts: the variance of the number of arrivals in a window divided by
// its mean. It is one for arrivals by chance (Poisson).
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
