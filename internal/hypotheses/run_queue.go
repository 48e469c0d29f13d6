package hypotheses

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

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
	switch p := firstServer(c); {
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

// inFrontOf is what had the processors until requests' threads got them, by time. Goroutines in the queue of their
// runtime wait for the service's own threads, except while one of these waits for a processor.
type inFrontOf struct {
	turns, own, idle, taken Duration // turns: of goroutines, for the service's own threads
	programs                tally
}

// ahead returns what measured requests wait behind for processors; its callers share it.
func ahead(c *diagnosis.Case) *inFrontOf {
	return c.Once("ahead", func() any {
		a, ready := &inFrontOf{programs: tally{}}, map[recording.ProcessID][]timeline.Interval{}
		c.SpansOf(timeline.CauseRunnable, func(r *timeline.Request, g *timeline.Segment) bool {
			if id := g.Strand; id != timeline.None {
				a.wait(c, &c.Strands[id], g, ready)
			} else if r.Strand != timeline.None {
				a.wait(c, &c.Strands[r.Strand], g, ready)
			}
			return false
		})
		return a
	}).(*inFrontOf)
}

// wait counts one wait of a strand. When threads of a process of goroutines were ready is collected once.
func (a *inFrontOf) wait(c *diagnosis.Case, st *timeline.Strand, g *timeline.Segment, ready map[recording.ProcessID][]timeline.Interval) {
	list := st.Intervals
	if st.Goroutine != recording.NoGoroutine {
		if ready[st.Process] == nil {
			ready[st.Process] = readyThreads(c, st.Process)
		}
		list = ready[st.Process]
		a.turns += g.To.Sub(g.From)
	}
	for _, iv := range timeline.Clipped(list, g.From, g.To) {
		if iv.State != timeline.StateRunnable {
			continue
		}
		d := min(iv.To, g.To).Sub(max(iv.From, g.From))
		if st.Goroutine != recording.NoGoroutine {
			a.turns -= d
		}
		a.behind(iv.Off, d)
	}
}

// behind counts a wait at the end of a span off the CPU; nil: the thread lost its CPU without leaving it.
func (a *inFrontOf) behind(off *timeline.Off, d Duration) {
	switch {
	case off == nil:
		a.taken += d
	case off.Ahead == recording.AheadIdle:
		a.idle += d
	case off.Ahead == recording.AheadWatched:
		a.own += d
	case off.Ahead == recording.AheadOther:
		a.programs[off.Program] += d
	}
}

// shares returns the shares of the service's own threads, and of other programs, in what threads waited behind; false if
// that was not recorded.
func (a *inFrontOf) shares() (own, others diagnosis.Share, known bool) {
	programs := Duration(0)
	for _, d := range a.programs {
		programs += d
	}
	all := a.own + a.idle + programs
	return diagnosis.ShareOf(int64(a.own), int64(all)), diagnosis.ShareOf(int64(programs), int64(all)), all > a.taken
}

// readyThreads returns when at least one thread of a process waited for a processor, in order and disjoint.
func readyThreads(c *diagnosis.Case, p recording.ProcessID) []timeline.Interval {
	all, out := []timeline.Interval(nil), []timeline.Interval{}
	for i := range c.Strands {
		if st := &c.Strands[i]; st.Process == p && st.Goroutine == recording.NoGoroutine {
			for _, iv := range st.Intervals {
				if iv.State == timeline.StateRunnable {
					all = append(all, iv)
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b timeline.Interval) int { return cmp.Compare(a.From, b.From) })
	for _, iv := range all {
		if n := len(out); n > 0 {
			iv.From = max(iv.From, out[n-1].To)
		}
		if iv.From < iv.To {
			out = append(out, iv)
		}
	}
	return out
}

// front is one of the things that waits for processors are behind, and what would show that it is the reason.
type front struct {
	what, name, about, decide string
	time                      Duration
}

// story says what waits of so much time in all were behind, to follow their share, what would decide whether that is
// the reason, and the evidence. Of a recording that does not say what had the processors, it gives the possibilities.
func (a *inFrontOf) story(c *diagnosis.Case, all Duration, cpus int64) (who, decide string, ev []diagnosis.Evidence) {
	others, names, named := a.others(all)
	elsewhere := "to another host for a while"
	if cpus >= 4 {
		elsewhere = "to other processors (taskset, cpusets) or another host"
	}
	list := []front{
		{"behind other threads of the service", "", "about its own threads: ", ownThreads(c), a.turns + a.own},
		{"behind other programs", names, "about other programs: ", "move " + cmp.Or(named, "the programs that run then (pidstat 1 names them)") + " " + elsewhere + ", and record again", others},
		{"until an idle processor was awake", "", "about idle processors: ", "accept that, or keep them awake on hardware of your own", a.idle},
		{"while interrupts or a hypervisor had the processor", "", "about interrupts: ", "see with vmstat 1 whether that is interrupts (in) or a hypervisor (st)", a.taken},
	}
	slices.SortStableFunc(list, func(x, y front) int { return cmp.Compare(y.time, x.time) })
	if 2*(a.turns+a.own+others+a.idle+a.taken) < all || all == 0 {
		return "", "dwell threads REC --when 'runnable>" + strconv.FormatInt(cpus, 10) + "' finds times at which more threads are ready than there are processors (then run fewer at once); " +
			"otherwise another program has the processors, the service is bound to a few of them (taskset -p PID), or idle processors wake up slowly, as in virtual machines", nil
	}
	for i, f := range list {
		share := diagnosis.ShareOf(int64(f.time), int64(all))
		if i > 0 && share < diagnosis.Whole/20 {
			continue
		}
		if i == 0 {
			who = "; of that "
		} else {
			who += ", "
		}
		who += diagnosis.Percent(share) + " " + f.what + f.name
		ev = append(ev, diagnosis.Part("of these waits are "+f.what, share))
	}
	decide = list[0].decide
	if 10*list[1].time >= all {
		decide = list[0].about + decide
	}
	for _, f := range list[1:] {
		if 10*f.time >= all {
			decide += "; " + f.about + f.decide
		}
	}
	return who, decide, ev
}

// ownThreads is what to try about waits for the service's own threads.
func ownThreads(c *diagnosis.Case) string {
	if p := firstServer(c); p.CPUs > 0 && p.CPUs < c.Manifest.CPUs {
		return "let the service use more than " + diagnosis.Thousands(p.CPUs) + " of the host's " + diagnosis.Thousands(c.Manifest.CPUs) + " processors (taskset, cpusets), and record again"
	}
	if c.Time() < c.BusyTime() {
		return "requests seldom overlap, so the threads in the way work for the same request or are the runtime's own (Linux often puts a thread on the processor of the one that wakes it): accept these waits"
	}
	return "let fewer requests compute at once, or give the host more processors, and record again"
}

// firstServer is the process that serves the first measured request.
func firstServer(c *diagnosis.Case) timeline.Process {
	id := c.Requests[c.Measured()[0]].Process
	at := slices.IndexFunc(c.Processes, func(p timeline.Process) bool { return p.ID == id })
	if at < 0 {
		return timeline.Process{}
	}
	return c.Processes[at]
}

// others returns how long waits were behind programs that are not watched, and names the two with the largest parts,
// with these and without.
func (a *inFrontOf) others(all Duration) (sum Duration, shares, names string) {
	var list []front
	for name, d := range a.programs {
		sum += d
		if name != "" && 20*d >= all {
			list = append(list, front{name: name, time: d})
		}
	}
	slices.SortFunc(list, func(x, y front) int { return cmp.Or(cmp.Compare(y.time, x.time), cmp.Compare(x.name, y.name)) })
	var said, called []string
	for _, f := range list[:min(2, len(list))] {
		called = append(called, f.name)
		said = append(said, f.name+" "+diagnosis.Percent(diagnosis.ShareOf(int64(f.time), int64(all))))
	}
	switch {
	case len(said) == 0:
		return sum, "", ""
	case list[0].time == sum:
		return sum, " (" + list[0].name + ")", list[0].name
	}
	return sum, " (" + strings.Join(said, ", ") + ")", strings.Join(called, " and ")
}
