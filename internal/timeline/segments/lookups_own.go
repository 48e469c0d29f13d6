package segments

import (
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// lookedUpOn lists by strand when its thread waited for answers to look-ups, in order,
// disjoint: from each question to its answer, or to where it was asked again.
func lookedUpOn(t *timeline.Timeline, f *facts.Facts) map[timeline.StrandID][]timeline.Stint {
	on := map[timeline.StrandID][]timeline.Stint{}
	for i := range t.Lookups {
		l := &t.Lookups[i]
		s, to := f.Strand(l.Thread), max(l.To, l.Again)
		if s == timeline.None || to == recording.NoTime {
			continue // nobody knows for how long it was waited for
		}
		on[s] = append(on[s], timeline.Stint{From: l.From, To: to})
	}
	for s, list := range on {
		on[s] = timeline.MergeStints(list)
	}
	return on
}

// looksUp reports whether a strand that sleeps in a system call on a socket waits for the
// answer to a look-up of its own.
func (s *segmenter) looksUp(strand timeline.StrandID, iv timeline.Interval) bool {
	list := s.lookups[strand]
	i := sort.Search(len(list), func(k int) bool { return list[k].To > iv.From })
	return i < len(list) && list[i].From <= iv.From
}
