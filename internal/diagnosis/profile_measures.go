package diagnosis

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Names of measures that Unexercised looks at.
const (
	threadsAtOnce    = "threads that ran or were ready at once, most"
	goroutinesAtOnce = "goroutines that ran within 100 ms, most"
	coresUsed        = "processors in use, mean"
	threadsReady     = "threads that wait for a processor, mean"
	requestsAtOnce   = "requests in progress at once, most"
	syncsWaited      = "syncs that waited"
	largestFile      = "largest file that was waited for"
	residentMemory   = "memory of one process, most"
	fetchedBytes     = "read from storage"
	majorFaults      = "page faults that read from storage"
	lockContention   = "threads or goroutines that wait for a lock, mean"
)

// goroutineWindow is the length of the windows in which running goroutines are counted.
const goroutineWindow = Duration(100_000_000)

// concurrency measures how much ran at once.
func (p *profiler) concurrency() {
	var run, ready []edge
	threads := 0
	var runnable Duration
	for _, s := range p.strands {
		ran := false
		for _, iv := range p.t.Strands[s].Intervals {
			switch iv.State {
			case timeline.StateRunning:
				run = append(run, edge{iv.From, 1}, edge{iv.To, -1})
				ran = true
			case timeline.StateRunnable:
				ready = append(ready, edge{iv.From, 1}, edge{iv.To, -1})
				runnable += iv.To.Sub(iv.From)
			}
		}
		threads += b2i(ran)
	}
	p.add("concurrency", "threads that ran", int64(threads), UnitCount)
	p.add("concurrency", threadsAtOnce, mostAtOnce(append(run, ready...)), UnitCount)
	if all, most := p.goroutines(); all > 0 {
		p.add("concurrency", "goroutines seen", all, UnitCount)
		p.add("concurrency", goroutinesAtOnce, most, UnitCount)
	}
	p.add("cpu", coresUsed, p.mean(p.out.CPU), UnitRatio)
	p.add("cpu", threadsReady, p.mean(runnable), UnitRatio)
}

// edge is a change in a number of simultaneous things.
type edge struct {
	at   Time
	step int64
}

func mostAtOnce(edges []edge) (most int64) {
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.step, b.step)) })
	n := int64(0)
	for _, e := range edges {
		n += e.step
		most = max(most, n)
	}
	return most
}

// goroutines counts those that were seen on threads, in all and at most in one window. A goroutine that ran between two
// observations is not seen.
func (p *profiler) goroutines() (all, most int64) {
	type at struct {
		process   recording.ProcessID
		goroutine recording.GoroutineID
		window    Duration
	}
	seen, counts, inGo := map[at]bool{}, map[Duration]int64{}, map[recording.ProcessID]bool{}
	for i := range p.t.Processes {
		inGo[p.t.Processes[i].ID] = p.t.Processes[i].Runtime == recording.RuntimeGo
	}
	see := func(id recording.ProcessID, g recording.GoroutineID, t Time) {
		if g == recording.NoGoroutine || !inGo[id] { // before its exec, what dwell run starts is dwell itself, in Go
			return
		}
		if k := (at{id, g, -1}); !seen[k] {
			seen[k] = true
			all++
		}
		if k := (at{id, g, t.Sub(p.t.Start) / goroutineWindow}); !seen[k] {
			seen[k] = true
			counts[k.window]++
		}
	}
	for _, s := range p.strands {
		strand := &p.t.Strands[s]
		for _, iv := range strand.Intervals {
			if iv.Off != nil {
				see(strand.Process, iv.Off.Goroutine, iv.From)
			}
		}
		for _, x := range strand.Stacks {
			see(strand.Process, x.Goroutine, x.Time)
		}
	}
	for i := range p.t.Requests {
		r := &p.t.Requests[i]
		if r.Strand != timeline.None && p.member[r.Process] {
			see(r.Process, p.t.Strands[r.Strand].Goroutine, r.FirstRead)
		}
	}
	for _, n := range counts {
		most = max(most, n)
	}
	return all, most
}

// waits measures how many strands waited, by cause; idle ones are left out.
func (p *profiler) waits() {
	var by [timeline.NumCauses]Duration
	for i := range p.t.Waits {
		w := &p.t.Waits[i]
		if p.member[p.t.Strands[w.Strand].Process] && w.Rule != timeline.RuleIdle {
			by[w.Cause] += w.To.Sub(w.From)
		}
	}
	p.add("waits", lockContention, p.mean(by[timeline.CauseLock]), UnitRatio)
	for _, c := range []timeline.Cause{timeline.CauseInterpreterLock, timeline.CausePool, timeline.CauseCondition,
		timeline.CauseDisk, timeline.CausePageFault, timeline.CauseGC, timeline.CauseSleep} {
		if by[c] > 0 {
			p.add("waits", "in waits of cause "+c.String()+", mean", p.mean(by[c]), UnitRatio)
		}
	}
}

// storage measures what was read, written and synced.
func (p *profiler) storage() {
	if !p.t.Recorded(recording.HookStorage) {
		return
	}
	var u timeline.Usage
	for id := range p.member {
		one := p.t.Usage(id, p.from, p.to)
		u = timeline.Usage{Minor: u.Minor + one.Minor, Major: u.Major + one.Major, Fetched: u.Fetched + one.Fetched, In: u.In + one.In, Out: u.Out + one.Out}
	}
	var syncs []Duration
	largest := int64(0)
	for i := range p.t.Syncs {
		if s := &p.t.Syncs[i]; p.member[p.t.Strands[s.Strand].Process] {
			syncs = append(syncs, s.To.Sub(s.From))
		}
	}
	for _, s := range p.strands {
		for _, w := range p.t.Strands[s].Waits {
			if off := p.t.Waits[w].Off; off != nil && p.t.Files[off.File] != nil {
				largest = max(largest, p.t.Files[off.File].Size)
			}
		}
	}
	slices.Sort(syncs)
	p.add("storage", syncsWaited, p.rate(int64(len(syncs))), UnitRate)
	if len(syncs) > 0 {
		p.add("storage", "p99 of those syncs", int64(Quantile(syncs, 99)), UnitNS)
	}
	p.add("storage", "returned by read calls, sockets included", p.rate(u.In), UnitByteRate)
	p.add("storage", "taken by write calls, sockets included", p.rate(u.Out), UnitByteRate)
	p.add("storage", fetchedBytes, p.rate(u.Fetched), UnitByteRate)
	p.add("storage", "page faults", p.rate(u.Minor+u.Major), UnitRate)
	p.add("storage", majorFaults, p.rate(u.Major), UnitRate)
	p.add("storage", largestFile, largest, UnitBytes)
	resident := int64(0)
	for i := range p.t.Memory {
		if m := &p.t.Memory[i]; p.member[m.Process] {
			resident = max(resident, m.Resident)
		}
	}
	p.add("storage", residentMemory, resident, UnitBytes)
}

// requests measures what was served and requested.
func (p *profiler) requests() {
	var edges []edge
	served, calls := int64(0), int64(0)
	for i := range p.t.Requests {
		if r := &p.t.Requests[i]; p.member[r.Process] {
			edges = append(edges, edge{r.Start, 1}, edge{r.End, -1})
			served++
		}
	}
	for i := range p.t.Calls {
		if p.member[p.t.Calls[i].Process] {
			calls++
		}
	}
	p.add("requests", "requests", p.rate(served), UnitRate)
	p.add("requests", requestsAtOnce, mostAtOnce(edges), UnitCount)
	p.add("requests", "outgoing calls", p.rate(calls), UnitRate)
}
