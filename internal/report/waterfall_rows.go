package report

import (
	"fmt"
	"strings"

	"github.com/getdwell/dwell/internal/timeline"
)

// row is one line of a waterfall: adjacent segments of one phase. Segments that
// differ only in what the loop did meanwhile share a row, and so do pieces too short
// to be drawn.
type row struct {
	from, to timeline.Time
	phase    timeline.Phase
	call     timeline.CallID
	inferred timeline.Quality // the weakest of its segments
	causes   []timeline.Cause // in order of first appearance
	behind   map[timeline.RequestID]bool
}

// rowsOf joins the segments of a request to rows.
func rowsOf(r *timeline.Request) (out []row) {
	for i := range r.Segments {
		s := &r.Segments[i]
		next := row{s.From, s.To, s.Phase, s.Call, s.Quality, []timeline.Cause{s.Cause}, map[timeline.RequestID]bool{}}
		if s.Blocker != timeline.None {
			next.behind[s.Blocker] = true
		}
		if n := len(out); n > 0 && out[n-1].takes(&next, r.Duration()/100) {
			out[n-1].join(&next)
			continue
		}
		out = append(out, next)
	}
	return out
}

// takes reports whether a row may go on with the next one: of the same call and
// phase, and of the same single cause, or one of the two is short.
func (w *row) takes(next *row, short Duration) bool {
	if w.to != next.from || w.phase != next.phase || w.call != next.call {
		return false
	}
	same := len(w.causes) == 1 && w.causes[0] == next.causes[0] && w.inferred == next.inferred
	return same || next.to.Sub(next.from) < short || w.to.Sub(w.from) < short
}

func (w *row) join(next *row) {
	w.to = next.to
	w.inferred = max(w.inferred, next.inferred)
	for id := range next.behind {
		w.behind[id] = true
	}
	for _, c := range w.causes {
		if c == next.causes[0] {
			return
		}
	}
	w.causes = append(w.causes, next.causes[0])
}

func (w *row) label() string {
	names := make([]string, len(w.causes))
	for i, c := range w.causes {
		names[i] = c.String()
	}
	label := w.phase.String() + ", " + strings.Join(names, "/")
	if w.inferred != timeline.Exact {
		label += " (" + w.inferred.String() + ")"
	}
	return label
}

func (w *row) note() string {
	switch {
	case len(w.behind) > 1:
		return fmt.Sprintf(" behind %d", len(w.behind))
	case w.call != timeline.None:
		return fmt.Sprintf(" call %d", w.call)
	}
	for id := range w.behind {
		return fmt.Sprintf(" behind #%d", id)
	}
	return ""
}
