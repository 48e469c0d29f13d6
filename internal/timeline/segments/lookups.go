package segments

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// blank tiles a wait of unknown cause by the look-ups that the request had asked for, if the request continued after
// the last answer. The time after that answer is the delay until its strand attended to it.
func (s *segmenter) blank(r *timeline.Request, g timeline.Segment, p *painter) {
	list := s.asks(r, g)
	if len(list) == 0 {
		p.add(g)
		return
	}
	for _, x := range list {
		p.add(until(g, x.From))
		p.add(timeline.Segment{From: x.From, To: x.To, Phase: timeline.PhaseDNS, Cause: timeline.CauseRemote, Quality: timeline.Inferred, Call: connectsTo(s.t, s.callsOf.Of(int(r.ID)), x), Strand: g.Strand, Blocker: timeline.None})
	}
	late := wait{r, r.Strand, list[len(list)-1].To, g.To, g.Phase, timeline.None}
	if s.t.Strands[r.Strand].Goroutine != recording.NoGoroutine {
		s.goWait(late, p)
	} else {
		s.readerWait(late, p)
	}
}

// connectsTo returns which of some calls used the result of a look-up; None if none did.
func connectsTo(t *timeline.Timeline, calls []timeline.CallID, x timeline.Stint) timeline.CallID {
	for _, id := range calls {
		if c := &t.Calls[id]; c.DNSTo != recording.NoTime && c.DNSFrom < x.To && x.From < c.DNSTo {
			return id
		}
	}
	return timeline.None
}

// asks returns the look-ups of a request that end within a wait of unknown cause, or right after it, if the wait ends
// with the last answer; else nil.
func (s *segmenter) asks(r *timeline.Request, g timeline.Segment) (list []timeline.Stint) {
	if g.Cause != timeline.CauseUnknown || len(s.in.Asked) == 0 {
		return nil
	}
	of := s.in.Asked[r.ID]
	i, _ := slices.BinarySearchFunc(of, g.From+1, func(x timeline.Stint, at recording.Time) int { return cmp.Compare(x.To, at) })
	for ; i < len(of) && of[i].From < g.To && of[i].To <= g.To+recording.Time(timeline.WakeLatency); i++ { // it runs again before it reads the answer
		list = append(list, timeline.Stint{From: of[i].From, To: min(of[i].To, g.To)})
	}
	if len(list) == 0 {
		return nil
	}
	last := list[len(list)-1].To
	if s.t.Strands[r.Strand].Loop && timeline.Slept(s.t, r.Strand, last, g.To) || !s.t.Strands[r.Strand].Loop && g.To.Sub(last) > exchange.GoDials {
		return nil
	}
	return list
}

// lookedUpOn lists, by strand, when its thread waited for answers to look-ups, in order and disjoint: from each
// question to its answer, or to when it was repeated.
func lookedUpOn(t *timeline.Timeline, f *facts.Facts) map[timeline.StrandID][]timeline.Stint {
	on := map[timeline.StrandID][]timeline.Stint{}
	for i := range t.Lookups {
		l := &t.Lookups[i]
		s, to := f.Strand(l.Thread), max(l.To, l.Again)
		if s == timeline.None || to == recording.NoTime {
			continue // it is not known for how long it was awaited
		}
		on[s] = append(on[s], timeline.Stint{From: l.From, To: to})
	}
	for s, list := range on {
		on[s] = timeline.MergeStints(list)
	}
	return on
}

// looksUp reports whether a strand that sleeps in a system call on a socket waits for the answer to a look-up of its
// own.
func (s *segmenter) looksUp(strand timeline.StrandID, iv timeline.Interval) bool {
	list := s.lookups[strand]
	i := sort.Search(len(list), func(k int) bool { return list[k].To > iv.From })
	return i < len(list) && list[i].From <= iv.From
}
