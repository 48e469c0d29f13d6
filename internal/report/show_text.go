package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/getdwell/dwell/internal/timeline"
)

// ShowText writes requests as waterfalls: every segment, and every call with its
// phases, drawn to the scale of the request.
func ShowText(w io.Writer, tl *timeline.Timeline, f Filter, o TextOptions) error {
	p := newPage(o)
	ids := f.choose(tl)
	if len(ids) == 0 {
		p.line(plain, "No request to show: of %s none is chosen.", plural(len(tl.Requests), "request"))
	}
	for i, id := range ids {
		if i > 0 {
			p.raw("")
		}
		waterfall(p, tl, id, f.wall(tl.Requests[id].Start))
	}
	return p.flush(w)
}

// noteWidth leaves room for the call that a row belongs to, or the request it waited behind.
const noteWidth = 17

// scale maps times of one request to columns.
type scale struct {
	from   timeline.Time
	whole  Duration
	labels int // columns of the labels
	cells  int // columns of the bars
}

func waterfall(p *page, tl *timeline.Timeline, id timeline.RequestID, wall int64) {
	r := &tl.Requests[id]
	rows := rowsOf(tl, r)
	s := scale{from: r.Start, whole: max(1, r.Duration()), labels: len("    unread-request, on-cpu")}
	for i := range rows {
		s.labels = max(s.labels, 3+utf8.RuneCountInString(rows[i].label()))
	}
	s.cells = max(10, p.width-s.labels-9-noteWidth)
	state := ""
	switch {
	case r.Cut && tl.Idless(r):
		state = ", came while the ids of the runtime were looked for"
	case r.Cut && timeline.Unwatched(tl, r):
		state = ", left out as waits of goroutines were not watched while it ran"
	case r.Cut:
		state = ", cut by an end of the recording"
	case r.Unanswered:
		state = ", unanswered when the recording ended"
	case r.Queued:
		state = ", unread since before the recording"
	case r.Lossy:
		state = ", facts were lost while it ran"
	case r.Excluded != "":
		state = ", " + r.Excluded
	}
	if wall != 0 {
		state = " (" + timeOfDay(wall) + " UTC)" + state
	}
	head := fmt.Sprintf("#%d ", id)
	status := "its status is not known"
	if r.Status != 0 {
		status = fmt.Sprintf("status %d", r.Status)
	}
	p.wrap(bold, head, fmt.Sprintf("%s %s, %s, from %s (request %d on its connection), at +%s%s", r.Endpoint, human(r.Duration()),
		status, r.Peer, r.Ordinal+1, human(r.Start.Sub(tl.Start)), state), 2)
	next, strand, said := 0, r.Strand, map[timeline.WaitID]bool{}
	for _, w := range rows {
		for ; next < len(r.Calls) && tl.Calls[r.Calls[next]].Start <= w.from; next++ {
			callLines(p, tl, s, r.Calls[next])
		}
		if w.strand != strand && w.strand != timeline.None && w.to.Sub(w.from)*100 >= r.Duration() {
			strand = w.strand
			p.wrap(dim, "  ", "on "+strandName(tl, strand)+workedFor(r, strand)+":", 2)
		}
		drawn(p, s, shownSpan{"  " + w.label(), w.from, w.to, w.note(), p.inks[w.longest()[0].String()]})
		waitLines(p, tl, waitsIn(tl, r, &w, said), r.Start)
	}
	for ; next < len(r.Calls); next++ {
		callLines(p, tl, s, r.Calls[next])
	}
	if r.Unaccounted() > 0 {
		p.line(yellow, "  %s %s", pad("Unaccounted", s.labels-2), human(r.Unaccounted()))
	}
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
	p.raw(pad(clip(d.label, s.labels), s.labels) + pad(human(d.to.Sub(d.from)), -8) + " " + text + clip(d.note, noteWidth))
}

func (s scale) column(t timeline.Time) int {
	d := min(max(0, t.Sub(s.from)), s.whole)
	for s.whole > 1<<40 { // keep the product in range
		s.whole >>= 8
		d >>= 8
	}
	return int(int64(d) * int64(s.cells) / int64(s.whole))
}

// callLines draws a call and each of its phases at its place in time.
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
	if c.Failed() {
		how = "never connected (" + string(howFailed(tl, c)) + ")"
	}
	if d := tunnelOf(c); d > 0 {
		how += fmt.Sprintf(" through the proxy at %s, which took %s of connect", c.Proxy, human(d))
	}
	if c.Status > 0 {
		how += fmt.Sprintf(", status %d", c.Status)
	}
	if sure := c.Certainty(); sure != timeline.Told {
		how += fmt.Sprintf(", inferred to be this request's (%s: %s)", sure, c.Why)
	}
	p.wrap(bold, "  ", fmt.Sprintf("call %d: %s, %s, %s", id, name, human(c.End.Sub(c.Start)), how), 2)
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
