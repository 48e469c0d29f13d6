package hypotheses

import (
	"cmp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// competes is the share of the host's processors from which on programs that are not watched compete with the service.
// They can keep each of its threads waiting, however idle the processors are on average.
const competes = diagnosis.Whole / 10

// neighbours are the programs beside the watched ones, and what they used.
type neighbours struct {
	share    diagnosis.Share // of the host's processors, of all these programs together
	names    string          // "python3 (48 %) and cc1 (3.0 %)"; "" if none is known
	evidence []diagnosis.Evidence
}

// besideUs says which other programs used the processors while requests were measured.
func besideUs(c *diagnosis.Case) (n neighbours) {
	from, to := c.Busy()
	used := tally{}
	for i := range c.Neighbours {
		s := &c.Neighbours[i]
		if over := min(s.Time, to).Sub(max(s.Since, from)); over > 0 {
			used[s.Comm] += diagnosis.ShareOf(int64(over), int64(s.Time.Sub(s.Since))).Of(Duration(s.CPU))
		}
	}
	var names []string
	for name := range used {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(used[b], used[a]), cmp.Compare(a, b)) })
	all := int64(to.Sub(from)) * max(1, c.Manifest.CPUs)
	var said []string
	for i, name := range names {
		part := diagnosis.ShareOf(int64(used[name]), all)
		n.share += part
		if i < 2 && part >= diagnosis.Whole/100 {
			said = append(said, name+" ("+diagnosis.Percent(part)+")")
			n.evidence = append(n.evidence, diagnosis.Part("of the processors' time was used by "+name+", which dwell does not watch", part))
		}
	}
	n.names = strings.Join(said, " and ")
	return n
}

// tookFrom returns what programs beside the service cost requests while they have the processors: their share of each
// wait of a thread for one, and what passes behind a thread that has a lock or a task and gets no processor. Goroutines
// in the queue of their runtime wait for each other. Its callers share it.
func tookFrom(c *diagnosis.Case) []diagnosis.Span { return slices.Clip(neighboursTook(c).all) }

// tookFromWork returns the part of that in which threads wait that compute for a request. A thread that computes beside
// other programs is preempted again and again, the more often the more it computes. That goes with the work. Its
// callers share it.
func tookFromWork(c *diagnosis.Case) []diagnosis.Span { return slices.Clip(neighboursTook(c).work) }

type taken struct{ all, work []diagnosis.Span }

func neighboursTook(c *diagnosis.Case) *taken {
	return c.Once("neighbours took", func() any {
		h, out := hostLoad(c), &taken{}
		if others := besideUs(c); !h.known || h.busy < c.Saturated && others.share < competes || !othersHave(c, h) {
			return out
		}
		_, theirs := inFront(c)
		putOff, many := []bool(nil), 0
		ready := c.SpansOf(timeline.CauseRunnable, func(_ *timeline.Request, g *timeline.Segment) bool {
			if !ofThread(c, g) {
				return false
			}
			ran := ranBefore(c, g)
			if putOff = append(putOff, ran); ran {
				many++
			}
			return true
		})
		out.work = make([]diagnosis.Span, 0, many)
		for i := range ready {
			if ready[i].From += diagnosis.Time((diagnosis.Whole - theirs).Of(ready[i].To.Sub(ready[i].From))); putOff[i] {
				out.work = append(out.work, ready[i])
			}
		}
		out.all = c.Merged(append(ready, behindReady(c)...))
		return out
	}).(*taken)
}

// ranBefore reports whether a thread that is ready to run was preempted: it ran before, and nothing woke it.
func ranBefore(c *diagnosis.Case, g *timeline.Segment) bool {
	if g.Strand == timeline.None {
		return false
	}
	list := c.Strands[g.Strand].Intervals
	i := sort.Search(len(list), func(k int) bool { return list[k].To > g.From })
	return i > 0 && i < len(list) && list[i].State == timeline.StateRunnable && list[i-1].State == timeline.StateRunning
}

// inFront returns the shares of the service's own work, and of other programs, in what threads wait behind for a
// processor. If what had the processors was not recorded, they are the shares of what was used of them.
func inFront(c *diagnosis.Case) (own, others diagnosis.Share) {
	own, others, known := ahead(c).shares()
	if !known {
		own = diagnosis.Whole
		if h := hostLoad(c); h.known && h.busy > 0 {
			own = min(diagnosis.Whole, diagnosis.ShareOf(int64(ours(c)), int64(h.busy)))
		}
		others = diagnosis.Whole - own
	}
	return own, others
}

// ofThread reports whether a thread waits in a segment, and not a goroutine in the queue of its runtime.
func ofThread(c *diagnosis.Case, g *timeline.Segment) bool {
	return g.Strand == timeline.None || c.Strands[g.Strand].Goroutine == recording.NoGoroutine
}

