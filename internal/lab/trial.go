package lab

import (
	"math"
	"math/rand/v2"

	"github.com/getdwell/dwell/recording"
)

// Trial is a service with a fault of a chosen strength, and the same service without it.
type Trial struct {
	Fault    *Fault
	Strength float64 // the share of the mean that is gone if the fault is mended, as obtained
	Faulty   Service
	Saved    float64 // ns of the mean, in truth
	Mean     float64 // ns, with the fault
}

// NewTrial draws a service and makes a fault cost it a share of the mean; false if no cost does.
func NewTrial(f *Fault, strength float64, requests int, seed uint64) (*Trial, bool) {
	own := drawService(f.Runtime, requests, seed)
	low, high := 0.0, 200*own.scale
	if f.Around {
		high = 1.2e6
	}
	if f.Turns != nil || f.Lines { // no client waits for a connection: arrivals do not depend on how long requests take
		own.Threads = requests
	}
	t := &Trial{Fault: f}
	for range 14 {
		x := (low + high) / 2
		t.Faulty = own.with(f, x, asItIs)
		t.Mean = mean(t.Faulty.Durations())
		t.Saved = t.Mean - own.without(f, x)
		t.Strength = t.Saved / t.Mean
		switch {
		case math.Abs(t.Strength-strength) < strength/20:
			return t, true
		case t.Strength < strength:
			low = x
		default:
			high = x
		}
	}
	return t, math.Abs(t.Strength-strength) < strength/4
}

// Healthy draws a service without a fault.
func Healthy(requests int, seed uint64) Service {
	runtimes := []recording.Runtime{recording.RuntimeJVM, recording.RuntimePython}
	own := drawService(runtimes[seed%2], requests, seed)
	return own.with(&Fault{With: func(Time, bool) func([]Step, *rand.Rand) []Step {
		return func(own []Step, _ *rand.Rand) []Step { return own }
	}}, 0, mended)
}

// drawn is a service with parameters of its own: how long its requests take, how many come, and how evenly.
type drawn struct {
	Service
	scale  float64 // ns per request
	remote float64 // ns per call to its peer
	calls  int
	spread float64 // of what each step takes, as a share of it
}

// drawService draws requests of 300 us to 300 ms, and processors that are busy 2 % to 60 % of the time.
func drawService(rt recording.Runtime, requests int, seed uint64) *drawn {
	r := rand.New(rand.NewPCG(seed, 3))
	d := &drawn{scale: 3e5 * math.Pow(1000, r.Float64())}
	cpu := d.scale * (0.1 + 0.5*r.Float64())
	d.calls, d.spread = 1+r.IntN(2), 0.05+0.3*r.Float64()
	d.remote = (d.scale - cpu) / float64(d.calls)
	busy := 0.02 + 0.58*r.Float64()
	d.Service = Service{Runtime: rt, CPUs: 2 + 2*r.IntN(2), Threads: 64, Requests: requests, Seed: seed, Burst: 1}
	if r.IntN(3) == 0 {
		d.Burst = 2 + 3*r.Float64()
	}
	d.Gap = Time(cpu / (float64(d.CPUs) * busy))
	return d
}

// way is how a fault is mended, if it is.
type way int

const (
	asItIs way = iota
	mended
	oneMore // of what requests take turns at
)

// without returns the mean of the service with the fault mended, in the way that saves most. If less work is done in
// turns, only the waits for turns count as saved, not the work that is not done.
func (d *drawn) without(f *Fault, x float64) float64 {
	m := d.with(f, x, mended)
	least := mean(m.Durations()) + float64(m.spared())/float64(m.Requests)
	if f.Turns != nil {
		m = d.with(f, x, oneMore)
		least = min(least, mean(m.Durations()))
	}
	return least
}

// turns returns the function that gives steps their turns, for a fault and a way to mend it. It is called once for each
// service played.
func (f *Fault) turns(by way) func(steps []Step) ([]Step, Time) {
	if f.Turns == nil {
		return func(steps []Step) ([]Step, Time) { return steps, 0 }
	}
	r, done := NewLock(), 1.0
	switch by {
	case mended:
		done = 0.5
	case oneMore:
		r = NewPool(2)
	}
	r.word = f.Turns.word
	return func(steps []Step) ([]Step, Time) { return f.Turns.take(r, steps, done) }
}

// with returns the service with a fault, or with the fault mended in some way.
func (d *drawn) with(f *Fault, x float64, by way) Service {
	s, code := d.Service, render
	if s.Runtime == recording.RuntimePython {
		code = pyHandle
	}
	cost, cpu := Time(x), d.scale-d.remote*float64(d.calls)
	if f.Around && by == asItIs {
		s.Neighbor = x / 1e6
	}
	add, other, turns := f.With(cost, by != asItIs), f.With(cost, true), f.turns(by)
	s.Young = f.First > 0
	gone := Time(0)
	s.spared = func() Time { return gone }
	s.Does = func(number int, draw *rand.Rand) []Step {
		vary := func(ns float64) Time { return Time(ns * (1 - d.spread + d.spread*draw.ExpFloat64())) }
		own := []Step{Compute(vary(cpu/2), code)}
		for i := range d.calls {
			own = append(own, Call(vary(d.remote), []string{"/prices", "/users"}[i]))
		}
		own = append(own, Compute(vary(cpu/2), code))
		does := add
		if f.First > 0 && number >= f.First {
			does = other
		}
		steps := does(own, draw)
		for i := 1; i <= len(steps)-len(own); i++ { // the fault's cost varies, too
			if steps[i].took > 0 {
				steps[i].took = vary(float64(steps[i].took))
			}
		}
		steps, less := turns(steps)
		gone += less
		return steps
	}
	return s
}

func mean(list []Time) float64 {
	var sum float64
	for _, d := range list {
		sum += float64(d)
	}
	return sum / float64(max(1, len(list)))
}
