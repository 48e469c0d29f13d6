package segments

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// children lists the first threads of processes that were started in the recording, by the strand that started them, in
// order of start.
type children map[timeline.StrandID][]timeline.StrandID

func childrenIn(f *facts.Facts) children {
	var out children
	for i := range f.Threads {
		th := &f.Threads[i]
		creator := f.Strand(th.Creator)
		if creator == timeline.None || th.Born == recording.NoTime || f.Threads[creator].Process == th.Process {
			continue
		}
		if out == nil {
			out = children{}
		}
		out[creator] = append(out[creator], timeline.StrandID(i))
	}
	for _, list := range out {
		slices.SortFunc(list, func(a, b timeline.StrandID) int { return cmp.Compare(f.Threads[a].Born, f.Threads[b].Born) })
	}
	return out
}

// startedIn returns the process, by its first thread, that a strand started last in a span; None if it started none.
func (s *segmenter) startedIn(strand timeline.StrandID, from, to recording.Time) timeline.StrandID {
	list := s.children[strand]
	i := sort.Search(len(list), func(k int) bool { return s.f.Threads[list[k]].Born > to })
	if i == 0 || s.f.Threads[list[i-1]].Born < from {
		return timeline.None
	}
	return list[i-1]
}

// awaitsChild tiles the end of a gap before a turn whose cause was not seen, if a process was started at the beginning
// of the gap. The request waited for that process until it ended, or until it let the request continue. awaitsChild
// reports whether this applied.
func (s *segmenter) awaitsChild(r *timeline.Request, u *loops.Turn, g gap, p *painter) bool {
	if u.How != loops.ResumeUnseen || u.Timer {
		return false
	}
	child := s.startedIn(r.Strand, g.from, g.tail)
	if child == timeline.None {
		return false
	}
	over := g.to
	if died := s.f.Threads[child].Died; died != recording.NoTime {
		over = min(max(died, g.tail), g.to)
	}
	p.add(timeline.Segment{From: g.tail, To: over, Phase: timeline.PhaseHandler, Cause: timeline.CauseIPC, Quality: timeline.Inferred, Call: timeline.None, Strand: r.Strand, Blocker: timeline.None})
	s.readerWait(wait{r, r.Strand, over, g.to, timeline.PhaseHandler, timeline.None}, p)
	return true
}
