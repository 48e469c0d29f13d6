package truth

import (
	"fmt"
	"testing"
)

// mostUnknown is the largest share of a saturated Go service's time that may have no known cause.
const mostUnknown = 0.05

// TestSaturatedGo records a Go service that has no processor time to spare. Goroutines that could run are taken off
// their threads by other goroutines, by the collector, when they release a lock, and after long system calls. They
// then wait for a processor or for the collector.
func TestSaturatedGo(t *testing.T) {
	sc := scenario{name: "64 at once make garbage", runtime: golang(), plan: plan{calls: 1, flow: "garbage"}, workers: 64, alone: true}
	try := sc.trying(t)
	try(func() []string {
		s := newStage(t, sc)
		s.send(sc, loadFor()/2) // warm-up
		file, recorder := s.record()
		sent := s.send(sc, sc.playedFor())
		s.stop(recorder)
		score := Compare(s.build(file), s.truth(sent))
		show(t, sc, score)
		if u := share(score.Unknown, score.Duration); u > mostUnknown || score.Duration == 0 {
			return []string{fmt.Sprintf("unknown: %.1f%% of the time of %d requests", 100*u, score.Matched)}
		}
		return nil
	})
}
