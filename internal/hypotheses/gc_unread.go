package hypotheses

import (
	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// behindReadersCollecting returns what requests wait to be read while the threads that then read them collect, as some are told to when
// they have answered another: of the time in which those run, or wait for a processor to, the collector's share of what was sampled of them meanwhile.
func behindReadersCollecting(c *diagnosis.Case) (spans []diagnosis.Span) {
	in := ofCollectors(c)
	for _, id := range c.Measured() {
		r := &c.Requests[id]
		if !r.HasPhase(timeline.PhaseUnread) || r.Strand == timeline.None || c.Strands[r.Strand].Loop {
			continue
		}
		all, collects := 0, 0
		for _, a := range c.StacksIn(r.Strand, r.Start, r.FirstRead) {
			if a.Origin == recording.StackOnCPU {
				if all++; a.Stack != timeline.None && in[a.Stack] {
					collects++
				}
			}
		}
		if collects == 0 {
			continue
		}
		var waits []diagnosis.Span
		for s := r.Segments(); s.Next() && s.Phase == timeline.PhaseUnread; {
			if s.Strand == r.Strand && (s.Cause == timeline.CauseOnCPU || s.Cause == timeline.CauseRunnable) {
				waits = append(waits, diagnosis.Span{Request: id, From: s.From, To: s.To})
			}
		}
		spans = append(spans, leadingShare(waits, diagnosis.ShareOf(int64(collects), int64(all)))...)
	}
	return spans
}
