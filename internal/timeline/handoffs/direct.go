package handoffs

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/recording"
)

// directOnes finds the processes where a worker that waited for work has the task of the
// request whose own strand woke it, whoever else puts some in at that time: so it is with
// threads that are started again for one task each, and with queues whose workers wait only
// while nothing is in them. It is held against the results of workers that could have had
// another's.
func (h *rulings) directOnes() map[recording.ProcessID]bool {
	counts := causality.Tallies[recording.ProcessID]{}
	h.eachJob(func(j *job) {
		if len(j.calls) == 0 || len(j.results) == 0 || !h.wokenByOwner(j) {
			return
		}
		x, p := j.results[0], h.t.Strands[j.strand].Process
		if x.calls < 1 || x.calls > max(h.strands[j.strand].least, 1) {
			return
		}
		if odd := x.request != j.claim; odd || j.late || h.sent(j.calls[0]) >= h.foreign(j) {
			counts.Add(p, odd)
		}
	})
	direct := map[recording.ProcessID]bool{}
	for p, c := range counts {
		direct[p] = c.Rule(manyKnown / 2)
	}
	return direct
}

// wokenByOwner reports a job that was started by the strand of the request it is claimed
// for, not by another worker.
func (h *rulings) wokenByOwner(j *job) bool {
	return j.claim != timeline.None && !j.told && j.by != timeline.None && h.owner(j.by, j.from) == j.claim
}
