package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// missingParks is the code of what says that waits of goroutines for locks were not seen
// for some of the time.
const missingParks = "go-locks"

// parksKnown reports that a request was served by a goroutine whose waits for locks were
// all recorded: what is unknown of its time is none.
func parksKnown(c *diagnosis.Case, id diagnosis.RequestID) bool {
	s := c.Requests[id].Strand
	return s != timeline.None && c.Strands[s].Goroutine != recording.NoGoroutine && c.Recorded(recording.HookParks) &&
		!slices.ContainsFunc(c.Missing, func(m recording.Missing) bool { return m.What == missingParks })
}

// hiddenLocks are the unnamedWaits that may be for a lock.
func hiddenLocks(c *diagnosis.Case) []diagnosis.Span {
	return slices.DeleteFunc(unnamedWaits(c), func(s diagnosis.Span) bool { return parksKnown(c, s.Request) })
}

// goroutines reports that all of some strands are goroutines.
func goroutines(c *diagnosis.Case, by map[timeline.StrandID]Duration) bool {
	for s := range by {
		if c.Strands[s].Goroutine == recording.NoGoroutine {
			return false
		}
	}
	return true
}

// computing names the place where holders of a lock computed most of their time; in Go,
// of the service's own code, with its line.
func (k *contention) computing(c *diagnosis.Case) string {
	if runtimeOf(c, k.process(c)) == recording.RuntimeGo {
		return k.calledFrom(c, deedCPU)
	}
	return k.doing(c, deedCPU)
}

// stopped returns the pieces in which requests of Go computed, or were ready to, while
// all goroutines of their process were stopped.
func stopped(c *diagnosis.Case) (out []diagnosis.Span) {
	of := map[recording.ProcessID][]timeline.Pause{}
	for _, p := range c.Pauses {
		of[p.Process] = append(of[p.Process], p)
	}
	if len(of) == 0 {
		return nil
	}
	for _, span := range c.Spans(func(r *timeline.Request, s *timeline.Segment) bool {
		return len(of[r.Process]) > 0 && (ownCPU(s) || s.Cause == timeline.CauseRunnable)
	}) {
		list := of[c.Requests[span.Request].Process]
		i, _ := slices.BinarySearchFunc(list, span.From+1, func(p timeline.Pause, at diagnosis.Time) int { return cmp.Compare(p.To, at) })
		for ; i < len(list) && list[i].From < span.To; i++ {
			out = append(out, diagnosis.Span{Request: span.Request, From: max(span.From, list[i].From), To: min(span.To, list[i].To)})
		}
	}
	return out
}
