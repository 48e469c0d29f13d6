package timeline

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/recording"
)

// children are the first threads of processes that were started in the recording, by the strand
// that started them, in order of that.
type children map[StrandID][]StrandID

func childrenIn(f *facts) children {
	var out children
	for i := range f.threads {
		th := &f.threads[i]
		creator := f.strand(th.creator)
		if creator == None || th.born == recording.NoTime || f.threads[creator].process == th.process {
			continue
		}
		if out == nil {
			out = children{}
		}
		out[creator] = append(out[creator], StrandID(i))
	}
	for _, list := range out {
		slices.SortFunc(list, func(a, b StrandID) int { return cmp.Compare(f.threads[a].born, f.threads[b].born) })
	}
	return out
}

// startedIn is the process, by its first thread, that a strand was the last to start in a span;
// None if it started none.
func (s *segmenter) startedIn(strand StrandID, from, to Time) StrandID {
	list := s.children[strand]
	i := sort.Search(len(list), func(k int) bool { return s.f.threads[list[k]].born > to })
	if i == 0 || s.f.threads[list[i-1]].born < from {
		return None
	}
	return list[i-1]
}

// awaitsChild tiles the end of a gap before a turn of which it is not seen what it resumed for,
// if a process was started at its beginning: until that ended, or let the request go on.
// It reports whether it did.
func (s *segmenter) awaitsChild(r *Request, u *turn, g gap, p *painter) bool {
	if u.how != resumeUnseen || u.timer {
		return false
	}
	child := s.startedIn(r.Strand, g.from, g.tail)
	if child == None {
		return false
	}
	over := g.to
	if died := s.f.threads[child].died; died != recording.NoTime {
		over = min(max(died, g.tail), g.to)
	}
	p.add(Segment{From: g.tail, To: over, Phase: PhaseHandler, Cause: CauseIPC, Quality: Inferred, Call: None, Strand: r.Strand, Blocker: None})
	s.readerWait(wait{r, r.Strand, over, g.to, PhaseHandler, None}, p)
	return true
}