// used says who used the processors, to follow a title. Of other programs it is known what they all used, and what each
// one used that ran for long enough to be counted.
func (n *neighbours) used(busy, own diagnosis.Share) string {
	text := "; the service used " + diagnosis.Percent(own) + " of the processors"
	if busy-own >= diagnosis.Whole/100 {
		text += ", others " + diagnosis.Percent(busy-own)
		switch {
		case n.names != "":
			text += ", mostly by programs named " + n.names
		case n.share == 0:
			text += " (their names were not recorded)"
		}
	}
	return text
}

// fix says what would give the service more of the processors.
func (n *neighbours) fix(busy, own diagnosis.Share) string {
	if busy-own < competes {
		return "give the service more CPU, or make its computations cheaper"
	}
	return "give the service more CPU, or move the programs that compete with it: " + cmp.Or(n.names, "see what else runs there (top, systemd-cgtop)")
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
		a := &inFrontOf{programs: tally{}}
		c.SpansOf(timeline.CauseRunnable, func(r *timeline.Request, g *timeline.Segment) bool {
			if id := g.Strand; id != timeline.None {
				a.wait(c, &c.Strands[id], g)
			} else if r.Strand != timeline.None {
				a.wait(c, &c.Strands[r.Strand], g)
			}
			return false
		})
		return a
	}).(*inFrontOf)
}

// wait counts one wait of a strand.
func (a *inFrontOf) wait(c *diagnosis.Case, st *timeline.Strand, g *timeline.Segment) {
	list := st.Intervals
	if st.Goroutine != recording.NoGoroutine {
		list = readyThreads(c)[st.Process]
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

// readyThreads returns, of each process, when at least one of its threads waited for a processor, in order and disjoint;
// its callers share it.
func readyThreads(c *diagnosis.Case) map[recording.ProcessID][]timeline.Interval {
	return c.Once("ready threads", func() any {
		ready := map[recording.ProcessID][]timeline.Interval{}
		for i := range c.Strands {
			if st := &c.Strands[i]; st.Goroutine == recording.NoGoroutine {
				for _, iv := range st.Intervals {
					if iv.State == timeline.StateRunnable {
						ready[st.Process] = append(ready[st.Process], iv)
					}
				}
			}
		}
		for p, list := range ready {
			slices.SortStableFunc(list, func(a, b timeline.Interval) int { return cmp.Compare(a.From, b.From) })
			ready[p] = oneAtATime(list)
		}
		return ready
	}).(map[recording.ProcessID][]timeline.Interval)
}

// oneAtATime cuts from each interval of a list in order what an earlier one has.
func oneAtATime(list []timeline.Interval) []timeline.Interval {
	out := list[:0]
	for _, iv := range list {
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
	others, names, named := a.others(all, cpus)
	list := []front{
		{"behind other threads of the service", "", "about its own threads: ", ownThreads(c), a.turns + a.own},
		{"behind other programs", names, "about other programs: ", named, others},
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
	if p := servingProcess(c); p.CPUs > 0 && p.CPUs < c.Manifest.CPUs {
		return "let the service use more than " + diagnosis.Thousands(p.CPUs) + " of the host's " + diagnosis.Thousands(c.Manifest.CPUs) + " processors (taskset, cpusets), and record again"
	}
	if 4*c.Time() < c.BusyTime() { // when one comes, another is open in less than a quarter of the time
		return "requests seldom overlap, so the threads in the way work for the same request or are the runtime's own (Linux often puts a thread on the processor of the one that wakes it): accept these waits"
	}
	return "let fewer requests compute at once, or give the host more processors, and record again"
}

// recorder is the name of dwell's own processes, which nobody has to move.
const recorder = "dwell"

// others returns how long waits were behind programs that are not watched, names the two with the largest parts, and says
// what to do about them.
func (a *inFrontOf) others(all Duration, cpus int64) (sum Duration, shares, decide string) {
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
		if f.name != recorder {
			called = append(called, f.name)
		}
		said = append(said, f.name+" "+diagnosis.Percent(diagnosis.ShareOf(int64(f.time), int64(all))))
	}
	elsewhere := "to another host for a while"
	if cpus >= 4 {
		elsewhere = "to other processors (taskset, cpusets) or another host"
	}
	decide = "move " + cmp.Or(strings.Join(called, " and "), "the programs that run then (pidstat 1 names them)") + " " + elsewhere + ", and record again"
	switch {
	case len(said) == 0:
		return sum, "", decide
	case len(called) == 0:
		decide = "accept the waits for dwell itself"
	}
	if list[0].time == sum {
		said = []string{list[0].name}
	}
	return sum, " (" + strings.Join(said, ", ") + ")", decide
}
