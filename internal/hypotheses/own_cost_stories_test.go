package hypotheses

import "github.com/getdwell/dwell/recording"

// computes plays a service that answers each request after so much CPU time of its own.
func computes(each recording.Time) *scenario {
	return serve(newScenario(recording.RuntimePython), func(t *thread, _ int) { t.compute(each) })
}

// costing returns the recording of a scenario on a host that is busy so much, with the recorder's cost changed.
func costing(s *scenario, busy int64, cost func(*recording.Overhead)) *recording.Recording {
	s.hosts(busy)
	rec := s.recording(1000)
	for _, e := range rec.Events {
		if o, ok := e.Fact.(*recording.Overhead); ok {
			cost(o)
		}
	}
	return rec
}

func ownCostStories() []story {
	return []story{
		{"dwell-itself/supported", "More than half of the service's CPU time is dwell's programs: of 9 ms a request, 5 are the recorder's.",
			func() *recording.Recording {
				s := computes(9000 * us)
				return costing(s, 50, func(o *recording.Overhead) { o.BPF = int64(s.cpu) * 55 / 100 })
			}},
		{"dwell-itself/little-lead", "A quarter of what a service uses that computes for 1 ms in 50: half a percent of a processor. To load the programs took a fifth of one.",
			func() *recording.Recording {
				s := computes(500 * us)
				return costing(s, 50, func(o *recording.Overhead) {
					o.UserCPU, o.BPF, o.Inside = int64(s.end)/5, int64(s.cpu)/3, int64(s.cpu)/4
				})
			}},
		{"dwell-itself/bystanders-refuted", "The programs take as much as half of the service's CPU time, but on the threads of others: their own is half a percent.",
			func() *recording.Recording {
				s := computes(9000 * us)
				return costing(s, 50, func(o *recording.Overhead) { o.BPF, o.Inside = int64(s.cpu)*55/100, int64(s.cpu)/200 })
			}},
		{"dwell-itself/refuted", "Half a percent of the service's CPU time is dwell's.",
			func() *recording.Recording { return done(healthy(), 30) }},
		{"dwell-itself/undecided", "The recorder used a fifth of a processor on a host without idle time.",
			func() *recording.Recording {
				s := healthy()
				return costing(s, 99, func(o *recording.Overhead) { o.UserCPU = int64(s.end) / 5 })
			}},
	}
}
