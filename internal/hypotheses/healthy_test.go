package hypotheses

import (
	"testing"

	"github.com/getdwell/dwell/recording"
)

// TestHealthyServicesGetNoFinding plays services for which nobody should be woken up.
func TestHealthyServicesGetNoFinding(t *testing.T) {
	own := cost{before: 600 * us, handshake: 900 * us, after: 200 * us, remote: 600 * us}
	for name, s := range map[string]*scenario{
		"an event loop at 70 %, arrivals even":      loopOf(true, 1000, 1250*us, own),
		"an event loop at 70 %, arrivals irregular": irregular(1000, 1250*us, own),
		"a peer that honestly needs 50 ms":          serve(newScenario(recording.RuntimePython), func(t *thread, _ int) { keptCall(t, 50_000*us) }),
		"threads with a kept connection":            healthy(),
	} {
		t.Run(name, func(t *testing.T) {
			for _, f := range diagnosed(t, s).Findings {
				t.Errorf("%s: %s (p50 -%d us, p99 -%d us)", f.ID, f.Title, f.Impact.P50/1000, f.Impact.P99/1000)
			}
		})
	}
}

// irregular plays n requests with gaps between nothing and twice the mean.
func irregular(n int, mean recording.Time, c cost) *scenario {
	l := newLoop(true)
	at, seed := 10_000*us, uint64(1)
	for range n {
		seed = seed*6364136223846793005 + 1442695040888963407
		at += 2 * mean * recording.Time(seed>>40) >> 24
		l.arrive(at, "/prices/{}", c)
	}
	return l.play()
}
