package hypotheses

import (
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

func dwellItself() diagnosis.Hypothesis {
	return diagnosis.Hypothesis{
		ID:    "dwell-itself",
		Title: "Recording slows the service down",
		Doc: "dwell's own programs in the kernel take CPU time from the threads that they watch.\n\n" +
			"Support: the CPU time of those programs on the watched threads. It is an estimate: one run in 64 is timed, and the trap of a probe is measured in a loop. It is a lead if it is below a fifth of the service's CPU time, or below a " +
			"tenth of a processor. Lost facts are counted.\n\n" +
			"Not this: what the programs cost other threads of the host, in recordings that tell those apart. It is undecided if the recorder itself used 10 % of a processor on a saturated host.\n\n" +
			"Saving: the programs' share is taken out of every request in proportion to its time on a CPU.",
		Needs:    []string{recording.HookSched},
		Explains: []string{"cpu-bound", "run-queue", "load", "event-loop-blocked", "accept-queue"},
		Test:     testDwellItself,
	}
}

// recorderShare is the share of one processor that the recorder may use on a saturated host.
const recorderShare = diagnosis.Whole / 10

// plainlyOurs is the share of the service's CPU time from which on the recorder's part of it is a finding, if it is a
// tenth of a processor, too. A smaller part is within what is not known of it. What the recorder uses beside the
// service does not count here: loading its programs takes about a second of a processor, which is much of a short
// recording.
const plainlyOurs = diagnosis.Whole / 5

// paidInside is what dwell's programs cost the watched threads, at most. If a recording does not tell, it is all that
// they cost the host.
func paidInside(o recording.Overhead) int64 {
	if o.Inside > 0 {
		return o.Inside
	}
	return o.BPF
}

func testDwellItself(c *diagnosis.Case) diagnosis.Result {
	wall := int64(c.End.Sub(c.Start))
	used := diagnosis.ShareOf(c.Overhead.UserCPU+c.Overhead.BPF, wall)
	var ran Duration
	for i := range c.Strands {
		ran += c.Running(timeline.StrandID(i), c.Start, c.End)
	}
	paid := paidInside(c.Overhead.Overhead)
	inside, ofOne := min(diagnosis.Whole, diagnosis.ShareOf(paid, int64(ran))), diagnosis.ShareOf(paid, wall)
	lost := int64(0)
	for _, l := range c.Losses {
		lost += l.Count
	}
	ev := []diagnosis.Evidence{
		diagnosis.Part("of a processor used by the recorder", used).Against(int64(recorderShare)),
		diagnosis.Part("of the watched threads' CPU time is spent in dwell's programs", inside),
		diagnosis.Part("of a processor used by dwell's programs on those threads", ofOne).Against(int64(recorderShare)),
		diagnosis.Count("facts lost", int(lost)),
	}
	res := diagnosis.Result{Evidence: ev, Lead: "dwell's programs take " + diagnosis.Percent(inside) + " of the service's CPU time"}
	h := hostLoad(c)
	switch {
	case c.Overhead.Overhead == recording.Overhead{}:
		res.Undecided = "the recording holds no measure of the recorder's own cost"
		return res
	case used >= recorderShare && h.known && h.busy >= c.Saturated:
		res.Undecided = "the recorder used " + diagnosis.Percent(used) + " of a processor on a host that is " + diagnosis.Percent(h.busy) + " busy"
		return res
	}
	decide := ""
	if inside < plainlyOurs || ofOne < recorderShare {
		decide = "compare the client's own latencies with and without dwell: this cost is an upper bound"
	}
	spans := slices.Clone(ownSpans(c))
	for i := range spans {
		sp := &spans[i]
		sp.To = sp.From + diagnosis.Time(inside.Of(sp.To.Sub(sp.From)))
	}
	res.Candidates = []diagnosis.Candidate{{
		Place:    "dwell",
		Title:    "Recording slows the service down: " + diagnosis.Percent(inside) + " of its CPU time goes to dwell's programs in the kernel",
		Fix:      "record for a shorter time or with less traffic; do not trust small differences in this recording",
		Next:     "compare the client's own latencies with and without dwell",
		Decide:   decide,
		Spans:    spans,
		Evidence: ev,
	}}
	return res
}
