package queueing

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

const ms = Duration(1_000_000)

// arrivals returns customers that come by chance (Poisson), one per gap on average, each for one visit with a drawn
// service time.
func arrivals(n int, gap Duration, service func(*rand.Rand) Duration) []Customer {
	r := rand.New(rand.NewPCG(1, 2))
	out := make([]Customer, n)
	var at Time
	for i := range out {
		at += Time(float64(gap) * r.ExpFloat64())
		s := service(r)
		out[i] = Customer{Comes: at, Took: s, Visits: []Visit{{Service: s}}}
	}
	return out
}

func exponential(r *rand.Rand) Duration { return Duration(float64(ms) * r.ExpFloat64()) }
func constant(*rand.Rand) Duration      { return ms }

// TestReplayKnowsTheTextbook compares mean waits with the formulas of queueing theory, in mean services of 1 ms, over
// 200,000 arrivals from a seed.
func TestReplayKnowsTheTextbook(t *testing.T) {
	for _, x := range []struct {
		queue   string
		gap     Duration // between arrivals: 1 ms is the capacity of one server
		servers int
		slice   Duration
		service func(*rand.Rand) Duration
		want    float64 // mean wait in services
	}{
		{"M/M/1 at 50 %: 0.5/0.5", 2 * ms, 1, 0, exponential, 1},
		{"M/M/1 at 80 %: 0.8/0.2", ms * 10 / 8, 1, 0, exponential, 4},
		{"M/D/1 at 80 %: half of that", ms * 10 / 8, 1, 0, constant, 2},
		{"M/M/2 at 80 % (Erlang C 0.711)", ms * 10 / 16, 2, 0, exponential, 1.778},
		{"M/D/1, a slice each in turn, at 80 %: as M/M/1", ms * 10 / 8, 1, ms / 50, constant, 4},
	} {
		s := Server{Servers: x.servers, Slice: x.slice, Customers: arrivals(200_000, x.gap, x.service)}
		var sum float64
		for _, w := range s.Play(Change{}).Waited {
			sum += float64(w)
		}
		got := sum / float64(len(s.Customers)) / float64(ms)
		if math.Abs(got-x.want) > x.want/10 {
			t.Errorf("%s: mean wait is %.3f services, want %.3f within 10 %%", x.queue, got, x.want)
		}
	}
}

// recordedAs makes the waits of a replay the recorded ones.
func recordedAs(s *Server) *Server {
	for i, w := range s.Play(Change{}).Waited {
		s.Customers[i].Visits[0].Waited = w
		s.Customers[i].Took += w
	}
	return s
}

func TestMeasuresOfAServer(t *testing.T) {
	s := recordedAs(&Server{Servers: 1, Customers: arrivals(100_000, 2*ms, constant)})
	m := s.Measures(s.Customers[len(s.Customers)-1].Comes.Sub(0))
	if m.Utilisation < 490 || m.Utilisation > 510 {
		t.Errorf("utilisation %d, want half", m.Utilisation)
	}
	if m.Queue < 225 || m.Queue > 275 { // M/D/1 at one half: a quarter waits
		t.Errorf("queue length %d, want a quarter", m.Queue)
	}
	if m.Burstiness < 900 || m.Burstiness > 1100 {
		t.Errorf("burstiness of Poisson arrivals %d, want one", m.Burstiness)
	}
}

func TestBurstinessOfArrivals(t *testing.T) {
	var even, bursts []Customer
	for i := range 1000 {
		visit := []Visit{{Service: ms}}
		even = append(even, Customer{Comes: Time(i) * Time(10*ms), Visits: visit})
		bursts = append(bursts, Customer{Comes: Time(i/25) * Time(250*ms), Visits: visit}) // 25 at once
	}
	for _, x := range []struct {
		name      string
		customers []Customer
		from, to  Ratio
	}{{"evenly", even, 0, One / 10}, {"25 at once", bursts, 10 * One, 30 * One}} {
		s := Server{Servers: 1, Customers: x.customers}
		if got := s.Measures(10_000 * ms).Burstiness; got < x.from || got > x.to {
			t.Errorf("%s: burstiness %d, want %d to %d", x.name, got, x.from, x.to)
		}
	}
}

// Two jobs of 3 arrive together, a third 4 later.
//
//	arrive  AB      C
//	serve   AAABBBCCC
func TestWaitsOfASingleServer(t *testing.T) {
	got := Waits([]Job{{0, 3}, {0, 3}, {4, 3}, {20, 3}}, 1)
	if want := []Duration{0, 3, 2, 0}; !slices.Equal(got, want) {
		t.Errorf("waits %v, want %v", got, want)
	}
}

// At a server that is idle for 70 % of the time customers wait for each other by chance: with half of the work, more
// work than waiting is removed. If one customer in a hundred takes a hundred times as long, the waits behind those
// outweigh the work. If the server is busy with work of no request, halving the requests' work saves little.
func TestWaitsThatFollowFromWork(t *testing.T) {
	rare := func(r *rand.Rand) Duration {
		if r.IntN(100) == 0 {
			return 50 * ms
		}
		return ms / 2
	}
	for _, test := range []struct {
		name    string
		service func(*rand.Rand) Duration
		beside  int // of ten customers
		follows bool
	}{
		{"equal work", constant, 0, true},
		{"work that is now much, now little", exponential, 0, true},
		{"a rare long one", rare, 0, false},
		{"nine of ten are nobody's", constant, 9, false},
	} {
		s := &Server{Servers: 1, Customers: arrivals(20_000, 10*ms/3, test.service)}
		for i := range s.Customers {
			s.Customers[i].Beside = i%10 < test.beside
		}
		if follows := recordedAs(s).Follows(s.Play(Change{})); follows != test.follows {
			t.Errorf("%s: the waits follow from the work: %v", test.name, follows)
		}
	}
}
