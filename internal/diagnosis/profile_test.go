package diagnosis

import "testing"

// Rates, in thousandths per second, over 100 s: of something rare, and of a petabyte.
func TestRate(t *testing.T) {
	p := &profiler{out: &Profile{Span: 100_000_000_000}}
	for n, want := range map[int64]int64{0: 0, 1: 10, 7: 70, 250: 2500, 1e15: 1e16} {
		if got := p.rate(n); got != want {
			t.Errorf("%d in 100 s: %d thousandths a second, want %d", n, got, want)
		}
	}
}
