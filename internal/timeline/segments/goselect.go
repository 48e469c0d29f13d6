package segments

import (
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/recording"
)

// goSelect tiles a span on no thread at whose end a goroutine returned from a select. It returns false if it is not
// known what ended the select.
func (s *segmenter) goSelect(r *timeline.Request, w parked, p *painter) bool {
	if w.cause != timeline.CauseUnknown {
		return false
	}
	end, back := s.t.Goroutines.SelectedIn(r.Strand, w.from, w.to), w.to
	if end == nil {
		return false
	}
	w.to, w.ran, w.timer, w.selects = end.At, false, end.Timer, true
	if end.Timer {
		s.goAbsent(r, w, p)
	} else if call := s.gotConnection(*end, w); call != timeline.None {
		p.add(timeline.Segment{From: w.from, To: w.to, Phase: timeline.PhaseQueue, Cause: timeline.CausePool, Quality: timeline.Inferred, Call: call, Strand: r.Strand, Blocker: timeline.None})
	} else if end.By == timeline.None || end.By == r.Strand {
		return false
	} else if !s.goTask(r, end.By, w, p) {
		s.goBehind(r, end.By, w, p)
	}
	s.goWait(wait{r, r.Strand, w.to, back, timeline.PhaseHandler, timeline.None}, p)
	return true
}

// gotConnection returns the call for which the select received a connection, or the turn to use one. A goroutine of
// that connection, or one that had just made a call on it, must have ended the select while no call of the request was
// under way, and the request's next call must be on that connection. Otherwise gotConnection returns None.
func (s *segmenter) gotConnection(end timeline.SelectEnd, w parked) timeline.CallID {
	if end.Conn == timeline.None && end.By == timeline.None || len(overlapping(w.calls, w.from, end.At)) > 0 {
		return timeline.None
	}
	next := sort.Search(len(w.calls), func(k int) bool { return w.calls[k].from >= end.At })
	if next == len(w.calls) {
		return timeline.None
	}
	if conn := s.in.Calls[w.calls[next].call].Conn; int32(conn) != end.Conn && (end.By == timeline.None || !usedLast(s.t, s.in.Calls, end, conn)) {
		return timeline.None
	}
	return w.calls[next].call
}

// givesBack is how soon after a call the goroutine that made it gives the connection back.
const givesBack recording.Time = 1_000_000

// usedLast reports whether the goroutine that ended a wait had just made a call on a connection.
func usedLast(t *timeline.Timeline, made []exchange.Call, end timeline.SelectEnd, conn int) bool {
	calls := t.Goroutines.Calls[end.By]
	i := sort.Search(len(calls), func(k int) bool { return t.Calls[calls[k]].Start >= end.At }) - 1
	if i < 0 {
		return false
	}
	last := &t.Calls[calls[i]]
	return last.End <= end.At && end.At-last.End <= givesBack && made[last.ID].Conn == conn
}

// busyWith tiles a span before a goroutine took a task, by the tasks of other requests that it did. It is not known
// since when the request waited for this goroutine, so its other activity says nothing.
func (s *segmenter) busyWith(r *timeline.Request, by timeline.StrandID, w parked, p *painter) {
	for _, x := range s.others(r, by, w.from, w.to) {
		s.goAbsent(r, w.until(x.From), p)
		w.from = x.To
		p.add(timeline.Segment{From: x.From, To: x.To, Phase: timeline.PhaseHandler, Cause: timeline.CausePool, Quality: timeline.Inferred, Call: timeline.None, Strand: by, Blocker: x.Request})
	}
	s.goAbsent(r, w, p)
}

// goTask tiles a wait for a goroutine that did a task of the request. Before it took the task, it was busy with others;
// after that, its own activity counts. goTask returns false if it did no task of the request.
func (s *segmenter) goTask(r *timeline.Request, by timeline.StrandID, w parked, p *painter) bool {
	list := s.in.Hands.From(by, w.to-1)
	if len(list) == 0 || list[0].Request != r.ID || list[0].From > w.to {
		return false
	}
	begun := max(w.from, min(list[0].From, w.to))
	if before := s.in.Hands.From(by, w.from); w.from < begun {
		if first := before[0]; first.Request == r.ID && first.To < list[0].To {
			s.goAbsent(r, w.until(begun), p) // it did another task of the request first
		} else if w.selects {
			s.busyWith(r, by, w.until(begun), p)
		} else {
			s.queued(r, by, follow{from: w.from, to: begun}, p)
		}
	}
	worker := *r
	worker.Strand = by
	w.from = begun
	s.goOn(&worker, w, p)
	return true
}
