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

// probeSet is a set of probes that come and go together. That waits for the kernel, for
// longer than the event buffer may be left alone: it is done beside the recording.
type probeSet struct {
	what string // it tells, to be said where that is missing
	code string // of that
	name string // of the set, in the facts that say when it was away
	rank int    // the lower, the more important
	park int    // which of the sets of probes on waits it is, from 1 on; 0: none
	hit  time.Duration
	hits func() (hits uint64, programs time.Duration) // so far, and what the programs took

	changing sync.Mutex     // held while probes come or go
	left     recording.Time // when they last began to go
	absences []absence      // that are over
	probes   []probe
	links    map[int][]io.Closer // of all probes by process, or none

	off      bool // taken away, or on the way
	detached int64
	spared   time.Duration
	since    time.Time // of that, now
	rested   time.Time // when it may come back
	trials   float64   // of one CPU: what it may cost until then, spread over that

	measured time.Duration // what its hits cost dwell, when it was found out what one costs
	spent    time.Duration // at the last reading
	stint    time.Duration // since the probes came
	lately   lately
	grown    atomic.Bool // probes were added since
}

// lately is what probes cost, and for how long they were there, of late.
type lately struct{ cost, there time.Duration }

// rateOver is the time over which costs are averaged.
const rateOver = time.Second

// cost is what the probes have cost, traps included.
func (p *probeSet) cost() time.Duration {
	hits, programs := p.hits()
	return programs + time.Duration(hits)*p.hit
}

// charge returns what the probes have cost since the last call, in the time passed.
func (p *probeSet) charge(now time.Time, passed time.Duration) time.Duration {
	total := p.cost()
	cost := total - p.spent
	p.spent = total
	if p.off { // met while they were being taken away
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

// rate is what the probes cost lately while they were there, as a share of one CPU.
func (p *probeSet) rate() float64 {
	return float64(p.lately.cost) / float64(max(p.lately.there, time.Millisecond))
}

// change takes the probes away, or brings them back, beside what runs now. It reports
// false if they are still coming or going.
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

// absence is a span in which probes were away, or on their way.
type absence struct{ from, to recording.Time }

// takeAbsences hands over those that are over and were not handed over before; at the end
// of the recording, the one that is not over, too.
func (p *probeSet) takeAbsences(end bool) []absence {
	if end {
		p.changing.Lock()
	} else if !p.changing.TryLock() {
		return nil // they come or go right now
	}
	defer p.changing.Unlock()
	out := p.absences
	p.absences = nil
	if end && p.off {
		out = append(out, absence{p.left, clock()})
	}
	return out
}

// add hooks up the probes of one process, unless the set is away: then they wait with
// the others.
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

// forget drops the probes of a process that has ended, and what they hold open.
func (p *probeSet) forget(pid int) {
	p.changing.Lock()
	links := p.links[pid]
	delete(p.links, pid)
	p.probes = slices.DeleteFunc(p.probes, func(x probe) bool { return x.site.pid == pid })
	p.changing.Unlock()
	closeAll(links)
}

// detach takes the probes away.
func (p *probeSet) detach() {
	closeAll(p.hooked())
	p.links = nil
}

// hooked are the links of all processes.
func (p *probeSet) hooked() []io.Closer {
	return slices.Concat(slices.Collect(maps.Values(p.links))...)
}

// attach brings them back; those of processes that have ended, or run another program, are
// given up.
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

// byFile divides probes by their process and the file in which they are.
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

// spare is for how long the probes were away.
func (p *probeSet) spare(now time.Time) time.Duration {
	if p.off {
		return p.spared + now.Sub(p.since)
	}
	return p.spared
}

// hook attaches the probes of one file in one process: all of them, or none.
func hook(probes []probe) (links []io.Closer, err error) {
	offsets := map[*ebpf.Program][]uint64{}
	var programs []*ebpf.Program // in order: what ends a wait comes before what begins one
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

// closeAll takes probes away all at once: for each the kernel waits a tenth of a second,
// and as long as a probe is there it costs.
func closeAll(links []io.Closer) {
	var all sync.WaitGroup
	for _, l := range links {
		all.Go(func() { l.Close() })
	}
	all.Wait()
}
