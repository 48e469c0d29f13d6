//go:build linux && (amd64 || arm64)

package capture

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The status line's quantiles match those of the latencies, whatever the distribution, and are not systematically too
// low or too high.
func TestLiveQuantilesAreThoseOfTheLatencies(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var sum float64
	n := 0
	for name, draw := range map[string]func() float64{
		"all alike":            func() float64 { return 9_990_000 },
		"evenly from 1 to 9":   func() float64 { return 1e6 + 8e6*rng.Float64() },
		"most short, some not": func() float64 { return 300_000 * math.Exp(1.5*rng.NormFloat64()) },
		"a few nanoseconds":    func() float64 { return float64(rng.IntN(20)) },
		"minutes":              func() float64 { return 60e9 * (1 + rng.Float64()) },
	} {
		for range 20 {
			var l liveStats
			var all []int64
			for range 1000 {
				ns := int64(draw())
				l.add(ns)
				all = append(all, ns)
			}
			slices.Sort(all)
			for _, percent := range []int64{50, 90, 99} {
				got, want := float64(l.quantile(percent)), float64(all[(1000*percent+99)/100-1])
				off := (got - want) / max(1, want)
				if math.Abs(off) > 0.032 && math.Abs(got-want) > 1 {
					t.Errorf("%s: p%d is %.0f ns, want %.0f", name, percent, got, want)
				}
				if want > 100 {
					sum += off
					n++
				}
			}
		}
	}
	if (&liveStats{}).quantile(50) != 0 {
		t.Error("a quantile of nothing is not 0")
	}
	if mean := sum / float64(n); math.Abs(mean) > 0.01 {
		t.Errorf("they are off by %.2f %% on average", 100*mean)
	}
}
