package segments

import (
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// manyParts bounds how many parts of a request are searched for one that is still under way.
const manyParts = 256

// manyHands bounds through how many strands a wait is followed.
const manyHands = 16

// follow is a span of a strand on which a request's time is spent.
type follow struct {
	strand   timeline.StrandID
	from, to recording.Time
	spans    []span // of the calls that the request made there
	hands    int    // how many hand-overs led here
}

// follow tiles a span by what the strand did: its states, laid over the phases of the calls made there. If the strand
// waited for another one that worked for the request, it uses what that one did.
func (s *segmenter) follow(r *timeline.Request, w follow, p *painter) {
	k := 0
	for _, iv := range timeline.Clipped(s.t.Strands[w.strand].Intervals, w.from, w.to) {
		at, to := max(iv.From, w.from), min(iv.To, w.to)
		for at < to {
			for k < len(w.spans) && w.spans[k].to <= at {
				k++
			}
			piece := timeline.Segment{From: at, To: to, Phase: timeline.PhaseHandler, Call: timeline.None, Strand: w.strand, Blocker: timeline.None}
			if k < len(w.spans) && w.spans[k].from <= at {
				piece.To, piece.Phase, piece.Call = min(to, w.spans[k].to), w.spans[k].phase, w.spans[k].call
			} else if k < len(w.spans) {
				piece.To = min(to, w.spans[k].from)
			}
			at = piece.To
			if worker := s.awaited(r, iv, w, &piece); worker != nil {
				s.descend(r, worker, follow{strand: w.strand, from: piece.From, to: piece.To, hands: w.hands}, p)
			} else if !s.pickedUp(r, iv, &piece, p) && !s.helped(iv, piece, p) && s.state(r, iv, &piece) {
				p.add(piece)
			}
		}
	}
}

// awaited returns the part of the request whose result a sleeping piece waits for, or nil.
func (s *segmenter) awaited(r *timeline.Request, iv timeline.Interval, w follow, piece *timeline.Segment) *timeline.Handover {
	if iv.State != timeline.StateSleeping || piece.Call != timeline.None || len(s.in.Parts) == 0 || w.hands >= manyHands || !timeline.HandedOn(iv.Off) {
		return nil
	}
	if id := s.t.WaitAt(w.strand, iv.From); id != timeline.None && s.t.Waits[id].Cause != timeline.CauseCondition {
		return nil
	}
	return s.partAt(r.ID, s.f.Strand(iv.Off.Waker), iv.Off.Woken)
}

// partAt returns the part in which a strand worked for a request at a time, the part's end included; nil if there is
// none.
func (s *segmenter) partAt(r timeline.RequestID, strand timeline.StrandID, at recording.Time) *timeline.Handover {
	list := s.in.Parts[r]
	i := sort.Search(len(list), func(k int) bool { return list[k].From > at })
	for n := max(0, i-manyParts); i > n; i-- {
		if p := &list[i-1]; p.Strand == strand && p.To >= at {
			return p
		}
	}
	return nil
}

// descend tiles a wait by what the strand that ended it (the worker) did for the request meanwhile. The time before the
// worker began is tiled by what the strand that handed the work over did, until the hand-over. If no such strand is
// known, the work lay in a queue.
func (s *segmenter) descend(r *timeline.Request, worker *timeline.Handover, w follow, p *painter) {
	begun := min(max(worker.From, w.from), w.to)
	if begun > w.from {
		before, put := (*timeline.Handover)(nil), begun
		if worker.Put != recording.NoTime {
			put = min(max(worker.Put, w.from), begun)
		}
		if worker.By != timeline.None && worker.By != w.strand && w.hands < manyHands {
			before = s.partAt(r.ID, worker.By, put)
		}
		early := follow{strand: w.strand, from: w.from, to: begun, hands: w.hands + 1}
		if before != nil && before.From < worker.From {
			if early.to = put; early.from < put {
				s.descend(r, before, early, p)
			}
			early.from, early.to = put, begun
		}
		if early.from < early.to {
			s.queued(r, worker.Strand, early, p)
		}
	}
	s.follow(r, follow{worker.Strand, begun, w.to, s.spans(r.ID, worker.Strand), w.hands + 1}, p)
}

// queued tiles a span in which no strand had begun the work: by the requests that the strand which later took it worked
// for meanwhile.
func (s *segmenter) queued(r *timeline.Request, strand timeline.StrandID, w follow, p *painter) {
	g := timeline.Segment{From: w.from, To: w.to, Phase: timeline.PhaseHandler, Cause: timeline.CausePool, Quality: timeline.Inferred, Call: timeline.None, Strand: strand, Blocker: timeline.None}
	for _, x := range s.others(r, strand, w.from, w.to) {
		p.add(until(g, x.From))
		busy := g
		busy.From, busy.To, busy.Blocker = x.From, x.To, x.Request
		p.add(busy)
		g.From = x.To
	}
	for _, x := range slices.Backward(s.delayed(r, strand, follow{strand: r.Strand, from: g.From, to: g.To})) {
		p.add(until(g, x.From))
		p.add(x)
		g.From = x.To
	}
	p.add(g)
}

// delayed lists, latest first, the waits for a timer that came before an idle strand was given work. In these spans no
// worker was missing: the strand that handed the work over was itself waiting for a timer.
func (s *segmenter) delayed(r *timeline.Request, strand timeline.StrandID, w follow) (list []timeline.Segment) {
	doing := s.t.Doing(strand, w.from, w.to)
	for _, a := range slices.Backward(doing) {
		by, at := s.endedBy(strand, a, w.to)
		if by == timeline.None && (a.Cause == timeline.CauseOnCPU || a.Cause == timeline.CauseRunnable) && w.to-a.From < collects {
			continue // it is on its way to take the work
		}
		if by == timeline.None || by == r.Strand {
			return nil
		}
		w.to = min(at, w.to)
		for _, g := range s.behind(w, by, true) {
			if g.Cause == timeline.CauseSleep && g.From >= a.From {
				list = append(list, g)
			}
		}
		return list
	}
	return nil
}

// others returns the spans in which a strand did tasks of requests other than r; none if there are very many.
func (s *segmenter) others(r *timeline.Request, strand timeline.StrandID, from, to recording.Time) (list []timeline.Stint) {
	for _, x := range s.in.Hands.From(strand, from) {
		if x.From >= to {
			break
		}
		if x.Request == r.ID {
			continue
		}
		if len(list) == manyPieces {
			return nil
		}
		list = append(list, timeline.Stint{From: max(x.From, from), To: min(x.To, to), Request: x.Request})
	}
	return list
}

// pickedUp tiles a piece of a request's wait for an answer that lay in its socket. It uses what another strand did,
// which then read the answer on behalf of the caller. It returns false if the caller read the answer itself.
func (s *segmenter) pickedUp(r *timeline.Request, iv timeline.Interval, piece *timeline.Segment, p *painter) bool {
	if piece.Phase != timeline.PhasePickUp || iv.State != timeline.StateSleeping || !s.t.Calls[piece.Call].Carried {
		return false
	}
	m := &s.in.Calls[piece.Call]
	reader := s.f.Strand(s.f.Conns[m.Conn].Chunks[recording.Read][m.Exchange.Replied.First].Thread)
	if reader == timeline.None || reader == piece.Strand {
		return false
	}
	s.readerWait(wait{r, reader, piece.From, piece.To, timeline.PhasePickUp, piece.Call}, p)
	return true
}
