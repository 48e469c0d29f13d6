package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/getdwell/dwell/internal/timeline"
)

// ShowText writes requests as waterfalls: every segment, and every call with its
// phases, drawn to the scale of the request.
func ShowText(w io.Writer, tl *timeline.Timeline, f Filter, o TextOptions) error {
	p := newPage(o)
	ids := f.choose(tl)
	if len(ids) == 0 {
		p.line(plain, "No request to show.")
	}
	for i, id := range ids {
		if i > 0 {
			p.raw("")
		}
		waterfall(p, tl, id)
	}
	return p.flush(w)
}

const labelWidth = 34

// scale maps times of one request to columns.
type scale struct {
	from  timeline.Time
	whole Duration
	cells int
}

func waterfall(p *page, tl *timeline.Timeline, id timeline.RequestID) {
	r := &tl.Requests[id]
	s := scale{r.Start, max(1, r.Duration()), max(10, p.width-labelWidth-24)}
	state := ""
	switch {
	case r.Cut:
		state = ", cut by an end of the recording"
	case r.Lossy:
		state = ", facts were lost while it ran"
	case r.Excluded != "":
		state = ", " + r.Excluded
	}
	p.line(bold, "#%d %s  %s  status %d, from %s (number %d on its connection), at +%s%s", id, r.Endpoint, human(r.Duration()),
		r.Status, r.Peer, r.Ordinal, human(r.Start.Sub(tl.Start)), state)
	next := 0
	for i := 0; i < len(r.Segments); {
		to := alike(r.Segments, i)
		for ; next < len(r.Calls) && tl.Calls[r.Calls[next]].Start <= r.Segments[i].From; next++ {
			callLines(p, tl, s, r.Calls[next])
		}
		segmentLine(p, s, r.Segments[i:to])
		i = to
	}
	for ; next < len(r.Calls); next++ {
		callLines(p, tl, s, r.Calls[next])
	}
	if r.Unaccounted > 0 {
		p.line(yellow, "  %s %s", pad("Unaccounted", labelWidth), human(r.Unaccounted))
	}
}

// alike returns the end of the run of adjacent segments from i on that differ at most
// in what the loop did meanwhile: they make one line.
func alike(all []timeline.Segment, i int) int {
	k := i + 1
	for ; k < len(all); k++ {
		a, b := &all[k-1], &all[k]
		if a.To != b.From || a.Phase != b.Phase || a.Cause != b.Cause || a.Quality != b.Quality || a.Call != b.Call {
			break
		}
	}
	return k
}

func segmentLine(p *page, s scale, run []timeline.Segment) {
	first := &run[0]
	label := first.Phase.String() + ", " + first.Cause.String()
	if first.Quality != timeline.Exact {
		label += " (" + first.Quality.String() + ")"
	}
	note := ""
	if first.Call != timeline.None {
		note = fmt.Sprintf(" call %d", first.Call)
	}
	behind := map[timeline.RequestID]bool{}
	for i := range run {
		if b := run[i].Blocker; b != timeline.None {
			behind[b] = true
			note = fmt.Sprintf(" behind #%d", b)
		}
	}
	if len(behind) > 1 {
		note = fmt.Sprintf(" behind %d", len(behind))
	}
	drawn(p, s, shownSpan{"  " + label, first.From, run[len(run)-1].To, note, cyan})
}

// shownSpan is one line of a waterfall.
type shownSpan struct {
	label    string
	from, to timeline.Time
	note     string
	style    style
}

func drawn(p *page, s scale, d shownSpan) {
	from, to := s.column(d.from), s.column(d.to)
	fill := max(1, to-from)
	if from >= s.cells {
		from = s.cells - 1
	}
	text := strings.Repeat(" ", from) + p.paint(d.style, strings.Repeat("█", min(fill, s.cells-from)))
	text += strings.Repeat(" ", max(0, s.cells-from-fill))
	p.raw(pad(clip(d.label, labelWidth), labelWidth) + pad(human(d.to.Sub(d.from)), -8) + " " + text + clip(d.note, 15))
}

func (s scale) column(t timeline.Time) int {
	d := min(max(0, t.Sub(s.from)), s.whole)
	for s.whole > 1<<40 { // keep the product in range
		s.whole >>= 8
		d >>= 8
	}
	return int(int64(d) * int64(s.cells) / int64(s.whole))
}

// callLines draws a call and each of its phases where it happened.
func callLines(p *page, tl *timeline.Timeline, s scale, id timeline.CallID) {
	c := &tl.Calls[id]
	name := c.Peer
	if c.Operation != "" {
		name = c.Operation + " at " + c.Peer
	}
	how := "reused connection"
	if c.New {
		how = "new connection"
	}
	if c.Status > 0 {
		how += fmt.Sprintf(", status %d", c.Status)
	}
	p.line(bold, "  call %d: %s  %s, %s", id, name, human(c.End.Sub(c.Start)), how)
	at := c.Start
	for ph := timeline.PhaseQueue; ph <= timeline.PhaseReceive; ph++ {
		d := c.Phases[ph]
		if d == 0 {
			continue
		}
		end := at + timeline.Time(d)
		drawn(p, s, shownSpan{"    " + ph.String(), at, end, "", green})
		at = end
	}
}
