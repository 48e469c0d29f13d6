package hypotheses

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/symbol"
	"github.com/getdwell/dwell/recording"
)

// spared returns the share of the waits behind a computing holder that goes without the lock. The work itself stays,
// and shares the processors. Of n jobs that come at once, each waits (n-1)/2 services behind a lock. If they get m
// times as much of the processors as one of them alone, each waits (n/m-1)/2.
func (k *contention) spared(c *diagnosis.Case) diagnosis.Share {
	n := max(20, int64(k.queue.tenths)+10) // waiters and the holder, in tenths
	m := k.parallel(c, n)
	if m <= 10 {
		return 0
	}
	return min(diagnosis.Whole, diagnosis.ShareOf(n*(m-10), m*(n-10)))
}

// parallel returns, in tenths, how many times as much of the processors n threads get as one alone (n is in tenths,
// too). The processors that the service's other threads use are not available. The rest is shared with the threads of
// others that want to run.
func (k *contention) parallel(c *diagnosis.Case, n int64) int64 {
	cpus := max(1, c.Manifest.CPUs) * 10
	h := hostLoad(c)
	if !h.known {
		return min(n, cpus)
	}
	wall := max(1, int64(c.BusyTime()))
	ran, wanted := k.deeds.demands()
	holders := int64(k.ran(c)) * 10 / wall
	cpus -= max(0, int64(ran)*10/wall-holders)
	others := max(0, h.running-10-int64(wanted)*10/wall)
	one := min(10, cpus*10/(10+others))
	if one <= 0 {
		return 10
	}
	return max(10, min(n, cpus*n/(n+others))*10/one)
}

// ran is how long holders were on a CPU while others waited.
func (k *contention) ran(c *diagnosis.Case) (d Duration) {
	for _, t := range k.deeds.tenures(k.lock) {
		d += c.Running(t.Strand, t.From, t.To)
	}
	return d
}

// without returns what requests would not wait if the lock were gone. Waits behind a holder that computes, or whose
// activity is not known, go in part; all others go completely.
func (k *contention) without(c *diagnosis.Case) (out []stay) {
	spared := k.spared(c)
	for i, s := range k.stays {
		p := &k.parts[i]
		s.To = s.From + diagnosis.Time(p[deedIO]+p[deedEntropy]+p[deedFault]+p[deedOther]+p[deedAsleep]+spared.Of(p[deedCPU]+p[deedUnknown]))
		if s.From < s.To {
			out = append(out, s)
		}
	}
	return out
}

// holder says who held a lock most of the time: one thread, or several of a pool.
func (k *contention) holder(c *diagnosis.Case) string {
	by, families := map[timeline.StrandID]Duration{}, tally{}
	var all Duration
	for i, d := range k.weights {
		if s := k.did[i].strand; d > 0 && s != timeline.None {
			by[s] += d
			families[family(c.Strands[s].Name)] += d
			all += d
		}
	}
	for s, d := range by {
		if len(by) > 1 && 2*d <= all {
			continue
		}
		if g := c.Strands[s].Goroutine; g != recording.NoGoroutine {
			return "goroutine " + strconv.FormatInt(int64(g), 10)
		}
		return threadName(c, s)
	}
	switch name, _ := families.most(); {
	case len(by) == 0 && runtimeOf(c, k.process(c)) == recording.RuntimeGo:
		return "an unknown goroutine"
	case len(by) == 0:
		return "an unknown thread"
	case goroutines(c, by):
		return diagnosis.Plural(len(by), "goroutine") + " in turn"
	case name == "":
		return diagnosis.Plural(len(by), "thread") + " in turn"
	default:
		return diagnosis.Plural(len(by), "thread") + " (" + name + ") in turn"
	}
}

// evidence is what was measured of a lock.
func (k *contention) evidence(c *diagnosis.Case) []diagnosis.Evidence {
	_, share := perMean(c, k.total)
	var have Duration
	length := 0
	for _, t := range k.deeds.tenures(k.lock) {
		have += t.To.Sub(t.From)
		length++
	}
	ev := []diagnosis.Evidence{
		whose(c, spansOf(k.stays)).inRequest("mean wait for it per request", "", k.total),
		diagnosis.Part("of all request time is spent waiting for it", share),
		diagnosis.Part("of that time the holder is known", diagnosis.ShareOf(int64(k.known()), int64(k.total))),
		diagnosis.Part("of that time the holder computes or waits for a processor", diagnosis.ShareOf(int64(k.by[deedCPU]), int64(k.total))),
		diagnosis.Part("of that time the holder itself waits for a peer, a disk or a timer", diagnosis.ShareOf(int64(k.by[deedIO]), int64(k.total))),
		diagnosis.Count("waiters at the same time at most", k.queue.most),
		{What: "mean number of waiters while anyone waits", Value: int64(k.queue.tenths) * 100, Unit: diagnosis.UnitRatio},
		diagnosis.NS("mean time that one holder had it while others waited", have/Duration(max(1, length))),
	}
	if k.queue.families > 1 {
		ev = append(ev, diagnosis.Count("thread pools wait behind one holder ("+strings.Join(k.queue.names[:min(4, len(k.queue.names))], ", ")+")", k.queue.families))
	}
	return ev
}

// place names a lock and the place in the process's code where it is taken.
func (k *contention) place(c *diagnosis.Case) string {
	if k.lock == timeline.None {
		return k.named(c)
	}
	where := site(c, c.Locks[k.lock].Stack)
	if f, ok := c.SiteOf(c.Locks[k.lock].Stack); ok && f.Type == recording.FrameGo && strings.HasSuffix(k.name, where) {
		return symbol.Place(f)
	}
	if where == "" || strings.Contains(k.name, where) {
		return k.name
	}
	return k.name + ", taken in " + where
}

// doing names the place in code where holders spent most of their time of one kind.
func (k *contention) doing(c *diagnosis.Case, kind deedKind) string {
	sites := lined{}
	for i, d := range k.weights {
		if d > 0 && k.did[i].kind == kind && k.did[i].stack != timeline.None {
			if f, found := c.SiteOf(k.did[i].stack); found {
				sites.add(c, f, d)
			}
		}
	}
	f, found := sites.most()
	if !found {
		return ""
	}
	return symbol.Place(f)
}

// behind says for whom, or in what, holders waited most of their time with the lock.
func (k *contention) behind(c *diagnosis.Case) string {
	what := tally{}
	for i, d := range k.weights {
		if d > 0 && k.did[i].kind == deedIO {
			what[waitedIn(c, &k.did[i])] += d
		}
	}
	name, _ := what.most()
	return cmp.Or(name, "something")
}

// aTimer names what a holder that sleeps waits for.
const aTimer = "a timer"

func waitedIn(c *diagnosis.Case, d *deed) string {
	if d.call != timeline.None {
		call := &c.Calls[d.call]
		if call.Operation != "" {
			return call.Peer + " (" + call.Operation + ")"
		}
		return call.Peer
	}
	switch d.cause {
	case timeline.CauseDisk:
		return "a disk"
	case timeline.CauseSleep:
		return aTimer
	}
	if d.syscall != "" && writing(c, d) {
		return "the reader of what it writes (" + d.syscall + ")"
	}
	if d.syscall != "" {
		return "a socket or file (" + d.syscall + ")"
	}
	return ""
}
