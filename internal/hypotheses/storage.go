package hypotheses

import (
	"slices"
	"strconv"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// storage is what the processes that serve did with storage while they served, whether or not a request waited for it.
type storage struct {
	known bool // it was recorded
	timeline.Usage
	syncs    []Duration // that waited, in order of length
	requests int
	growth   growth
	device   device
}

// attendance is when requests were served, and by which processes.
type attendance struct {
	from, to diagnosis.Time
	serving  map[recording.ProcessID]bool
}

func serving(c *diagnosis.Case) attendance {
	w := attendance{c.End, c.Start, map[recording.ProcessID]bool{}}
	for _, id := range c.Measured() {
		r := &c.Requests[id]
		w.from, w.to = min(w.from, r.Start), max(w.to, r.End)
		w.serving[r.Process] = true
	}
	return w
}

func storageOf(c *diagnosis.Case) storage {
	s := storage{known: c.Recorded(recording.HookStorage), requests: len(c.Overall.Requests)}
	if !s.known || s.requests == 0 {
		return s
	}
	w := serving(c)
	s.growth, s.device = growthOf(c, w), busiestDevice(c, w.from, w.to)
	for _, p := range c.Processes {
		if w.serving[p.ID] {
			u := c.Usage(p.ID, w.from, w.to)
			s.Minor, s.Major, s.Fetched = s.Minor+u.Minor, s.Major+u.Major, s.Fetched+u.Fetched
		}
	}
	for i := range c.Syncs {
		if y := &c.Syncs[i]; w.serving[c.Strands[y.Strand].Process] && y.To > w.from && y.From < w.to {
			s.syncs = append(s.syncs, y.To.Sub(y.From))
		}
	}
	slices.Sort(s.syncs)
	return s
}

// syncP99 is the p99 of the syncs; 0 if none waited.
func (s *storage) syncP99() Duration { return diagnosis.Quantile(s.syncs, 99) }

// diskEvidence returns numbers about the whole service.
func (s *storage) diskEvidence() []diagnosis.Evidence {
	if !s.known {
		return nil
	}
	ev := []diagnosis.Evidence{
		diagnosis.Count("syncs of the service that waited for a device", len(s.syncs)),
		diagnosis.NS("p99 of those syncs", s.syncP99()),
		{What: "read by the service from storage", Value: s.Fetched, Unit: diagnosis.UnitBytes},
	}
	return append(ev, s.device.evidence()...)
}

// diskWords says them if no request waited for a disk.
func (s *storage) diskWords() string {
	text := "no request waited for a disk: the service read " + diagnosis.Bytes(s.Fetched) + " from storage, and "
	if len(s.syncs) == 0 {
		return text + "no sync waited, during " + diagnosis.Plural(s.requests, "request")
	}
	return text + diagnosis.Plural(len(s.syncs), "sync") + " waited (p99 " + diagnosis.Human(s.syncP99()) + "), during " +
		diagnosis.Plural(s.requests, "request")
}

// faultEvidence returns numbers about the whole service.
func (s *storage) faultEvidence() []diagnosis.Evidence {
	if !s.known {
		return nil
	}
	ev := []diagnosis.Evidence{
		diagnosis.Count("page faults of the service", int(s.Minor+s.Major)),
		diagnosis.Count("page faults that read from storage", int(s.Major)),
	}
	return append(ev, s.growth.evidence()...)
}

// faultWords says them if no request slept in a page fault.
func (s *storage) faultWords() string {
	return "no request slept in a page fault: the service had " + perRequestText(s.Minor+s.Major, s.requests) + " page faults per request, and " +
		diagnosis.Thousands(s.Major) + " in all read from storage" + s.growth.words()
}

// perRequestText prints how many there are for each request, with one decimal.
func perRequestText(n int64, requests int) string {
	tenths := n * 10 / int64(max(1, requests))
	return diagnosis.Thousands(tenths/10) + "." + strconv.FormatInt(tenths%10, 10)
}
