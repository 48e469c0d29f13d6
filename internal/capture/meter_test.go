//go:build linux && (amd64 || arm64)

package capture

import (
	"fmt"
	"testing"
	"time"
)

// One run in 64 is timed: the mean of the timed runs may fall by more than new runs add.
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

// Waiting does not count as computing: on a busy host most wall-clock time is waiting.
func TestWaitingIsNotComputed(t *testing.T) {
	began := time.Now()
	cost := computed(func() { <-time.After(50 * time.Millisecond) })
	if took := time.Since(began); 2*cost > took {
		t.Errorf("computed %s of %s, in which it waited", cost, took)
	}
	if computed(func() {
		for i := range 100_000 {
			_ = fmt.Sprint(i)
		}
	}) == 0 {
		t.Error("100,000 numbers are printed for nothing")
	}
}
