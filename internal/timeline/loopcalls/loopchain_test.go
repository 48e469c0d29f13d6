package loopcalls

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
)

// A response in the turn of an answer of which nothing else is known tells whose that was. It
// counts as proof where threads share tasks: behind a semaphore there is hardly another one.
func TestWhatMakesAChainBelieved(t *testing.T) {
	for _, x := range []struct {
		name                                string
		wander                              bool
		owners, confirmed, told, contradict int
		want                                bool
	}{
		{"every fourth is confirmed", false, 100, 25, 0, 0, true},
		{"too few are", false, 100, 24, 70, 0, false},
		{"the others are told, of threads that share tasks", true, 100, 24, 70, 0, true},
		{"none but those that are told", true, 100, 0, 100, 0, false},
		{"one says otherwise", true, 100, 24, 70, 1, false},
	} {
		l := linked{said: causality.Tally{All: x.confirmed + x.contradict, Odd: x.contradict}, told: x.told, owner: map[timeline.CallID]timeline.RequestID{}}
		for i := range x.owners {
			l.owner[timeline.CallID(i)] = timeline.RequestID(i)
		}
		if got := l.believed(x.wander); got != x.want {
			t.Errorf("%s: %v, want %v", x.name, got, x.want)
		}
	}
}
