package corpus

import "math/rand/v2"

// Step is one thing that a request of a made-up service does.
type Step struct {
	Do   string   `json:"do"`           // the client, or "sleep", "cpu", "file", "gzip", "job", "all"
	US   int      `json:"us,omitempty"` // how long it takes, varied between half and one and a half times where it varies
	Vary bool     `json:"vary,omitempty"`
	Of   [][]Step `json:"of,omitempty"` // of "all": branches that go on at once
}

// Plan is what a made-up service does for each of its endpoints.
type Plan map[string][]Step

// Kinds are the steps that a runtime's service knows.
type Kinds struct {
	Clients []string // ways to ask a peer
	Others  []string // what lies between calls
}

// Draw draws a service from a seed: three endpoints, each of two to eight steps, one
// after the other or at once. The same seed gives the same service.
func Draw(seed uint64, kinds Kinds) Plan {
	d := drawer{rand.New(rand.NewPCG(seed, 5)), kinds}
	p := Plan{}
	for _, name := range []string{"alpha", "beta", "gamma"} {
		p[name] = append(d.steps(2+d.r.IntN(4), true), d.call())
	}
	return p
}

type drawer struct {
	r     *rand.Rand
	kinds Kinds
}

func (d drawer) steps(n int, branch bool) []Step {
	var all []Step
	for range n {
		switch dice := d.r.IntN(10); {
		case branch && dice < 2:
			s := Step{Do: "all"}
			for range 2 + d.r.IntN(2) {
				s.Of = append(s.Of, d.steps(1+d.r.IntN(2), false))
			}
			all = append(all, s)
		case dice < 7:
			all = append(all, d.call())
		default:
			all = append(all, d.other())
		}
	}
	return all
}

func (d drawer) call() Step {
	return Step{Do: d.kinds.Clients[d.r.IntN(len(d.kinds.Clients))], US: 1000 * (1 + d.r.IntN(5)), Vary: true}
}

func (d drawer) other() Step {
	s := Step{Do: d.kinds.Others[d.r.IntN(len(d.kinds.Others))]}
	switch s.Do {
	case "sleep":
		s.US, s.Vary = 1000*(1+d.r.IntN(8)), d.r.IntN(2) == 0
	case "cpu":
		s.US = 50 * (1 + d.r.IntN(6))
	}
	return s
}

// Path is the path of the i-th request: which endpoint it asks for depends on i alone.
func Path(i int) string {
	return "/" + []string{"alpha", "beta", "gamma"}[rand.New(rand.NewPCG(uint64(i), 9)).IntN(3)]
}
