//go:build linux && amd64

package capture

import (
	"testing"
	"time"
)

func TestPacerRests(t *testing.T) {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	hello := second{events: 70_000, cost: ms(200), busy: 2 * time.Second, scarce: true, slowest: ms(5)}
	for _, c := range []struct {
		what        string
		s           func(second) second
		least, most time.Duration
	}{
		{"a fifth of a processor, where a twenty-fifth may be spent", func(s second) second { return s }, ms(3000), ms(5000)},
		{"processors to spare", func(s second) second { s.scarce = false; return s }, 0, 0},
		{"few events", func(s second) second { s.events = manyEvents; return s }, 0, 0},
		{"requests that no window would hold", func(s second) second { s.slowest = ms(101); return s }, 0, 0},
		{"many processors", func(s second) second { s.busy = 32 * time.Second; return s }, 0, 0},
		{"too much by far", func(s second) second { s.cost = 10 * time.Second; return s }, longestRest, longestRest},
	} {
		p := pacer{}
		if got := p.rest(c.s(hello)); got < c.least || got > c.most {
			t.Errorf("%s: rests %v, want %v to %v", c.what, got, c.least, c.most)
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
