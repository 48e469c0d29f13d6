package hypotheses

import (
	"strings"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/symbol"
	"github.com/getdwell/dwell/recording"
)

// ownSemaphore tells a semaphore that the service's own code takes from the pool of a library
// that is built on one: what is to be raised is that semaphore's count, and no pool's size.
func (s *shortage) ownSemaphore(c *diagnosis.Case) {
	lines := tally{}
	for i := range s.stays {
		w := &s.stays[i]
		if w.wait == timeline.None || !strings.HasSuffix(c.Waits[w.wait].Rule, "-semaphore") {
			continue
		}
		if f, ok := c.SiteOf(c.Waits[w.wait].Stack); ok && symbol.Application(f) {
			lines[symbol.Place(f)] += w.To.Sub(w.From)
		}
	}
	line, _ := lines.most()
	if line == "" || 2*lines[line] < diagnosis.Total(spansOf(s.stays)) {
		return
	}
	s.gate, s.what = line, "the semaphore in "+line
}

// inTurn tells waits of tasks: that only so many calls are made at once is seen, but not
// whether a client's pool lets no more through, or the service's own code. Node's pools are known.
func (s *shortage) inTurn(c *diagnosis.Case, w *stay) {
	if s.rt != recording.RuntimeNode && w.strand != timeline.None && c.Strands[w.strand].Loop {
		s.turns, s.what = true, "their turn to call "+s.peer
	}
}

// atMost says how many are in use while requests wait.
func (s *shortage) atMost() string {
	switch {
	case s.gate != "":
		return "; never more than " + diagnosis.Plural(s.size, "call") + " to " + s.peer + " at once"
	case s.turns:
		return "; never more than " + diagnosis.Plural(s.size, "call") + " at once"
	case s.size == 1:
		return ": the only one is in use"
	}
	return ": all " + diagnosis.Thousands(int64(s.size)) + " are in use"
}
