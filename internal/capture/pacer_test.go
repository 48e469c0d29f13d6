//go:build linux && (amd64 || arm64)

package capture

import (
	"testing"
	"time"
)

func TestPacerRests(t *testing.T) {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	seen := func(s stretch) stretch { s.writes, s.rested = 8000, 8000; return s }
	hello := stretch{took: time.Second, events: 70_000, cost: ms(100), busy: 2 * time.Second, scarce: true, slowest: ms(5)}
	for _, c := range []struct {
		what        string
		s           func(stretch) stretch
		least, most time.Duration
	}{
		{"a tenth of a processor, and nobody knows yet what that costs the service", func(s stretch) stretch { return s }, 7 * time.Second, longestRest},
		{"the same in half a second", func(s stretch) stretch {
			return stretch{took: s.took / 2, events: s.events / 2, cost: s.cost / 2, busy: s.busy / 2, scarce: true}
		}, 3500 * time.Millisecond, 5500 * time.Millisecond},
		{"processors to spare", func(s stretch) stretch { s.scarce = false; return s }, 0, 0},
		{"few events", func(s stretch) stretch { s.events = manyEvents; return s }, 0, 0},
		{"requests that no window would hold", func(s stretch) stretch { s.slowest = ms(101); return s }, 0, 0},
		{"a tenth of a processor, and as much again that it does not count, where a twenty-fifth may be spent", seen, ms(3000), ms(5000)},
		{"many processors", func(s stretch) stretch { s.busy = 32 * time.Second; return seen(s) }, 0, 0},
		{"too much by far", func(s stretch) stretch { s.cost = 10 * time.Second; return s }, longestRest, longestRest},
	} {
		p := pacer{}
		if got, _ := p.rest(c.s(hello)); got < c.least || got > c.most {
			t.Errorf("%s: rests %v, want %v to %v", c.what, got, c.least, c.most)
		}
	}
}

// By its own clocks recording costs few cycles, but the service's throughput falls by a third: dwell rests until the
// loss is 2 % of the total.
func TestPacerRestsByWhatIsLost(t *testing.T) {
	p := pacer{}
	s := stretch{took: time.Second, events: 70_000, cost: 25 * time.Millisecond, busy: 2 * time.Second, scarce: true, writes: 8000}
	if got, _ := p.rest(s); got < 5*time.Second {
		t.Errorf("before it is known what is lost: rests %v", got)
	}
	for _, c := range []struct {
		rested      float64
		least, most time.Duration
	}{{10_000, 6 * time.Second, longestRest}, {16_000, longestRest, longestRest}, {16_000, longestRest, longestRest}} {
		s.rested = c.rested
		if got, _ := p.rest(s); got < c.least || got > c.most {
			t.Errorf("%v writes a second in a rest, %v in a window: rests %v, want %v to %v", s.rested, s.writes, got, c.least, c.most)
		}
	}
	s.rested = 7000
	for range 20 {
		p.rest(s)
	}
	if got, _ := p.rest(s); got > time.Second {
		t.Errorf("nothing is lost any longer: rests %v", got)
	}
}

func TestPacerChoosesWindowsThatHoldRequests(t *testing.T) {
	for _, c := range []struct {
		slowest time.Duration
		window  time.Duration
	}{{5 * time.Millisecond, shortWindow}, {50 * time.Millisecond, shortWindow}, {51 * time.Millisecond, tickEvery}, {101 * time.Millisecond, 0}} {
		s := stretch{took: time.Second, events: 70_000, busy: 2 * time.Second, scarce: true, slowest: c.slowest}
		if _, got := new(pacer).rest(s); got != c.window {
			t.Errorf("nearly all requests take less than %v: the next window is %v, want %v", c.slowest, got, c.window)
		}
	}
}

func TestPacerIsOutOfStep(t *testing.T) {
	p := pacer{}
	rests := map[time.Duration]bool{}
	for range 8 {
		rests[p.uneven(time.Second)] = true
		p.rests++
	}
	if len(rests) != 8 {
		t.Errorf("%d different rests of 8", len(rests))
	}
}
