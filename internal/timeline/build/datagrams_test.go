package build

import (
	"fmt"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// A send that slept began when it went to sleep; for one that did not, only its end is known. Each case is what the
// thread did until it had sent at 100 us.
func TestSendsBegin(t *testing.T) {
	for what, c := range map[string]struct {
		did  string
		want recording.Time
	}{
		"at once":                          {"0 running", 100},
		"the receiver's queue was full":    {"0 running|20 sleeping sendto|90 runnable sendto|95 running", 20},
		"it was asleep for something else": {"0 running|20 sleeping futex|90 runnable futex|95 running", 100},
		"the same over write":              {"0 running|30 sleeping write|95 running", 30},
	} {
		var s timeline.Strand
		for _, step := range strings.Split(c.did, "|") {
			var from recording.Time
			var state, call string
			fmt.Sscanf(step, "%d %s %s", &from, &state, &call)
			iv := timeline.Interval{From: from * 1000, To: 200_000, State: map[string]timeline.State{"running": timeline.StateRunning, "runnable": timeline.StateRunnable, "sleeping": timeline.StateSleeping}[state]}
			if call != "" {
				iv.Off = facts.NewOff(&recording.Off{Syscall: call})
			}
			if n := len(s.Intervals); n > 0 {
				s.Intervals[n-1].To = iv.From
			}
			s.Intervals = append(s.Intervals, iv)
		}
		tl := &timeline.Timeline{Strands: []timeline.Strand{s}}
		if got := sendsFrom(tl, 0, 100_000); got != c.want*1000 {
			t.Errorf("%s: began at %d us, want %d", what, got/1000, c.want)
		}
	}
}
