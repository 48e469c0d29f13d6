package timeline

import (
	"sort"

	"github.com/getdwell/dwell/recording"
)

// segmentInput is what segments are made from, besides the Timeline so far.
type segmentInput struct {
	requests []served
	calls    []made
	owners   owners
	turns    *loopTurns
	runs     goRuns
}

// segmenter tiles requests with segments.
type segmenter struct {
	t       *Timeline
	f       *facts
	in      segmentInput
	turns   *loopTurns
	waits   *waits
	callsOf [][]CallID // by request, in order of start
	lanes   map[StrandID]*lane
	goRuns  goRuns
}

// buildSegments accounts for the time of every request. What the facts leave open
// stays Unaccounted.
func buildSegments(t *Timeline, f *facts, in segmentInput) {
	s := &segmenter{t: t, f: f, in: in, turns: in.turns, waits: newWaits(t, f), lanes: map[StrandID]*lane{}, goRuns: in.runs}
	s.callsOf = callsByRequest(t)
	for i := range t.Requests {
		r := &t.Requests[i]
		p := painter{cursor: r.Start, end: r.End}
		s.request(r, &p)
		r.Segments = p.list
		r.Unaccounted = r.Duration()
		for _, g := range r.Segments {
			r.Unaccounted -= g.To.Sub(g.From)
		}
	}
}

func (s *segmenter) request(r *Request, p *painter) {
	work := &s.in.requests[r.ID]
	if r.Strand == None || work.x.ask == nil {
		return
	}
	s.unread(r, p)
	p.add(Segment{From: r.FirstRead, To: work.from, Phase: PhaseQueue, Cause: CausePool, Quality: Exact, Call: None, Strand: r.Strand, Blocker: None})
	st := &s.t.Strands[r.Strand]
	switch {
	case st.Goroutine != recording.NoGoroutine:
		s.goHandler(r, p)
	case st.Loop:
		s.loopHandler(r, p)
	default:
		s.threadHandler(r, p)
	}
}

// callsByRequest lists the calls of each request that it may have waited for: those
// that ended before it did.
func callsByRequest(t *Timeline) [][]CallID {
	lists := make([][]CallID, len(t.Requests))
	for i := range t.Calls {
		c := &t.Calls[i]
		if c.Request != None && c.End <= t.Requests[c.Request].End {
			lists[c.Request] = append(lists[c.Request], CallID(i))
		}
	}
	for _, l := range lists {
		sort.SliceStable(l, func(a, b int) bool { return t.Calls[l[a]].Start < t.Calls[l[b]].Start })
	}
	return lists
}

// painter collects segments front to back: what overlaps the one before is cut, what
// continues it is merged.
type painter struct {
	list   []Segment
	cursor Time
	end    Time
}

func (p *painter) add(g Segment) {
	g.From, g.To = max(g.From, p.cursor), min(g.To, p.end)
	if g.From >= g.To {
		return
	}
	p.cursor = g.To
	if n := len(p.list); n > 0 {
		last := &p.list[n-1]
		if last.To == g.From && last.Phase == g.Phase && last.Cause == g.Cause && last.Quality == g.Quality &&
			last.Call == g.Call && last.Strand == g.Strand && last.Blocker == g.Blocker {
			last.To = g.To
			return
		}
	}
	p.list = append(p.list, g)
}

// span is a stretch of a call in one phase.
type span struct {
	from, to Time
	call     CallID
	phase    Phase
}

// spans lays a request's calls end to end: where two overlap, the one that began
// first is waited for first.
func (s *segmenter) spans(r RequestID) []span {
	var list []span
	covered := s.t.Requests[r].FirstRead
	for _, id := range s.callsOf[r] {
		b := &s.in.calls[id].bounds
		for p := PhaseQueue; p <= PhaseReceive; p++ {
			if from := max(b[p], covered); from < b[p+1] {
				list = append(list, span{from, b[p+1], id, p})
			}
		}
		covered = max(covered, b[PhaseReceive+1])
	}
	return list
}

// clipped returns the intervals that overlap [from, to); the ends may stick out.
func clipped(list []Interval, from, to Time) []Interval {
	i := sort.Search(len(list), func(k int) bool { return list[k].To > from })
	j := sort.Search(len(list), func(k int) bool { return list[k].From >= to })
	if i >= j {
		return nil
	}
	return list[i:j]
}
