//go:build linux && (amd64 || arm64)

package capture

import "testing"

// One run in 64 is timed: the mean of those may fall by more than new runs add.
func TestCostsAreNeverNegative(t *testing.T) {
	before := probesCost{Runs: 64, Timed: 1, Ns: 1000}.estimate()
	now := probesCost{Runs: 70, Timed: 2, Ns: 1200}.estimate()
	if now >= before {
		t.Fatalf("%d then %d: these do not fall", before, now)
	}
	if got := spent(now, before); got != 0 {
		t.Errorf("spent %d", got)
	}
	if got := spent(before, now); got != before-now {
		t.Errorf("spent %d", got)
	}
}
