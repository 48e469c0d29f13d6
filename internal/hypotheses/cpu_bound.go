package hypotheses

import (
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

func cpuBound() diagnosis.Hypothesis {
	return diagnosis.Hypothesis{
		ID:    "cpu-bound",
		Title: "Requests compute",
		Doc: "The time goes into the code of the request itself.\n\n" +
			"Support: the time a request's own strand was on a CPU for it, in any phase, except the garbage collector's work there as far as samples show it. If stacks are recorded, samples taken in these requests name the service's own code; " +
			"what that code calls in libraries counts to it. The function beneath which half of that work lies is named too: one that by its name makes, parses, compiles or loads something, if that takes about as long in each request; else the " +
			"innermost function of a library.\n\n" +
			"It is a finding if it explains the difference between slow and ordinary requests. Otherwise it is a lead with a place: computing is what a request is for, and much of it proves no fault.\n\n" +
			"Not this: waits for an interpreter, a loop or the processors while these compute for other requests. Those waits are reported after it if half of the computing would save more by itself than by the waits that go with it. Otherwise " +
			"the processors' queue (load) comes first.\n\n" +
			"Saving: that CPU time is taken out of each request. A thread that computes while other programs have the processors is preempted again and again. Those waits may go with the work, so they count to the most that could be saved.",
		Needs:    []string{recording.HookSched, recording.HookIO},
		Where:    true,
		Work:     true,
		Explains: []string{"run-queue"},
		Test:     testCPUBound,
	}
}

func testCPUBound(c *diagnosis.Case) diagnosis.Result {
	collected := collecting(c).spans
	spans := diagnosis.Without(diagnosis.Without(ownSpans(c), collected), spansOf(syncingOf(c).stays))
	res := diagnosis.Result{Hidden: c.Gaps()}
	share := diagnosis.ShareOf(int64(diagnosis.Total(spans)), int64(c.Time()))
	sampled := newSamples(c)
	own := costOf(c, spans)
	by, putOff := bySymptom(c, spans), bySymptom(c, tookFromWork(c))
	for i := range c.Symptoms {
		cd := cpuAt(c, &c.Symptoms[i], by[i], own)
		nameCode(c, &c.Symptoms[i], sampled, &cd)
		if cd.May = putOff[i]; diagnosis.ShareOf(int64(diagnosis.Total(cd.May)), int64(c.Time())) >= c.Worth {
			cd.Title += "; this takes " + meanWords(c, cd.May) + " longer because other programs use the processors meanwhile"
		}
		res.Candidates = append(res.Candidates, cd)
	}
	waitBehind(c, res.Candidates)
	if queueFirst(c) {
		res.After = "load"
	}
	if len(spans) == 0 {
		res.Lead = "no request was seen to compute"
	}
	res.Evidence = []diagnosis.Evidence{diagnosis.Part("of all request time is spent computing (own CPU)", share)}
	return res
}

// waitBehind adds to the titles how long all requests wait for processors, or for loops, that do nothing but such work
// meanwhile. It does so if requests compute for a part of their time that is worth having.
func waitBehind(c *diagnosis.Case, list []diagnosis.Candidate) {
	words := ""
	add := func(waits Duration, what string) bool {
		share := diagnosis.ShareOf(int64(waits), int64(c.Time()))
		if share >= c.Worth {
			words += "; another " + diagnosis.Percent(share) + " of all request time is spent waiting for " + what
		}
		return share >= c.Worth
	}
	behind := behindComputing(c)
	if !add(diagnosis.Total(behind), "a processor while all processors compute for other requests") {
		behind = nil
	}
	add(behindComputingLoops(c), "the event loop while it computes for other requests")
	for i := range list {
		cd := &list[i]
		if s := &c.Symptoms[i]; diagnosis.ShareOf(int64(diagnosis.Total(cd.Spans)), int64(s.Mean)*int64(len(s.Requests))) < c.Worth {
			continue
		}
		cd.Title += words
		if len(behind) > 0 {
			cd.Seen = slices.Concat(cd.Spans, behind)
		}
	}
}

// nameCode names the code in which requests of an endpoint compute: slow and ordinary requests, or all of them if too
// few of those were sampled or no place stands out.
func nameCode(c *diagnosis.Case, s *diagnosis.Symptom, sampled *samples, cd *diagnosis.Candidate) {
	at := spotsIn(c, sampled.list(slices.Concat(s.Ordinary, s.Slow)))
	if at.first() == nil {
		at = spotsIn(c, sampled.list(s.Requests))
	}
	most := at.first()
	if most == nil {
		cd.Next = "record for longer, until enough stacks are sampled to name code, or profile the service (" + profilers(c, s) + ") under the same load"
		switch {
		case len(c.Stacks) == 0:
			cd.Next = "profile the service (" + profilers(c, s) + ") under the same load: no stacks were recorded"
		case at.samples >= fewSamples:
			cd.Next = "profile the service (" + profilers(c, s) + ") under the same load: no place in the code stands out in the samples"
		}
		return
	}
	cd.Place = most.place(c)
	cd.Title += "; " + at.counted(c, most, "the CPU time is")
	cd.Evidence = append(cd.Evidence, at.evidence(c)...)
	nameBeneath(c, s, sampled.list(s.Requests), cd)
	ordinary, slow := spotsIn(c, sampled.list(s.Ordinary)), spotsIn(c, sampled.list(s.Slow))
	if ordinary.samples >= fewSamples && slow.samples >= fewSamples {
		cd.Evidence = append(cd.Evidence,
			diagnosis.Part("of an ordinary request's CPU time is in "+most.name, ordinary.share(most.name)).On(s.Ordinary),
			diagnosis.Part("of a slow request's CPU time is in "+most.name, slow.share(most.name)).On(s.Slow))
	}
}

// profilers names the tools that show where programs of the endpoint's runtime compute.
func profilers(c *diagnosis.Case, s *diagnosis.Symptom) string {
	switch runtimeOf(c, c.Requests[s.Requests[0]].Process) {
	case recording.RuntimeGo:
		return "pprof"
	case recording.RuntimeNode:
		return "node --cpu-prof"
	case recording.RuntimePython:
		return "py-spy"
	case recording.RuntimeRuby:
		return "rbspy"
	case recording.RuntimeJVM:
		return "async-profiler"
	}
	return "perf"
}

// bySymptom sorts spans of measured requests by symptom; a single symptom has them all.
func bySymptom(c *diagnosis.Case, spans []diagnosis.Span) [][]diagnosis.Span {
	if len(c.Symptoms) == 1 && len(c.Symptoms[0].Requests) == len(c.Measured()) {
		return [][]diagnosis.Span{spans}
	}
	out, at := make([][]diagnosis.Span, len(c.Symptoms)), standings(c)
	for _, s := range spans {
		if i := at[s.Request].symptom; i != timeline.None {
			out[i] = append(out[i], s)
		}
	}
	return out
}

// whileUnread says for how much more of an ordinary request's time a thread computes that has yet to read its data, if
// that is 1 %.
func whileUnread(c *diagnosis.Case, s *diagnosis.Symptom) string {
	var all Duration
	for _, id := range s.Ordinary {
		for g := c.Requests[id].Segments(); g.Next(); {
			if g.Cause == timeline.CauseOnCPU && !ownCPU(&g.Segment) {
				all += g.To.Sub(g.From)
			}
		}
	}
	share := diagnosis.ShareOf(int64(all), int64(s.P50)*int64(len(s.Ordinary)))
	if share < diagnosis.Whole/100 {
		return ""
	}
	return " (and " + diagnosis.Percent(share) + " in the kernel, receiving it)"
}

func cpuAt(c *diagnosis.Case, s *diagnosis.Symptom, spans []diagnosis.Span, per []Duration) diagnosis.Candidate {
	var ordinary, slow, longer Duration
	for _, id := range s.Ordinary {
		ordinary += per[id] / Duration(len(s.Ordinary))
		longer -= c.Requests[id].Duration() / Duration(len(s.Ordinary))
	}
	for _, id := range s.Slow {
		slow += per[id] / Duration(len(s.Slow))
		longer += c.Requests[id].Duration() / Duration(len(s.Slow))
	}
	strand := timeline.StrandID(timeline.None)
	if len(s.Slow) > 0 {
		strand = c.Requests[s.Slow[len(s.Slow)-1]].Strand
	}
	share := diagnosis.ShareOf(int64(ordinary), int64(s.P50))
	title := "Requests compute: an ordinary one spends " + diagnosis.Percent(share) + " of its time computing" + whileUnread(c, s)
	if 2*slow >= 3*ordinary && 2*(slow-ordinary) >= longer {
		title = "Slow requests compute longer: " + diagnosis.Human(slow) + " on average, ordinary ones " + diagnosis.Human(ordinary)
	}
	return diagnosis.Candidate{
		Place: threadName(c, strand),
		Title: title,
		Fix:   "make this code cheaper, or do part of its work before or after the request",
		Next:  "dwell show REC --tree shows which functions take the time",
		Spans: spans,
		Lead:  "computing takes " + diagnosis.Percent(share) + " of an ordinary request",
		Evidence: []diagnosis.Evidence{
			diagnosis.Part("of an ordinary request's time is own CPU", share).On(s.Ordinary),
			diagnosis.NS("own CPU of an ordinary request", ordinary).On(s.Ordinary),
			diagnosis.NS("own CPU of a slow request", slow).On(s.Slow),
		},
	}
}
