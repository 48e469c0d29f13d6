package build

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// buildOwners lists which requests each strand served, from reading a request to answering it, and marks the strands
// that read a request while another was open as Loops.
func buildOwners(t *timeline.Timeline, f *facts.Facts, work []exchange.Request) timeline.Stints {
	o, n := make(timeline.Stints, len(t.Strands)), make([]int, len(t.Strands))
	for i := range t.Requests {
		if r := &t.Requests[i]; r.Strand != timeline.None {
			n[r.Strand]++
		}
	}
	for i := range t.Requests {
		r := &t.Requests[i]
		if r.Strand != timeline.None && o[r.Strand] == nil {
			o[r.Strand] = make([]timeline.Stint, 0, n[r.Strand])
		}
		if r.Strand != timeline.None && work[i].From < r.End {
			o[r.Strand] = append(o[r.Strand], timeline.Stint{From: work[i].From, To: r.End, Request: r.ID})
		}
	}
	for s := range t.Strands {
		id := timeline.StrandID(s)
		list := o[id]
		if isNodeLoop(f, &t.Strands[s], s) {
			t.Strands[s].Loop = true
		}
		slices.SortStableFunc(list, func(a, b timeline.Stint) int { return cmp.Compare(a.From, b.From) })
		queueUnread(work, list)
		if !t.Strands[s].Loop {
			leaveRequests(t, f, work, list)
		}
		for k := 1; k < len(list); k++ {
			if list[k].From >= list[k-1].To {
				continue
			}
			if aborted := t.Requests[list[k-1].Request].Excluded == "aborted"; aborted {
				list[k-1].To = list[k].From // it was given up before its connection closed
				continue
			}
			t.Strands[s].Loop = true
		}
		if t.Strands[s].Loop {
			o[id] = nil
		}
	}
	return o
}

// queueUnread puts requests one after the other if only their answers were recorded. When the strand that answered them
// turned to each is not known: without this, all would seem to have been under way on it since recording began, or
// continued.
func queueUnread(work []exchange.Request, list []timeline.Stint) {
	for k := 0; k < len(list); {
		n := k
		for n < len(list) && list[n].From == list[k].From && !work[list[n].Request].Head {
			n++
		}
		slices.SortStableFunc(list[k:n], func(a, b timeline.Stint) int { return cmp.Compare(a.To, b.To) })
		for i := k + 1; i < n; i++ {
			list[i].From = list[i-1].To
		}
		k = max(n, k+1)
	}
}

// isNodeLoop reports whether a strand is the main thread of a Node process, which is a loop even if it never had two
// requests open.
func isNodeLoop(f *facts.Facts, s *timeline.Strand, i int) bool {
	if s.Goroutine != recording.NoGoroutine || i >= len(f.Threads) || f.Runtime(s.Process) != recording.RuntimeNode {
		return false
	}
	return f.Threads[i].TID == f.Processes[f.ProcIndex[s.Process]].PID
}

// associate assigns calls of strands that serve one request at a time to that request. Calls of loops are left to the
// rules for loops.
func associate(t *timeline.Timeline, f *facts.Facts, work []exchange.Call, o timeline.Stints) {
	for i := range t.Calls {
		c := &t.Calls[i]
		if c.Strand == timeline.None || t.Strands[c.Strand].Loop || c.Why != "" {
			continue
		}
		r := o.At(c.Strand, c.SendFrom)
		if c.SendFrom == recording.NoTime {
			r = o.At(c.Strand, c.Start)
		}
		if r == timeline.None {
			t.Assign(c, timeline.None, timeline.WhyNoOwner)
			continue
		}
		rule := timeline.WhyThread
		if t.Strands[c.Strand].Goroutine != recording.NoGoroutine {
			rule = timeline.WhyGoroutine
		}
		t.Assign(c, r, rule)
		exchange.WarmedBefore(t, c, &work[i].Bounds)
	}
}
