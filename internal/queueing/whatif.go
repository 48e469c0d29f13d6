package queueing

import "slices"

// Latency is the mean and two quantiles (nearest rank) of requests' latencies.
type Latency struct{ Mean, P50, P99 Duration }

// Play is a replay with a change.
type Play struct {
	Latency
	Each   []Duration // latency of each customer: as recorded, but with the replayed waits and work instead of the recorded ones
	Waited []Duration // how long each customer waited
	Served []Duration // the server's work for each customer
}

// Play replays the recorded arrivals with a change.
func (s *Server) Play(c Change) *Play {
	n := len(s.Customers)
	p := &Play{Each: make([]Duration, n), Waited: make([]Duration, n), Served: make([]Duration, n)}
	for i, t := range s.play(c) {
		was := s.recorded(i)
		p.Waited[i], p.Served[i] = t.waited, t.served
		p.Each[i] = max(0, s.Customers[i].Took-was.waited-was.served+t.waited+t.served)
	}
	p.Latency = s.latency(func(i int) Duration { return p.Each[i] })
	return p
}

// Once returns the server with all that a customer requests combined into one visit, at the time of its first visit.
func (s *Server) Once() Server {
	out := *s
	out.Customers = make([]Customer, len(s.Customers))
	visits := make([]Visit, len(s.Customers))
	for i, x := range s.Customers {
		if len(x.Visits) > 0 {
			t := s.recorded(i)
			visits[i] = Visit{After: x.Visits[0].After, Waited: t.waited, Service: t.served}
			x.Visits = visits[i : i+1]
		}
		out.Customers[i] = x
	}
	return out
}

// recorded returns what the recording shows of a customer's turns.
func (s *Server) recorded(i int) (t turns) {
	for _, v := range s.Customers[i].Visits {
		t.waited, t.served = t.waited+v.Waited, t.served+v.Service
	}
	return t
}

// Recorded returns the latency of the requests as recorded.
func (s *Server) Recorded() Latency {
	return s.latency(func(i int) Duration { return s.Customers[i].Took })
}

func (s *Server) latency(of func(int) Duration) Latency {
	var list []Duration
	var sum Duration
	for i := range s.Customers {
		if !s.Customers[i].Beside {
			list = append(list, of(i))
			sum += of(i)
		}
	}
	if list == nil {
		return Latency{}
	}
	slices.Sort(list)
	return Latency{Mean: sum / Duration(len(list)), P50: quantile(list, 50), P99: quantile(list, 99)}
}

// quantile returns the nearest-rank quantile of a sorted list.
func quantile(list []Duration, percent int) Duration {
	return list[min(len(list)-1, max(0, (len(list)*percent+99)/100-1))]
}

// Fit compares the waits of a replay without a change with the recorded ones.
type Fit struct {
	Recorded, Replayed       Duration // mean wait of a request
	RecordedP99, ReplayedP99 Duration
}

// How far a replay may differ from the recording: in the mean wait, and in its p99.
const (
	fitMean = One / 4
	fitP99  = One * 4 / 10
)

// Good reports whether the model reproduces the recording: only then may it answer what-if questions.
func (f Fit) Good() bool {
	near := func(a, b Duration, within Ratio) bool { return max(a-b, b-a) <= within.Of(max(a, b)) }
	return f.Recorded > 0 && near(f.Recorded, f.Replayed, fitMean) && near(f.RecordedP99, f.ReplayedP99, fitP99)
}

// off returns how far the replay differs from the recording: in thousandths of the larger mean, plus thousandths of the
// larger p99.
func (f Fit) off() Ratio {
	apart := func(a, b Duration) Ratio { return RatioOf(max(a-b, b-a), max(a, b)) }
	return apart(f.Recorded, f.Replayed) + apart(f.RecordedP99, f.ReplayedP99)
}

// Fitting returns the server as the kind of queue that reproduces the recording best, with its unchanged replay. It
// tries serving each customer to the end or in slices, and visit by visit or at once: not every wait between its turns
// is recorded.
func (s *Server) Fitting() (best Server, unchanged *Play, fit Fit) {
	once := s.Once()
	for _, t := range []*Server{s, &once} {
		for _, slice := range []Duration{s.Slice, 0} {
			x := *t
			x.Slice = slice
			p := x.Play(Change{})
			if f := x.Fit(p); unchanged == nil || f.off() < fit.off() {
				best, unchanged, fit = x, p, f
			}
			if s.Slice == 0 {
				break
			}
		}
	}
	return best, unchanged, fit
}

// Fit compares the unchanged replay with the recording.
func (s *Server) Fit(unchanged *Play) Fit {
	was := s.latency(func(i int) Duration { return s.recorded(i).waited })
	is := s.latency(func(i int) Duration { return unchanged.Waited[i] })
	return Fit{Recorded: was.Mean, Replayed: is.Mean, RecordedP99: was.P99, ReplayedP99: is.P99}
}

// Follows reports whether the waits of requests (customers that are not Beside) follow from the work done for them.
// With half of that work they would wait at most half as long, and the work removed would be at least the wait removed.
// If the unchanged replay does not fit, two other conditions apply: the work removed is at least the recorded wait, and
// the server works at least as much for requests as for other customers.
func (s *Server) Follows(unchanged *Play) bool {
	would := s.Play(Change{Less: One / 2, Of: func(customer, visit int) Duration {
		if s.Customers[customer].Beside {
			return 0
		}
		return s.Customers[customer].Visits[visit].Service
	}})
	var own, beside, less, recorded, waited, sooner Duration
	for i := range s.Customers {
		if s.Customers[i].Beside {
			beside += unchanged.Served[i]
			continue
		}
		own += unchanged.Served[i]
		less += unchanged.Served[i] - would.Served[i]
		recorded += s.recorded(i).waited
		waited += unchanged.Waited[i]
		sooner += unchanged.Waited[i] - would.Waited[i]
	}
	if s.Fit(unchanged).Good() {
		return less >= sooner && 2*sooner >= waited
	}
	return less >= recorded && own >= beside
}

// The highest load at which the knee is searched for, and the step.
const (
	kneeStep = One / 10
	kneeMost = One * 3
)

// Knee returns the load, as a multiple of the recorded one, at which p99 doubles, and that p99. It returns 0 if p99
// does not double at up to three times the load.
func (s *Server) Knee(unchanged *Play) (load Ratio, p99 Duration) {
	low, high := One, kneeMost
	worst := s.Play(Change{Load: high}).P99
	if worst < 2*unchanged.P99 {
		return 0, 0
	}
	for high-low > kneeStep {
		middle := (low + high) / 2 / kneeStep * kneeStep
		if p := s.Play(Change{Load: middle}).P99; p >= 2*unchanged.P99 {
			high, worst = middle, p
		} else {
			low = middle
		}
	}
	return high, worst
}
