package truth

import (
	"fmt"
	"testing"
)

// mostUnknown is how much of the time of a saturated service of Go may have no known cause.
const mostUnknown = 0.05

// TestSaturatedGo records a service of Go that has no processor time to spare: goroutines that could run are taken
// off their threads by others, by the collector, by a lock that they let go, and by system calls that took long. They
// wait for a processor then, or for the collector.
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
