//go:build linux && (amd64 || arm64)

package capture

import (
	"io"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cilium/ebpf"

	"github.com/getdwell/dwell/recording"
)

// probe is a program at a place in the code of one process.
type probe struct {
	site    probeSite
	program *ebpf.Program
}

// probeSet is a set of probes that are attached and detached together. That waits for the kernel, for longer than
// the event buffer may be left unread. So it is done beside the recording.
type probeSet struct {
	what string // what it reports, named in the message if that is missing
	code string // the code of that message
	name string // of the set, in the facts that say when it was away
	rank int    // lower is more important
	park int    // which of the sets of probes on waits it is, from 1 on; 0: none
	hit  time.Duration
	hits func() (hits uint64, programs time.Duration) // so far, and the time that the programs took

	changing sync.Mutex     // held while probes are attached or detached
	left     recording.Time // when they last began to be detached
	absences []absence      // that are over
	probes   []probe
	links    map[int][]io.Closer // of all probes by process; none while detached

	off      bool // detached, or being detached
	detached int64
	spared   time.Duration
	since    time.Time // when the current absence began
	rested   time.Time // when it may come back
	trials   float64   // as a share of one CPU: its cost is spread over its rest at this share

	measured time.Duration // what dwell's own hits cost, with which it measured the cost of one
	spent    time.Duration // the cost at the last reading
	stint    time.Duration // the cost since the probes were attached
	lately   lately
	grown    atomic.Bool // probes were added since the last charge
}

// lately is what probes cost recently, and for how long they were attached.
type lately struct{ cost, there time.Duration }

// rateOver is the time over which costs are averaged.
const rateOver = time.Second

// cost is what the probes have cost, traps included.
func (p *probeSet) cost() time.Duration {
	hits, programs := p.hits()
	return programs + time.Duration(hits)*p.hit
}

// charge returns what the probes have cost since the last call, which was the given time ago.
func (p *probeSet) charge(now time.Time, passed time.Duration) time.Duration {
	total := p.cost()
	cost := total - p.spent
	p.spent = total
	if p.off { // hit while they were being detached
		p.rested = p.rested.Add(paid(cost, p.trials))
		return cost
	}
	if p.grown.Swap(false) {
		p.lately = lately{}
	}
	fades := math.Exp(-float64(passed) / float64(rateOver))
	p.lately.cost = time.Duration(float64(p.lately.cost)*fades) + cost
	p.lately.there = time.Duration(float64(p.lately.there)*fades) + passed
	p.stint += cost
	return cost
}

// rate is what the probes cost recently while they were attached, as a share of one CPU.
func (p *probeSet) rate() float64 {
	return float64(p.lately.cost) / float64(max(p.lately.there, time.Millisecond))
}

// change detaches the probes, or attaches them again, beside the recording. It returns false if they are still
// being attached or detached.
func (p *probeSet) change(now time.Time, beside func(func())) bool {
	if !p.changing.TryLock() {
		return false
	}
	do := p.detach
	if p.off {
		p.spared += now.Sub(p.since)
		p.stint, p.lately = 0, lately{}
		do = p.attach
	} else {
		p.detached++
		p.since = now
	}
	p.off = !p.off
	back := !p.off
	if !back {
		p.left = clock()
	}
	beside(func() {
		defer p.changing.Unlock()
		if do(); back {
			p.absences = append(p.absences, absence{p.left, clock()})
		}
	})
	return true
}

// absence is a span in which probes were detached, or were being attached or detached.
type absence struct{ from, to recording.Time }

// takeAbsences returns the absences that are over and were not returned before. At the end of the recording it also
// returns the one that is not over.
func (p *probeSet) takeAbsences(end bool) []absence {
	if end {
		p.changing.Lock()
	} else if !p.changing.TryLock() {
		return nil // probes are being attached or detached
	}
	defer p.changing.Unlock()
	out := p.absences
	p.absences = nil
	if end && p.off {
		out = append(out, absence{p.left, clock()})
	}
	return out
}

// add attaches the probes of one process. If the set is detached, they wait with the others.
func (p *probeSet) add(probes []probe) error {
	p.changing.Lock()
	defer p.changing.Unlock()
	if len(probes) == 0 || slices.Contains(p.probes, probes[0]) {
		return nil
	}
	if !p.off {
		links, err := hook(probes)
		if err != nil {
			return err
		}
		p.keep(probes[0].site.pid, links)
	}
	p.probes = append(p.probes, probes...)
	p.grown.Store(true)
	return nil
}

func (p *probeSet) keep(pid int, links []io.Closer) {
	if p.links == nil {
		p.links = map[int][]io.Closer{}
	}
	p.links[pid] = append(p.links[pid], links...)
}

// forget drops the probes of a process that has ended, and closes what they hold open.
func (p *probeSet) forget(pid int) {
	p.changing.Lock()
	links := p.links[pid]
	delete(p.links, pid)
	p.probes = slices.DeleteFunc(p.probes, func(x probe) bool { return x.site.pid == pid })
	p.changing.Unlock()
	closeAll(links)
}

// detach detaches the probes.
func (p *probeSet) detach() {
	closeAll(p.hooked())
	p.links = nil
}

// hooked lists the links of all processes.
func (p *probeSet) hooked() []io.Closer {
	return slices.Concat(slices.Collect(maps.Values(p.links))...)
}

// attach attaches the probes again. It drops those of processes that have ended or run another program.
func (p *probeSet) attach() {
	var kept []probe
	for _, probes := range byFile(p.probes) {
		links, err := hook(probes)
		if err != nil {
			continue
		}
		p.keep(probes[0].site.pid, links)
		kept = append(kept, probes...)
	}
	p.probes = kept
}

// byFile groups probes by their process and their file.
func byFile(probes []probe) (out [][]probe) {
	at := map[probeSite]int{}
	for _, x := range probes {
		site := probeSite{pid: x.site.pid, file: x.site.file}
		i, ok := at[site]
		if !ok {
			i, at[site] = len(out), len(out)
			out = append(out, nil)
		}
		out[i] = append(out[i], x)
	}
	return out
}

// spare is how long the probes have been detached in total.
func (p *probeSet) spare(now time.Time) time.Duration {
	if p.off {
		return p.spared + now.Sub(p.since)
	}
	return p.spared
}

// hook attaches the probes of one file in one process: all of them, or none.
func hook(probes []probe) (links []io.Closer, err error) {
	offsets := map[*ebpf.Program][]uint64{}
	var programs []*ebpf.Program // in order: the program for the end of a wait comes before the one for its beginning
	for _, x := range probes {
		if offsets[x.program] == nil {
			programs = append(programs, x.program)
		}
		offsets[x.program] = append(offsets[x.program], x.site.offset)
	}
	for _, program := range programs {
		added, err := probes[0].site.attach(program, offsets[program])
		links = append(links, added...)
		if err != nil {
			closeAll(links)
			return nil, err
		}
	}
	return links, nil
}

// closeAll detaches probes, all at once: the kernel waits a tenth of a second for each, and a probe costs time as
// long as it is attached.
func closeAll(links []io.Closer) {
	var all sync.WaitGroup
	for _, l := range links {
		all.Go(func() { l.Close() })
	}
	all.Wait()
}
