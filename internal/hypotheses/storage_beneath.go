package hypotheses

import (
	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// device is the block device at which requests of the whole host spent the most time while the service served.
type device struct {
	known    bool
	name     string
	count    int64
	time     Duration // of its requests, summed up: waiting for it and in it
	p99      Duration // of a request in the worst second, at most: within a factor of two
	observed Duration
}

func busiestDevice(c *diagnosis.Case, from, to diagnosis.Time) device {
	d := device{known: watchedAll(c, recording.HookBlocks), observed: to.Sub(from)}
	all := map[string]*device{}
	for i := range c.Blocks {
		b := &c.Blocks[i]
		if b.To <= from || b.From >= to {
			continue
		}
		x := all[b.Device]
		if x == nil {
			x = &device{known: true, name: b.Device, observed: d.observed}
			all[b.Device] = x
		}
		x.count += b.Count
		x.time += Duration(b.Queued + b.Serviced)
		x.p99 = max(x.p99, Duration(b.P99))
	}
	for _, x := range all {
		if x.time > d.time || x.time == d.time && x.time > 0 && x.name < d.name {
			d = *x
		}
	}
	return d
}

// watchedAll reports whether a hook was active all the time: some are ended when they cost too much, and then not all
// was counted.
func watchedAll(c *diagnosis.Case, hook string) bool {
	for _, m := range c.Missing {
		if m.What == hook {
			return false
		}
	}
	return c.Recorded(hook)
}

// evidence says how busy it was. The number of requests at once is their summed time divided by that of the clock.
func (d *device) evidence() []diagnosis.Evidence {
	if !d.known || d.observed <= 0 {
		return nil
	}
	if d.name == "" {
		return []diagnosis.Evidence{diagnosis.Count("requests to block devices", 0)}
	}
	return []diagnosis.Evidence{
		diagnosis.Rate("requests to the device "+d.name, int(d.count), d.observed),
		{What: "average number of device requests in flight", Value: int64(d.time) * 1000 / int64(d.observed), Unit: diagnosis.UnitRatio},
		diagnosis.NS("p99 of device requests in the worst second, within a factor of two", d.p99),
	}
}

// growth is what a service did to its address space while it served.
type growth struct {
	known    bool
	mappings int   // of a file from 1 MiB on, of memory from 16 MiB on
	larger   int   // of them: those of a file that was mapped smaller before, or by mremap
	largest  int64 // bytes
	waits    int   // of a thread for the lock of the address space
	waited   Duration
	longest  Duration
}

func growthOf(c *diagnosis.Case, w attendance) growth {
	g := growth{known: watchedAll(c, recording.HookMemory)}
	for i := range c.Mappings {
		m := &c.Mappings[i]
		if m.At < w.from || m.At >= w.to || m.Strand == timeline.None || !w.serving[c.Strands[m.Strand].Process] {
			continue
		}
		g.mappings++
		if m.Before > 0 && m.Bytes > m.Before {
			g.larger++
		}
		g.largest = max(g.largest, m.Bytes)
	}
	for i := range c.MemoryWaits {
		x := &c.MemoryWaits[i]
		if x.To <= w.from || x.From >= w.to || !w.serving[c.Strands[x.Strand].Process] {
			continue
		}
		g.waits++
		g.waited += x.To.Sub(x.From)
		g.longest = max(g.longest, x.To.Sub(x.From))
	}
	return g
}

func (g *growth) evidence() []diagnosis.Evidence {
	if !g.known {
		return nil
	}
	ev := []diagnosis.Evidence{
		diagnosis.Count("mappings of files of at least 1 MiB, and of memory of at least 16 MiB", g.mappings),
		diagnosis.Count("mappings larger than the one before", g.larger),
		diagnosis.Count("waits for the lock of the address space", g.waits),
	}
	if g.waits > 0 {
		ev = append(ev, diagnosis.NS("longest wait for that lock", g.longest))
	}
	return ev
}

// words continues a sentence about page faults.
func (g *growth) words() string {
	if !g.known {
		return ""
	}
	text := "; " + diagnosis.Plural(g.mappings, "large mapping") + " (" + diagnosis.Thousands(int64(g.larger)) + " of a file that has grown)"
	if g.waits == 0 {
		return text + ", no wait for the lock of the address space"
	}
	return text + ", " + diagnosis.Plural(g.waits, "wait") + " for the lock of the address space (longest " + diagnosis.Human(g.longest) + ")"
}

// behindMemoryLock returns the share of time in page faults that was spent waiting for the lock of the address space,
// and which thread changed the address space for most of it; "" not known.
func behindMemoryLock(c *diagnosis.Case, s *spent) (diagnosis.Share, string) {
	var behind Duration
	owners := tally{}
	for i := range s.stays {
		w := s.stays[i].wait
		if w == timeline.None || c.Waits[w].Rule != timeline.RuleMemoryLock {
			continue
		}
		took := s.stays[i].To.Sub(s.stays[i].From)
		behind += took
		owners[memoryOwner(c, &c.Waits[w])] += took
	}
	name, _ := owners.most()
	return diagnosis.ShareOf(int64(behind), int64(s.total)), name
}

// memoryOwner names the thread that changed the address space when a wait began.
func memoryOwner(c *diagnosis.Case, w *timeline.Wait) string {
	if x := c.MemoryWaitIn(w.Strand, w.From, w.To); x != nil && x.Owner != timeline.None {
		return threadName(c, x.Owner)
	}
	return ""
}
