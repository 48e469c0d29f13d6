package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

func runQueue() diagnosis.Hypothesis {
	return diagnosis.Hypothesis{
		ID:    "run-queue",
		Title: "Requests wait for a processor, or behind threads that do",
		Doc: "The threads are ready to run, but no processor runs them.\n\n" +
			"Support: the time requests' threads were runnable but not running, if there is a lack of processors:\n\n" +
			"- The host's processors are busy 90 % of the time, or the control group is throttled.\n" +
			"- Programs that are not watched, which are named, use a tenth of the processors. This does not count if the service uses most of what is in use and requests wait mostly for each other's work.\n" +
			"- A process of Go runs as many goroutines as it may (GOMAXPROCS), which are fewer than the host has processors.\n\n" +
			"It is a finding if it explains the difference between slow and ordinary requests, or if half of all request time goes into it. Otherwise it is a lead if others use more of the processors than the service, or if the processors have " +
			"time to spare on the whole and requests seldom wait for each other's work: the time is lost to other programs. A finding in such a case comes after the findings about what the service does itself.\n\n" +
			"Not this: on a host with idle time it is a lead from 5 % of all request time on, and may have another cause than a lack of CPUs. Shorter waits there do not count.\n\n" +
			"Beside that is reported what had the processors until requests' threads got them: other threads of the service, other programs by name, or nothing; and which processors the service may use.\n\n" +
			"Saving: those waits are taken out of each request, and waits for locks and workers whose holders wait for a processor.",
		Queue:    true,
		Needs:    []string{recording.HookSched, recording.HookHost},
		Where:    true,
		Explains: []string{"accept-queue", "load", "lock-convoy", "interpreter-lock", "pool-exhausted"},
		Test:     testRunQueue,
	}
}

// throttledShare is the share of the time from which on throttling by a quota counts as a lack of CPU.
const throttledShare = diagnosis.Whole / 100

// stolenShare is a share of the processors' time that a hypervisor gives to others. From there on, what runs and what
// is woken up takes longer now and then, by whole milliseconds.
const stolenShare = diagnosis.Whole / 50

func testRunQueue(c *diagnosis.Case) diagnosis.Result {
	spans := c.Ready()
	h := hostLoad(c)
	ev := []diagnosis.Evidence{
		diagnosis.Part("of all request time is spent waiting for a processor", diagnosis.ShareOf(int64(diagnosis.Total(spans)), int64(c.Time()))),
		diagnosis.Part("of the host's processor time is in use", h.busy).Against(int64(c.Saturated)),
		diagnosis.Part("of the time the control group is throttled", h.throttled).Against(int64(throttledShare)),
		diagnosis.Part("of the time some thread of the host waits for a processor", h.pressure),
	}
	if h.stolen > 0 {
		ev = append(ev, diagnosis.Part("of the processors' time a hypervisor gave to other machines", h.stolen).Against(int64(stolenShare)))
	}
	res := diagnosis.Result{Evidence: ev, Hidden: c.Gaps()}
	others, own := besideUs(c), ours(c)
	lack := h.busy >= c.Saturated || h.throttled >= throttledShare || others.share >= competes && othersHave(c, h)
	if !h.known {
		res.Undecided = "no samples of the host while requests ran"
		return res
	}
	if k := fewProcessors(c); k != nil && 2*diagnosis.Total(k.spans) >= diagnosis.Total(spans) {
		res.Candidates = []diagnosis.Candidate{k.candidate(c)}
		if lack {
			res.Lead = res.Candidates[0].Lead
			return res
		}
	}
	share := diagnosis.Share(ev[0].Value)
	if !lack && len(res.Candidates) == 0 && share >= c.Worth {
		res.Candidates = []diagnosis.Candidate{waitsBeside(c, h, spans, ev)}
		return res
	}
	if !lack {
		return soonServed(c, res, h)
	}
	place, who, fix := lacking(h, &others, own)
	behind, besides := behindReady(c), ""
	if d := diagnosis.ShareOf(int64(diagnosis.Total(behind)), int64(c.Time())); d > 0 {
		ev = append(ev, diagnosis.Part("of all request time is spent waiting for a lock or worker whose holder waits for a processor", d))
		if d >= c.Worth {
			besides = ", another " + diagnosis.Percent(d) + " for a lock or worker whose holder waits for a processor"
		}
	}
	res.Lead = diagnosis.Percent(share) + " of all request time is spent waiting for a processor"
	proven, beside, decide := share >= diagnosis.Whole/2, othersHave(c, h), ""
	if !proven && beside {
		decide = "stop or move what else runs on the host (top, systemd-cgtop), or give the service processors of its own (taskset, cpusets), and record again"
	}
	res.Candidates = []diagnosis.Candidate{{
		Place:    place,
		Title:    "Requests wait for a processor: " + diagnosis.Percent(share) + " of all request time" + besides + who,
		Fix:      fix,
		Next:     "see what else runs on the host (top, systemd-cgtop) during the slow requests",
		Spans:    append(spans, behind...),
		Proven:   proven,
		Decide:   decide,
		Others:   beside,
		Evidence: append(ev, others.evidence...),
	}}
	return res
}

