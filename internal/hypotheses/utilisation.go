package hypotheses

import (
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

const (
	milli  Duration = 1_000_000
	second Duration = 1_000_000_000
)

// watchedSlow is how many slow requests stand for all of them if each costs a walk over a strand's intervals.
const watchedSlow = 100

// demand returns the share of a span in which a strand ran or wanted to run.
func demand(c *diagnosis.Case, id timeline.StrandID, from, to diagnosis.Time) diagnosis.Share {
	asleep := c.In(id, timeline.StateSleeping, from, to) + c.In(id, timeline.StateDisk, from, to) + c.In(id, timeline.StateUnknown, from, to)
	return diagnosis.Whole - diagnosis.ShareOf(int64(asleep), int64(to.Sub(from)))
}

// around returns the second around a request's start, within what was recorded and the time in which requests were
// measured.
func around(c *diagnosis.Case, r *timeline.Request) (from, to diagnosis.Time) {
	first, last := c.Busy()
	half, window := diagnosis.Time(second/2), c.WindowAt(r.Start)
	return max(first, window.From, r.Start-half), min(last, window.To, r.Start+half)
}

// loopDemand returns the loop that slow requests depend on, and for how much of the time it wanted to run while they
// arrived; None if they depend on none.
func loopDemand(c *diagnosis.Case) (busiest diagnosis.Share, loop timeline.StrandID) {
	loop = timeline.None
	for i := range c.Symptoms {
		slow := c.Symptoms[i].Slow
		step := max(1, len(slow)/watchedSlow)
		sums, counts := map[timeline.StrandID]diagnosis.Share{}, map[timeline.StrandID]diagnosis.Share{}
		for k := 0; k < len(slow); k += step {
			r := &c.Requests[slow[k]]
			if r.Strand == timeline.None || !c.Strands[r.Strand].Loop {
				continue
			}
			from, to := around(c, r)
			sums[r.Strand] += demand(c, r.Strand, from, to)
			counts[r.Strand]++
		}
		for _, id := range c.Loops() {
			if n := counts[id]; n > 0 && (loop == timeline.None || sums[id]/n > busiest) {
				busiest, loop = sums[id]/n, id
			}
		}
	}
	return busiest, loop
}

// host is the whole machine over the time that requests were measured in.
type host struct {
	known                     bool
	quota                     bool            // it could be seen whether a quota stopped the service
	cpus                      int64           // 0: not known
	busy, pressure, throttled diagnosis.Share // of the processors; of the time; of the time
	stolen                    diagnosis.Share // of the processors' time, given by a hypervisor to others
	overflows                 int64
	running                   int64 // in tenths: threads that run or are ready to, on average, the sampling one included
}

func hostLoad(c *diagnosis.Case) (h host) {
	from, to := c.Busy()
	var first, last *timeline.HostSample
	for i := range c.Hosts {
		s := &c.Hosts[i]
		if first == nil || s.Time <= from {
			first = s
		}
		if last == nil || last.Time < to {
			last = s
		}
	}
	if first == nil || last.Time <= first.Time {
		return h
	}
	var running, samples int64
	for i := range c.Hosts {
		if s := &c.Hosts[i]; s.Time >= first.Time && s.Time <= last.Time {
			running += s.Running
			samples++
		}
	}
	wall := int64(last.Time.Sub(first.Time))
	busy, stolen := last.Busy-first.Busy, last.Stolen-first.Stolen
	return host{
		cpus:      c.Manifest.CPUs,
		known:     true,
		quota:     !slices.ContainsFunc(c.Missing, func(m recording.Missing) bool { return m.What == "host-throttling" }),
		busy:      diagnosis.ShareOf(busy, busy+last.Idle-first.Idle),
		pressure:  diagnosis.ShareOf(last.Pressure-first.Pressure, wall),
		throttled: diagnosis.ShareOf(last.Throttled-first.Throttled, wall),
		stolen:    diagnosis.ShareOf(stolen, busy+stolen+last.Idle-first.Idle),
		overflows: last.Overflows - first.Overflows,
		running:   running * 10 / max(1, samples),
	}
}

// inFlight returns, for each measured request, how many others were open when it
// started; indexed by request. Its callers share it.
func inFlight(c *diagnosis.Case) []int {
	return c.Once("in flight", func() any { return countInFlight(c) }).([]int)
}

func countInFlight(c *diagnosis.Case) []int {
	ids := c.Measured() // in order of start
	ends := make([]diagnosis.Time, len(ids))
	for i, id := range ids {
		ends[i] = c.Requests[id].End
	}
	slices.Sort(ends)
	out := make([]int, len(c.Requests))
	begun, over := 0, 0
	for _, id := range ids {
		at := c.Requests[id].Start
		for c.Requests[ids[begun]].Start < at {
			begun++
		}
		for over < len(ends) && ends[over] < at {
			over++
		}
		out[id] = max(0, begun-over)
	}
	return out
}

func meanOf(per []int, ids []diagnosis.RequestID) int {
	n := 0
	for _, id := range ids {
		n += per[id]
	}
	return n / max(1, len(ids))
}

// ownCPU reports whether a segment is the request's own work on a CPU.
func ownCPU(s *timeline.Segment) bool {
	return s.Cause == timeline.CauseOnCPU && s.Phase != timeline.PhaseUnread && s.Phase != timeline.PhasePickUp
}

// ownSpans are the spans of requests' own CPU time; its callers share them.
func ownSpans(c *diagnosis.Case) []diagnosis.Span {
	return slices.Clip(c.Once("own spans", func() any {
		return c.SpansOf(timeline.CauseOnCPU, func(_ *timeline.Request, s *timeline.Segment) bool { return ownCPU(s) })
	}).([]diagnosis.Span))
}

// threadName names a strand in the user's terms.
func threadName(c *diagnosis.Case, id timeline.StrandID) string {
	if id == timeline.None {
		return "unknown thread"
	}
	s := &c.Strands[id]
	comm := ""
	for i := range c.Processes {
		if p := &c.Processes[i]; p.ID == s.Process {
			comm = p.Comm
		}
	}
	switch {
	case s.Goroutine != recording.NoGoroutine:
		return "goroutines of " + comm
	case comm == "" || comm == s.Name:
		return "thread " + s.Name
	case s.Name == "":
		return "a thread of " + comm
	}
	return "thread " + s.Name + " of " + comm
}
