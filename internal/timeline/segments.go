package timeline

import (
	"cmp"
	"slices"
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
	parts    [][]handed // by request, in order of start
	hands    owners     // by strand: whose parts it worked on
	contexts *contexts
	asked    [][]stint // by request: when look-ups that it had asked for were under way
}

// segmenter tiles requests with segments.
type segmenter struct {
	t        *Timeline
	f        *facts
	in       segmentInput
	turns    *loopTurns
	callsOf  packed[CallID] // by request, in order of start
	lanes    []*lane        // by strand
	goRuns   goRuns
	children children
	lookups  map[StrandID][]stint // when threads waited for answers to look-ups
	held     *heldLoops
	list     []Segment // of the request at hand
	kept     pages
}

// piece is how many requests one worker accounts for at a time.
const piece = 1 << 10

// buildSegments accounts for the time of every request. What the facts leave open
// stays Unaccounted.
func buildSegments(t *Timeline, f *facts, by recording.Workers, in segmentInput) {
	callsOf, started, lookups := callsByRequest(t), childrenIn(f), lookedUpOn(t, f)
	shared := segmenter{t: t, f: f, in: in, turns: in.turns, goRuns: in.runs, callsOf: callsOf, children: started, lookups: lookups}
	shared.held = shared.findHeld()
	each := recording.Of(by, func() *segmenter {
		s := shared
		s.lanes = make([]*lane, len(t.Strands))
		return &s
	})
	by.InPieces(len(t.Requests), piece, func(worker, from, to int) {
		for i := from; i < to; i++ {
			each[worker].account(&t.Requests[i])
		}
	})
}

// account makes the segments of a request.
func (s *segmenter) account(r *Request) {
	p := painter{list: s.list[:0], cursor: r.Start, end: r.End}
	s.request(r, &p)
	s.list = p.list
	r.Segments = s.kept.keep(p.list)
}

func (s *segmenter) request(r *Request, p *painter) {
	work := &s.in.requests[r.ID]
	if r.Strand == None || !work.head {
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
func callsByRequest(t *Timeline) packed[CallID] {
	counts := make([]int32, len(t.Requests))
	within := func(c *Call) bool { return c.Request != None && c.End <= t.Requests[c.Request].End }
	for i := range t.Calls {
		if c := &t.Calls[i]; within(c) {
			counts[c.Request]++
		}
	}
	p := pack[CallID](counts)
	for i := range t.Calls {
		if c := &t.Calls[i]; within(c) {
			p.add(int(c.Request), CallID(i))
		}
	}
	for r := range t.Requests {
		slices.SortStableFunc(p.of(r), func(a, b CallID) int { return cmp.Compare(t.Calls[a].Start, t.Calls[b].Start) })
	}
	return p
}

// pages hold the segments of all requests, many in one piece of memory.
type pages struct{ rest []Segment }

// pageSize is how many segments a page holds.
const pageSize = 1 << 12

// keep returns a copy of a list; nil if it is empty.
func (p *pages) keep(list []Segment) []Segment {
	if len(list) == 0 {
		return nil
	}
	if len(list) > len(p.rest) {
		p.rest = make([]Segment, max(pageSize, len(list)))
	}
	kept := p.rest[:len(list):len(list)]
	p.rest = p.rest[copy(kept, list):]
	return kept
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
	return s.spansOf(r, func(*Call) bool { return true })
}

// spansOf lays those of a request's calls end to end that are counted in.
func (s *segmenter) spansOf(r RequestID, in func(*Call) bool) []span {
	var list []span
	covered := s.t.Requests[r].FirstRead
	for _, id := range s.callsOf.of(int(r)) {
		if !in(&s.t.Calls[id]) {
			continue
		}
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
	j := near(len(list), i, func(k int) bool { return list[k].From >= to })
	if i >= j {
		return nil
	}
	return list[i:j]
}

// near is sort.Search from a place on, for what is close behind it.
func near(n, from int, found func(int) bool) int {
	step := 1
	for from+step < n && !found(from+step) {
		from, step = from+step, 2*step
	}
	return from + sort.Search(min(step+1, n-from), func(k int) bool { return found(from + k) })
}
