package queueing

import "testing"

// TestFourAtOnce: four customers come at once, each for 4 ms of work.
//
//	a |4|   b wait 4 |4|   c wait 8 |4|   d wait 12 |4|
func TestFourAtOnce(t *testing.T) {
	s := &Server{Servers: 1}
	for i := range 4 {
		waited := Duration(i) * 4 * ms
		s.Customers = append(s.Customers, Customer{Took: waited + 5*ms, Visits: []Visit{{After: ms, Waited: waited, Service: 4 * ms}}})
	}
	for _, x := range []struct {
		what string
		Change
		each [4]Duration // latencies in ms
	}{
		{"as it was", Change{}, [4]Duration{5, 9, 13, 17}},
		{"half of the work", Change{Less: One / 2}, [4]Duration{3, 5, 7, 9}},
		{"half of what the first does", Change{Less: One / 2, Of: func(i, _ int) Duration {
			if i == 0 {
				return 4 * ms
			}
			return 0
		}}, [4]Duration{3, 7, 11, 15}},
		{"a second server", Change{More: 1}, [4]Duration{5, 5, 9, 9}},
		{"all work gone", Change{Less: One}, [4]Duration{1, 1, 1, 1}},
	} {
		p := s.Play(x.Change)
		for i, want := range x.each {
			if p.Each[i] != want*ms {
				t.Errorf("%s: customer %d takes %d us, want %d ms", x.what, i, p.Each[i]/1000, want)
			}
		}
	}
}

// TestVisitsFollowEachOther: a customer comes back as long after a visit as recorded, so a wait at the first visit
// delays the second.
func TestVisitsFollowEachOther(t *testing.T) {
	twice := []Visit{{Service: 2 * ms}, {After: 3 * ms, Service: 2 * ms}}
	s := &Server{Servers: 1, Customers: []Customer{{Took: 7 * ms, Visits: twice}, {Took: 7 * ms, Visits: twice}}}
	// a |2| 3 |2|
	// b   2|2| 3 |2|: it waits at its first visit, and finds the server free at its second
	if p := s.Play(Change{}); p.Each[0] != 7*ms || p.Each[1] != 9*ms {
		t.Errorf("latencies %v, want 7 and 9 ms", p.Each)
	}
}

// TestWhoIsServedInSlicesLetsOthersIn: a long piece of work is interrupted for short ones.
func TestWhoIsServedInSlicesLetsOthersIn(t *testing.T) {
	s := &Server{Servers: 1, Slice: 5 * ms, Customers: []Customer{
		{Took: 50 * ms, Visits: []Visit{{Service: 50 * ms}}},
		{Comes: Time(2 * ms), Took: ms, Visits: []Visit{{Service: ms}}},
	}}
	if p := s.Play(Change{}); p.Waited[0] != ms || p.Waited[1] != 3*ms {
		t.Errorf("the long one waits %d us, the short one %d us; want 1 and 3 ms", p.Waited[0]/1000, p.Waited[1]/1000)
	}
}

// TestNoWhatIfWhereTheModelDoesNotFit: if the arrivals do not explain the waits, the model cannot predict anything
// about them.
func TestNoWhatIfWhereTheModelDoesNotFit(t *testing.T) {
	s := recordedAs(&Server{Servers: 1, Customers: arrivals(5000, 2*ms, exponential)})
	if f := s.Fit(s.Play(Change{})); !f.Good() || f.Recorded != f.Replayed {
		t.Errorf("what the model itself played does not fit: %+v", f)
	}
	for i := range s.Customers {
		s.Customers[i].Visits[0].Waited += 3 * ms
	}
	if f := s.Fit(s.Play(Change{})); f.Good() {
		t.Errorf("3 ms of wait that no arrival explains fit: %+v", f)
	}
}

// TestLessWorkLessWait: the less work and load, and the more servers, the shorter the mean.
func TestLessWorkLessWait(t *testing.T) {
	s := recordedAs(&Server{Servers: 1, Customers: arrivals(20_000, ms*10/7, exponential)})
	order := []Change{{Load: One * 3 / 2}, {}, {Less: One / 4}, {Less: One / 2}, {Less: One}}
	for i := 1; i < len(order); i++ {
		if a, b := s.Play(order[i-1]).Mean, s.Play(order[i]).Mean; a <= b {
			t.Errorf("mean is %d us with %+v, and %d us with %+v", a/1000, order[i-1], b/1000, order[i])
		}
	}
	if a, b := s.Play(Change{}).Mean, s.Play(Change{More: 1}).Mean; a <= b {
		t.Errorf("a second server: mean %d us, was %d us", b/1000, a/1000)
	}
}

// TestKnee: M/M/1 at half its capacity has twice its p99 at 1.5 times the load: p99 is proportional to
// 1/(1-utilisation), here 1/(1-0.5) and 1/(1-0.75).
func TestKnee(t *testing.T) {
	s := recordedAs(&Server{Servers: 1, Customers: arrivals(200_000, 2*ms, exponential)})
	if load, _ := s.Knee(s.Play(Change{})); load < One*14/10 || load > One*16/10 {
		t.Errorf("p99 doubles at %d thousandths of the load, want 1,500 within 100", load)
	}
}
