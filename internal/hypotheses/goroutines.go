package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// missingParks is the code of a note in a recording: for some of the time, waits of goroutines for locks were not seen.
const missingParks = "go-locks"

// parksKnown reports whether waits of goroutines for locks were recorded, except in spans that are known.
func parksKnown(c *diagnosis.Case) bool {
	return c.Recorded(recording.HookParks) &&
		!slices.ContainsFunc(c.Missing, func(m recording.Missing) bool { return m.What == missingParks && m.Timed == 0 })
}

// hiddenLocks returns the unnamedWaits that may be for a lock. Those of goroutines are not, if waits for locks were
// recorded from when the goroutine left the processor until it was back.
func hiddenLocks(c *diagnosis.Case) []diagnosis.Span {
	known := parksKnown(c)
	return slices.DeleteFunc(unnamedWaits(c), func(s diagnosis.Span) bool {
		r := &c.Requests[s.Request]
		if !known || r.Strand == timeline.None || c.Strands[r.Strand].Goroutine == recording.NoGoroutine {
			return false
		}
		if len(c.UnseenIn(timeline.UnseenLocks, r.Process, r.Start, r.End)) == 0 {
			return true
		}
		from, to := away(r, s)
		return len(c.UnseenIn(timeline.UnseenLocks, r.Process, from, to)) == 0
	})
}

// away returns the longest span around a piece of a request in which the request was on no processor.
func away(r *timeline.Request, s diagnosis.Span) (from, to diagnosis.Time) {
	from, to = r.Start, r.End
	list := r.SegmentList()
	i, _ := slices.BinarySearchFunc(list, s.From, func(x timeline.Segment, at diagnosis.Time) int { return cmp.Compare(x.To, at+1) })
	for k := i - 1; k >= 0; k-- {
		if list[k].Cause == timeline.CauseOnCPU {
			from = list[k].To
			break
		}
	}
	for k := i; k < len(list); k++ {
		if list[k].From >= s.To && list[k].Cause == timeline.CauseOnCPU {
			return from, list[k].From
		}
	}
	return from, to
}

// unseenPauses returns the pieces in which requests of Go computed, or were ready to, while stops of all goroutines
// were not recorded.
func unseenPauses(c *diagnosis.Case) (out []diagnosis.Span) {
	recorded := c.Recorded(recording.HookParks)
	some := func(r *timeline.Request) bool {
		if recorded {
			return len(c.UnseenIn(timeline.UnseenPauses, r.Process, r.Start, r.End)) > 0
		}
		return runtimeOf(c, r.Process) == recording.RuntimeGo
	}
	for _, span := range c.SpansAmong(some, mayBeStopped) {
		if !recorded {
			out = append(out, span)
			continue
		}
		for _, x := range c.UnseenIn(timeline.UnseenPauses, c.Requests[span.Request].Process, span.From, span.To) {
			out = append(out, diagnosis.Span{Request: span.Request, From: max(span.From, x.From), To: min(span.To, x.To)})
		}
	}
	return c.Merged(out)
}

// mayBeStopped picks the segments in which a stop of all goroutines makes a difference.
func mayBeStopped(_ *timeline.Request, s *timeline.Segment) bool {
	return ownCPU(s) || s.Cause == timeline.CauseRunnable
}

// goroutines reports whether all of some strands are goroutines.
func goroutines(c *diagnosis.Case, by map[timeline.StrandID]Duration) bool {
	for s := range by {
		if c.Strands[s].Goroutine == recording.NoGoroutine {
			return false
		}
	}
	return true
}

// computing names the place where holders of a lock computed most of their time; in Go, in the service's own code, with
// its line.
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
		return len(of[r.Process]) > 0 && mayBeStopped(r, s)
	}) {
		list := of[c.Requests[span.Request].Process]
		i, _ := slices.BinarySearchFunc(list, span.From+1, func(p timeline.Pause, at diagnosis.Time) int { return cmp.Compare(p.To, at) })
		for ; i < len(list) && list[i].From < span.To; i++ {
			out = append(out, diagnosis.Span{Request: span.Request, From: max(span.From, list[i].From), To: min(span.To, list[i].To)})
		}
	}
	return out
}
