//go:build linux && amd64

package capture

import (
	"testing"
	"time"
)

// A probe that takes 1 us and may cost 2 % of a CPU is met 10,000 times a second, then
// 100,000 times: it stays, it goes before it has cost twice what a second allows, and
// comes back after ten seconds' worth of budget.
func TestHitBudget(t *testing.T) {
	now := time.Unix(1000, 0)
	b := hitBudget{share: 0.02, hit: time.Microsecond}
	b.fill(now)
	hits, attached := uint64(0), true
	run := func(rate uint64, span time.Duration) (changed time.Duration) {
		for at := time.Duration(0); at < span; at += 10 * time.Millisecond {
			now = now.Add(10 * time.Millisecond)
			if attached {
				hits += rate / 100
			}
			if ok := b.spend(hits, now, attached); ok != attached {
				attached = ok
				return at
			}
		}
		return -1
	}
	if at := run(10_000, time.Minute); at >= 0 {
		t.Fatalf("within the budget it went after %v", at)
	}
	if at := run(100_000, time.Minute); at < 200*time.Millisecond || at > 400*time.Millisecond {
		t.Errorf("over the budget it went after %v", at)
	}
	if at := run(100_000, time.Minute); at < 9*time.Second || at > 11*time.Second {
		t.Errorf("it came back after %v", at)
	}
}
