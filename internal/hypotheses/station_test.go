package hypotheses

import "testing"

// A server that is held for other things than to compute, as a connection while its peer works, is
// not said to be busy with the functions that were sampled meanwhile.
func TestPiecesAreOfServersThatCompute(t *testing.T) {
	c := caseOf(t, done(rebuilding(1), 20))
	s := *stationAt(c, kindLock, func(*station) bool { return true })
	for _, x := range []struct {
		busy, ran Duration
		pieces    int
	}{{0, 0, 1}, {10, 6, 1}, {10, 4, 0}} { // a lock's holders tell of neither
		if s.busy, s.ran = x.busy, x.ran; len(s.pieces(c).list) != x.pieces {
			t.Errorf("busy for %d, computing for %d: %d functions, want %d", x.busy, x.ran, len(s.pieces(c).list), x.pieces)
		}
	}
}
