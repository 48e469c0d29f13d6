// Package segments accounts for the time of each request. Account tiles a request with segments, each with one phase
// and one cause, along the path that the request waited on: its own strand (threads, loops and goroutines differ), its
// calls, and the strands that worked for it or that it waited for. KeptInSockets then separates what the sockets held
// back. If waits, turns and owners are right but a segment's cause is wrong, fix it here.
package segments

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/internal/timeline/running"
	"github.com/getdwell/dwell/recording"
)

// Input is what segments are made from, besides the Timeline so far.
type Input struct {
	Requests []exchange.Request
	Calls    []exchange.Call
	Owners   timeline.Stints
	Turns    *loops.Turns
	Runs     running.GoRuns
	Parts    [][]timeline.Handover // by request, in order of start
	Hands    timeline.Stints       // by strand: the requests whose parts it worked on
	Asked    [][]timeline.Stint    // by request: when look-ups that it had asked for were under way
}

// segmenter tiles requests with segments.
type segmenter struct {
	t        *timeline.Timeline
	f        *facts.Facts
	in       Input
	turns    *loops.Turns
	callsOf  lists.Groups[timeline.CallID] // by request, in order of start
	lanes    []*lane                       // by strand
	goRuns   running.GoRuns
	children children
	lookups  map[timeline.StrandID][]timeline.Stint // when threads waited for answers to look-ups
	held     *heldLoops
	serves   map[timeline.StrandID]bool             // strands that have requests of their own
	open     map[recording.ProcessID]*timeline.Open // if other strands worked for requests
	list     []timeline.Segment                     // of the current request
	packer   timeline.SegmentPacker
}

// piece is how many requests one worker accounts for at a time.
const piece = 1 << 10

// Account accounts for the time of every request. What the facts leave open stays Unaccounted.
func Account(t *timeline.Timeline, f *facts.Facts, by recording.Workers, in Input) {
	callsOf, started, lookups := loops.CallsByRequest(t), childrenIn(f), lookedUpOn(t, f)
	shared := segmenter{t: t, f: f, in: in, turns: in.Turns, goRuns: in.Runs, callsOf: callsOf, children: started, lookups: lookups}
	if len(in.Parts) > 0 {
		shared.open = timeline.OpenIn(t)
	}
	shared.held = shared.findHeld()
	shared.serves = map[timeline.StrandID]bool{}
	for i := range t.Requests {
		shared.serves[t.Requests[i].Strand] = true
	}
	each := recording.Of(by, func() *segmenter {
		s := shared
		s.lanes = make([]*lane, len(t.Strands))
		return &s
	})
	by.InPieces(len(t.Requests), piece, func(worker, from, to int) {
		each[worker].account(t.Requests[from:to])
	})
}

// account makes the segments of consecutive requests, which share a piece of memory.
func (s *segmenter) account(requests []timeline.Request) {
	s.packer.Pack(requests, func(r *timeline.Request) []timeline.Segment {
		p := painter{list: s.list[:0], cursor: r.Start, end: r.End}
		s.request(r, &p)
		s.list = p.list
		return p.list
	})
}

func (s *segmenter) request(r *timeline.Request, p *painter) {
	work := &s.in.Requests[r.ID]
	if r.Strand == timeline.None || !work.Head {
		return
	}
	s.unread(r, p)
	p.add(timeline.Segment{From: r.FirstRead, To: work.From, Phase: timeline.PhaseQueue, Cause: timeline.CausePool, Quality: timeline.Exact, Call: timeline.None, Strand: r.Strand, Blocker: timeline.None})
	st := &s.t.Strands[r.Strand]
	switch {
	case st.Goroutine != recording.NoGoroutine:
		s.goOn(r, parked{from: work.From, to: r.End, calls: s.spans(r.ID, timeline.None)}, p)
	case st.Loop:
		s.loopHandler(r, p)
	default:
		s.threadHandler(r, p)
	}
}

// stateCause returns the cause of a span according to the strand's state; not ok if the state is unknown.
func (s *segmenter) stateCause(strand timeline.StrandID, iv timeline.Interval) (timeline.Cause, timeline.Quality, bool) {
	switch iv.State {
	case timeline.StateRunning:
		return timeline.CauseOnCPU, timeline.Exact, true
	case timeline.StateRunnable:
		return timeline.CauseRunnable, timeline.Exact, true
	case timeline.StateSleeping, timeline.StateDisk:
		cause, quality := timeline.SleepCause(s.t, strand, iv)
		return cause, quality, true
	}
	return timeline.CauseUnknown, timeline.Inferred, false
}

// painter collects segments front to back: it cuts what overlaps the previous segment, and merges what continues it.
type painter struct {
	list   []timeline.Segment
	cursor recording.Time
	end    recording.Time
}

func (p *painter) add(g timeline.Segment) {
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

// until returns a segment's part up to a time.
func until(g timeline.Segment, to recording.Time) timeline.Segment {
	g.To = to
	return g
}

// span is a stretch of a call in one phase.
type span struct {
	from, to recording.Time
	call     timeline.CallID
	phase    timeline.Phase
}

// spans lays a request's calls end to end: those of a strand or, for None, all of them. Of two calls that overlap, the
// one that began first is waited for first.
func (s *segmenter) spans(r timeline.RequestID, on timeline.StrandID) []span {
	var list []span
	covered := s.t.Requests[r].FirstRead
	for _, id := range s.callsOf.Of(int(r)) {
		if on != timeline.None && s.t.Calls[id].Strand != on {
			continue
		}
		b := &s.in.Calls[id].Bounds
		for p := timeline.PhaseQueue; p <= timeline.PhaseReceive; p++ {
			if from := max(b[p], covered); from < b[p+1] {
				list = append(list, span{from, b[p+1], id, p})
			}
		}
		covered = max(covered, b[timeline.PhaseReceive+1])
	}
	return list
}
