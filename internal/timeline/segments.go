package timeline

import (
	"cmp"
	"encoding/binary"
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
	packed   []byte    // the same of requests that are accounted for at once
	ends     []int     // of each, in packed
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
		each[worker].account(t.Requests[from:to])
	})
}

// account makes the segments of requests that follow each other: they share a piece of memory.
func (s *segmenter) account(requests []Request) {
	packed := s.packed[:0]
	ends := s.ends[:0]
	for i := range requests {
		r := &requests[i]
		p := painter{list: s.list[:0], cursor: r.Start, end: r.End}
		s.request(r, &p)
		s.list = p.list
		packed = r.packSegments(packed, p.list)
		ends = append(ends, len(packed))
	}
	all, from := string(packed), 0
	for i, to := range ends {
		requests[i].segments, from = all[from:to], to
	}
	s.packed, s.ends = packed, ends
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

// Segments reads the segments of a request one after another: they are kept packed, for there are
// many of each request.
//
//	for s := r.Segments(); s.Next(); {
type Segments struct {
	Segment        // the one at hand, once Next has returned true
	rest    string // what follows it
	call    CallID // of the last one that was part of a call
	blocker RequestID
}

// Segments of a request: ordered, disjoint, within [Start, End).
func (r *Request) Segments() *Segments {
	s := &Segments{Segment: Segment{To: r.Start, Strand: r.Strand}, blocker: r.ID}
	if r.segments != "" {
		s.rest = r.segments[causesSize:]
	}
	return s
}

// SegmentList is a list of the request's segments; nil if there are none.
func (r *Request) SegmentList() []Segment { return r.appendSegments(nil) }

func (r *Request) appendSegments(list []Segment) []Segment {
	for s := r.Segments(); s.Next(); {
		list = append(list, s.Segment)
	}
	return list
}

// SetSegments replaces the request's segments. Its ID, Strand and Start must not change any more.
func (r *Request) SetSegments(list []Segment) {
	r.segments = string(r.packSegments(nil, list))
}

// changeCalled changes all segments that are part of calls.
func changeCalled(t *Timeline, change func(*Segment)) {
	if len(t.Calls) == 0 {
		return
	}
	var list []Segment
	var packed []byte
	for i := range t.Requests {
		r, called := &t.Requests[i], false
		list = r.appendSegments(list[:0])
		for k := range list {
			if list[k].Call != None {
				change(&list[k])
				called = true
			}
		}
		if called {
			packed = r.packSegments(packed[:0], list)
			r.segments = string(packed)
		}
	}
}

// Has reports whether a segment of the request has a cause.
func (r *Request) Has(cause Cause) bool {
	return r.segments != "" && r.segments[cause/8]>>(cause%8)&1 != 0
}

// causesSize is how many bytes, before the segments, say with a bit each which causes there are.
const causesSize = (NumCauses + 7) / 8

// What is packed has four bits for the cause and the phase each: a 17th of either does not compile.
const (
	_ = uint(16 - NumCauses)
	_ = uint(16 - NumPhases)
)

// Of each segment two bytes say what it is, and what follows of it: what is as it was in the
// one before is left out.
const (
	packedGap    = 1 << 6 // of the first byte, beside cause and quality: it does not begin where the one before ended
	packedStrand = 1 << 7 // it has another strand
	packedCall   = 1 << 4 // of the second byte, beside the phase
	packedBlock  = 1 << 5
)

// packSegments appends segments to what is packed.
func (r *Request) packSegments(to []byte, list []Segment) []byte {
	last := Segment{To: r.Start, Strand: r.Strand}
	call, blocker := CallID(0), r.ID
	causes := len(to)
	if len(list) > 0 {
		to = append(to, make([]byte, causesSize)...)
	}
	for i := range list {
		g := &list[i]
		to[causes+int(g.Cause/8)] |= 1 << (g.Cause % 8)
		head := len(to)
		to = append(to, byte(g.Cause)|byte(g.Quality)<<4, byte(g.Phase))
		if g.Strand != last.Strand {
			to[head] |= packedStrand
			to = binary.AppendVarint(to, int64(g.Strand))
		}
		if g.From != last.To {
			to[head] |= packedGap
			to = binary.AppendVarint(to, int64(g.From-last.To))
		}
		to = binary.AppendUvarint(to, uint64(g.To-g.From))
		if g.Call != None {
			to[head+1] |= packedCall
			to = binary.AppendVarint(to, int64(g.Call-call))
			call = g.Call
		}
		if g.Blocker != None {
			to[head+1] |= packedBlock
			to = binary.AppendVarint(to, int64(g.Blocker-blocker))
			blocker = g.Blocker
		}
		last = *g
	}
	return to
}

// Next reads the next segment; false if there is none.
func (s *Segments) Next() bool {
	if len(s.rest) < 2 {
		return false
	}
	first, second := s.rest[0], s.rest[1]
	s.rest = s.rest[2:]
	s.Cause, s.Quality, s.Phase = Cause(first&15), Quality(first>>4&3), Phase(second&15)
	if first&packedStrand != 0 {
		s.Strand = StrandID(s.signed())
	}
	s.From = s.To
	if first&packedGap != 0 {
		s.From += Time(s.signed())
	}
	s.To = s.From + Time(s.unsigned())
	s.Call, s.Blocker = None, None
	if second&packedCall != 0 {
		s.call += CallID(s.signed())
		s.Call = s.call
	}
	if second&packedBlock != 0 {
		s.blocker += RequestID(s.signed())
		s.Blocker = s.blocker
	}
	return true
}

// unsigned reads a number as binary.AppendUvarint writes it.
func (s *Segments) unsigned() (n uint64) {
	for i := 0; i < len(s.rest); i++ {
		b := s.rest[i]
		n |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			s.rest = s.rest[i+1:]
			break
		}
	}
	return n
}

// signed reads a number as binary.AppendVarint writes it.
func (s *Segments) signed() int64 {
	n := s.unsigned()
	return int64(n>>1) ^ -int64(n&1)
}