// lacking says which processors there are too few of, what has them, and what would help.
func lacking(h host, others *neighbours, own diagnosis.Share) (place, who, fix string) {
	if h.throttled >= throttledShare {
		return "the control group's CPU quota", "; a CPU quota stopped the service's control group for " + diagnosis.Percent(h.throttled) + " of the time",
			"raise the container's CPU limit, or fit the number of threads to it (GOMAXPROCS, workers)"
	}
	return "the host's processors", others.used(h.busy, own), others.fix(h.busy, own)
}

// othersHave reports whether programs beside the service have the processors that requests wait for.
func othersHave(c *diagnosis.Case, h host) bool {
	return h.throttled < throttledShare && (2*ours(c) < h.busy || h.busy < c.Saturated && !forEachOther(c))
}

// forEachOther reports whether at least half of requests' waits for processors are for each other's work.
func forEachOther(c *diagnosis.Case) bool {
	return 2*diagnosis.Total(behindComputing(c)) >= diagnosis.Total(c.Ready())
}

// soonServed rules out a lack of processors.
func soonServed(c *diagnosis.Case, res diagnosis.Result, h host) diagnosis.Result {
	ev := res.Evidence
	res.Evidence = append([]diagnosis.Evidence{ev[1], ev[0]}, ev[2:]...)
	res.Lead = "the host's processors are " + diagnosis.Percent(h.busy) + " busy (threshold " + diagnosis.Percent(c.Saturated) + "): " +
		"a ready thread gets one soon"
	res.Hidden = nil // whatever was not accounted for, it was no lack of CPUs
	return res
}

// behindReady returns what requests waited while something was ready to run and got no CPU: the holder of a lock or an
// interpreter, a worker, or a thread of an executor. That is no time of theirs. Of each wait it is as much, from its
// beginning. Its callers share it.
func behindReady(c *diagnosis.Case) []diagnosis.Span {
	return slices.Clip(c.Once("behind ready", func() any { return findBehindReady(c) }).([]diagnosis.Span))
}

func findBehindReady(c *diagnosis.Case) (out []diagnosis.Span) {
	for _, cause := range []timeline.Cause{timeline.CauseLock, timeline.CauseInterpreterLock} {
		for _, k := range contentions(c, cause) {
			out = append(out, spansOf(waitsWhile(k, func(d *deed) bool { return d.cause == timeline.CauseRunnable }))...)
		}
	}
	for _, id := range c.With(timeline.CausePool) {
		r := &c.Requests[id]
		for g := r.Segments(); g.Next(); {
			if g.Cause != timeline.CausePool || g.Strand == timeline.None {
				continue
			}
			if d := c.In(g.Strand, timeline.StateRunnable, g.From, g.To); d > 0 {
				out = append(out, diagnosis.Span{Request: id, From: g.From, To: g.From + diagnosis.Time(d)})
			}
		}
	}
	return out
}

// processors says how many processors the host has, if that is known.
func (h *host) processors() string {
	switch {
	case h.cpus == 1:
		return "processor is"
	case h.cpus > 1:
		return diagnosis.Thousands(h.cpus) + " processors are"
	}
	return "processors are"
}

// unstopped says which processors the service may use, and that no CPU quota can be what a wait for one was for, as far
// as that is known.
func (h *host) unstopped(c *diagnosis.Case) (text string) {
	switch p := servingProcess(c); {
	case p.CPUs > 0 && p.CPUs < h.cpus:
		text = ", the service may use " + diagnosis.Thousands(p.CPUs) + " of them (taskset, cpusets)"
	case p.CPUs > 0:
		text = ", the service may use all of them"
	}
	if !h.quota || h.throttled > 0 {
		return text
	}
	if text != "" {
		text += ","
	}
	return text + " and no CPU quota stopped it"
}

// waitsBeside is the candidate for waits for a CPU on a host that has idle time on the whole. Others cause them if they
// are not for the service's own work and a hypervisor took processors.
func waitsBeside(c *diagnosis.Case, h host, spans []diagnosis.Span, ev []diagnosis.Evidence) diagnosis.Candidate {
	who, decide, more := ahead(c).story(c, diagnosis.Total(spans), cmp.Or(h.cpus, 2))
	if h.stolen >= stolenShare {
		who += "; a hypervisor gave " + diagnosis.Percent(h.stolen) + " of the processors' time to other machines"
		decide = "vmstat 1 shows that (st): it is not the service's doing, and goes away if the neighbours on the machine do less, or on dedicated processors; " + decide
	}
	return diagnosis.Candidate{
		Place: "the host's processors",
		Title: "Requests wait for a processor, although the host's " + h.processors() + " only " + diagnosis.Percent(h.busy) + " busy overall" + h.unstopped(c) + ": " +
			diagnosis.Percent(diagnosis.Share(ev[0].Value)) + " of all request time" + who,
		Fix:      "spread the work that comes in bursts, or give the service more CPU for them",
		Spans:    spans,
		Others:   h.stolen >= stolenShare && othersHave(c, h),
		Decide:   decide,
		Evidence: append(ev, more...),
	}
}
