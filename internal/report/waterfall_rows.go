package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/getdwell/dwell/internal/timeline"
)

// row is one line of a waterfall: adjacent segments of one phase. Segments that differ only in what the loop did
// meanwhile share a row, and so do pieces too short to be drawn.
type row struct {
	from, to timeline.Time
	phase    timeline.Phase
	call     timeline.CallID
	strand   timeline.StrandID // of its first segment
	wait     timeline.WaitID   // the wait that contains its longest part, or None
	inferred timeline.Quality  // the weakest of its segments
	causes   []timeline.Cause  // in order of first appearance
	behind   map[timeline.RequestID]bool
	took     map[timeline.Cause]Duration
}

// rowsOf joins the segments of a request into rows.
func rowsOf(tl *timeline.Timeline, r *timeline.Request) (out []row) {
	for s := r.Segments(); s.Next(); {
		next := row{s.From, s.To, s.Phase, s.Call, s.Strand, within(tl, &s.Segment), s.Quality, []timeline.Cause{s.Cause}, map[timeline.RequestID]bool{},
			map[timeline.Cause]Duration{s.Cause: s.To.Sub(s.From)}}
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

// within returns the wait of a strand that contains a segment, including short runs within that wait; or None.
func within(tl *timeline.Timeline, s *timeline.Segment) timeline.WaitID {
	if s.Strand == timeline.None || s.Phase == timeline.PhaseUnread {
		return timeline.None
	}
	return tl.WaitAt(s.Strand, s.From)
}

// takes reports whether a row may be continued with the next one: it has the same call and phase, and either both
// have the same single cause or wait, or one of the two is short.
func (w *row) takes(next *row, short Duration) bool {
	if w.to != next.from || w.phase != next.phase || w.call != next.call {
		return false
	}
	same := len(w.causes) == 1 && w.causes[0] == next.causes[0] && w.inferred == next.inferred && w.strand == next.strand
	return same || w.wait != timeline.None && w.wait == next.wait || next.to.Sub(next.from) < short || w.to.Sub(w.from) < short
}

func (w *row) join(next *row) {
	if next.to.Sub(next.from) > w.to.Sub(w.from) {
		w.wait = next.wait
	}
	w.to = next.to
	w.inferred = max(w.inferred, next.inferred)
	for c, d := range next.took {
		w.took[c] += d
	}
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

// labelledCauses is how many causes of a row are named: those that took longest.
const labelledCauses = 2

// longest returns the causes of a row, beginning with the one that took most of it.
func (w *row) longest() []timeline.Cause {
	causes := slices.Clone(w.causes)
	slices.SortStableFunc(causes, func(a, b timeline.Cause) int { return cmp.Compare(w.took[b], w.took[a]) })
	return causes
}

func (w *row) label() string {
	causes := w.longest()
	label := spentOn(w.phase.String(), causes[0].String())
	for _, c := range causes[1:min(len(causes), labelledCauses)] {
		label += "/" + c.String()
	}
	if n := len(causes) - labelledCauses; n > 0 {
		label += "/" + strconv.Itoa(n) + " more"
	}
	if w.inferred != timeline.Exact {
		label += " (" + w.inferred.String() + ")"
	}
	return label
}

// spentOn names time by its phase and cause.
func spentOn(phase, cause string) string {
	if phase == cause {
		return cause
	}
	return phase + ", " + cause
}

func (w *row) note() string {
	switch {
	case len(w.behind) > 1:
		return fmt.Sprintf(" behind %d others", len(w.behind))
	case w.call != timeline.None:
		return fmt.Sprintf(" call %d", w.call)
	}
	for id := range w.behind {
		return fmt.Sprintf(" behind #%d", id)
	}
	return ""
}
