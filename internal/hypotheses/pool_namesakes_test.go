package hypotheses

import (
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
)

// A thread that is named like others of its process is not a pool by itself. Threads that have the program's name
// have no name of their own.
func TestOneOfThreadsThatAreNamedAlike(t *testing.T) {
	for name, c := range map[string]struct {
		names []string
		want  bool
	}{
		"of an executor":       {[]string{"pool-1-thread-5", "pool-1-thread-1"}, true},
		"the only one":         {[]string{"pool-1-thread-1", "pool-2-thread-1x"}, false},
		"nobody has a name":    {[]string{"python3", "python3"}, false},
		"in another process's": {[]string{"worker-1"}, false},
	} {
		tl := &timeline.Timeline{Processes: []timeline.Process{{ID: 1, Comm: "python3"}, {ID: 2}}}
		for i, n := range c.names {
			tl.Strands = append(tl.Strands, timeline.Strand{Process: 1, TID: int64(i + 1), Name: n})
		}
		tl.Strands = append(tl.Strands, timeline.Strand{Process: 2, TID: 9, Name: "worker-2"})
		w := &taskPool{mates: []timeline.StrandID{0}}
		if got := w.namesake(diagnosis.NewCase(tl, diagnosis.Options{})); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
