package build

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// stint is a span in which a strand worked for one request.
type stint struct {
	from, to recording.Time
	request  timeline.RequestID
}

// owners are, for each strand, the requests it worked for, in order of time. Spans of
// a strand that serves one request at a time are disjoint; a Loop has none here.
type owners [][]stint

// buildOwners lists which requests each strand served, from reading one to answering
// it, and marks the strands that read a request while another was open as Loops.
func buildOwners(t *timeline.Timeline, f *facts, work []served) owners {
	o := make(owners, len(t.Strands))
	for i := range t.Requests {
		r := &t.Requests[i]
		if r.Strand != timeline.None && work[i].from < r.End {
			o[r.Strand] = append(o[r.Strand], stint{work[i].from, r.End, r.ID})
		}
	}
	for s := range t.Strands {
		id := timeline.StrandID(s)
		list := o[id]
		if isNodeLoop(f, &t.Strands[s], s) {
			t.Strands[s].Loop = true
		}
		slices.SortStableFunc(list, func(a, b stint) int { return int(min(1, max(-1, a.from-b.from))) })
		queueUnread(work, list)
		if !t.Strands[s].Loop {
			leaveRequests(t, f, work, list)
		}
		for k := 1; k < len(list); k++ {
			if list[k].from >= list[k-1].to {
				continue
			}
			if aborted := t.Requests[list[k-1].request].Excluded == "aborted"; aborted {
				list[k-1].to = list[k].from // it was given up before its connection closed
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

// queueUnread makes the requests of which only the answer was recorded follow each other:
// when the strand that answered them turned to each is not known, and all seem to have been
// under way on it since recording began, or went on.
func queueUnread(work []served, list []stint) {
	for k := 0; k < len(list); {
		n := k
		for n < len(list) && list[n].from == list[k].from && !work[list[n].request].head {
			n++
		}
		slices.SortStableFunc(list[k:n], func(a, b stint) int { return cmp.Compare(a.to, b.to) })
		for i := k + 1; i < n; i++ {
			list[i].from = list[i-1].to
		}
		k = max(n, k+1)
	}
}

// isNodeLoop reports the main thread of a Node process, which is a loop even if it
// never happened to have two requests open.
func isNodeLoop(f *facts, s *timeline.Strand, i int) bool {
	if s.Goroutine != recording.NoGoroutine || i >= len(f.threads) || f.runtime(s.Process) != recording.RuntimeNode {
		return false
	}
	return f.threads[i].tid == f.processes[f.procIndex[s.Process]].PID
}

// at returns the request a strand worked for at a time, or None.
func (o owners) at(s timeline.StrandID, at recording.Time) timeline.RequestID {
	list := o[s]
	i := sort.Search(len(list), func(k int) bool { return list[k].from > at })
	if i == 0 || at >= list[i-1].to {
		return timeline.None
	}
	return list[i-1].request
}

// from returns the stints of a strand that end after a time.
func (o owners) from(s timeline.StrandID, at recording.Time) []stint {
	list := o[s]
	i := sort.Search(len(list), func(k int) bool { return list[k].to > at })
	return list[i:]
}
