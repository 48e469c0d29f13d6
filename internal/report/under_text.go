package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/timeline"
)

// UnderJSON writes the time under a function as one line.
func UnderJSON(w io.Writer, u *Under) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(u); err != nil {
		return fmt.Errorf("write the time under %s as JSON: %w", u.Query, err)
	}
	return nil
}

// UnderText writes the time under a function: mean time per request, ordinary and slow, then individual requests if
// there are any.
func UnderText(w io.Writer, u *Under, o TextOptions) error {
	p := newPage(o)
	p.wrap(bold, "", "Time under "+u.Query+": "+strings.Join(u.Functions, ", "), 3)
	if len(u.Endpoints) == 0 {
		p.line(plain, "  No request was seen beneath it.")
	}
	for i := range u.Endpoints {
		underEndpoint(p, &u.Endpoints[i])
	}
	for i := range u.Requests {
		p.raw("")
		underRequest(p, &u.Requests[i])
	}
	return p.flush(w)
}

// Columns of the table of an endpoint.
const (
	underLabel = 26
	underCell  = 37
)

func underEndpoint(p *page, e *UnderEndpoint) {
	p.raw("")
	p.raw(p.paint(bold, pad(clip(e.Name, underLabel-1), underLabel)+
		pad(fmt.Sprintf("mean of %d ordinary (near p50)", e.Ordinary.Requests), underCell)+fmt.Sprintf("of %d slow (near p99)", e.Slow.Requests)))
	for _, label := range underLabels(&e.Ordinary, &e.Slow) {
		p.raw("  " + pad(label, underLabel-2) + underCellOf(&e.Ordinary, label) + underCellOf(&e.Slow, label))
	}
	p.raw(p.paint(bold, "  "+pad("beneath it together", underLabel-2)) + togetherCell(&e.Ordinary) + togetherCell(&e.Slow))
	if e.Ordinary.Unseen+e.Slow.Unseen > 0 {
		p.raw(p.paint(yellow, "  "+pad("or not: no stack seen", underLabel-2)) + plainCell(&e.Ordinary, e.Ordinary.Unseen) + plainCell(&e.Slow, e.Slow.Unseen))
	}
	p.raw(p.paint(dim, "  "+pad("of requests that took", underLabel-2)) + plainCell(&e.Ordinary, e.Ordinary.Total) + plainCell(&e.Slow, e.Slow.Total))
	underEntered(p, &e.All)
	underCalled(p, &e.All)
}

// underEntered says how often requests entered the function, and how long each entry took.
func underEntered(p *page, s *UnderSet) {
	e := &s.Entered
	if e.Count == 0 {
		return
	}
	took := fmt.Sprintf("p50 %s, p99 %s, max %s", e.P50, e.P99, e.Max)
	p.wrap(plain, "  entered ", fmt.Sprintf("at least %s, by %d of %s; what one took: %s", times2(e.Count), e.Requests, plural(s.Requests, "request"), took), 4)
	p.wrap(dim, "    ", "an estimate by "+plural(e.Stacks, "stack")+": from the first to the last taken in it, up to those taken outside; entries without one between them count as one, those without one in them not at all", 3)
}

// String gives the bounds of a duration.
func (b Bracket) String() string {
	if low, high := human(b.Low), human(b.High); low != high {
		return low + " to " + high
	}
	return human(b.Low)
}

// underLabels returns the rows of both sets; those with most time in slow requests come first.
func underLabels(ordinary, slow *UnderSet) (out []string) {
	for _, s := range []*UnderSet{slow, ordinary} {
		for i := range s.Causes {
			if l := s.Causes[i].label(); !slices.Contains(out, l) {
				out = append(out, l)
			}
		}
	}
	return out
}

func (t *UnderTime) label() string { return t.Cause + ", " + t.Quality }

func underCellOf(s *UnderSet, label string) string {
	for i := range s.Causes {
		if t := &s.Causes[i]; t.label() == label {
			return valueCell(s, t.Took, t.Low, t.High)
		}
	}
	return pad(pad("-", -8), underCell)
}

func togetherCell(s *UnderSet) string { return valueCell(s, s.Beneath, s.Low, s.High) }

func plainCell(s *UnderSet, d Duration) string { return valueCell(s, d, d, d) }

// valueCell prints a mean and, if it is not exact, its interval.
func valueCell(s *UnderSet, took, low, high Duration) string {
	n := Duration(max(1, s.Requests))
	text := pad(human(took/n), -8) + pad(percent(share(int64(took), int64(max(1, s.Total)))), -8)
	if low != high {
		text += " (" + human(low/n) + " to " + human(high/n) + ")"
	}
	return pad(text, underCell-1) + " "
}

// underCalled prints the calls made beneath the function.
func underCalled(p *page, s *UnderSet) {
	for _, c := range s.Calls {
		name := c.Peer
		if c.Operation != "" {
			name = c.Operation + " at " + name
		}
		p.wrap(plain, "  call  ", fmt.Sprintf("%s: %d in %s, mean %s", name, c.Count, plural(s.Requests, "request"), human(c.Total/Duration(c.Count))), 2)
	}
	if s.Opaque > 0 {
		p.wrap(dim, "  ", fmt.Sprintf("%s whose waits have no stack may have been made beneath it or not.", plural(s.Opaque, "more call")), 2)
	}
}

// shownEntries is how many entries of a request are printed.
const shownEntries = 8

func underRequest(p *page, r *UnderRequest) {
	text := fmt.Sprintf("%s %s, of it %s beneath", r.Endpoint, human(r.Total), human(r.Beneath))
	if r.Low != r.High {
		text += fmt.Sprintf(" (%s to %s)", human(r.Low), human(r.High))
	}
	p.wrap(bold, fmt.Sprintf("#%d ", r.ID), text, 2)
	for i := range r.Causes {
		t := &r.Causes[i]
		line := "  " + pad(t.label(), underLabel-2) + pad(human(t.Took), -8)
		if t.Quality == timeline.Sampled.String() {
			line += fmt.Sprintf("  (%s to %s: %d of %s)", human(t.Low), human(t.High), t.Samples, plural(t.Of, "sample"))
		}
		p.raw(line)
	}
	if len(r.Entries) > 0 {
		p.line(plain, "  entered at least %s:", times2(len(r.Entries)))
	}
	for i, e := range r.Entries {
		if i == shownEntries {
			p.line(dim, "    and %d more", len(r.Entries)-i)
			break
		}
		p.line(plain, "    at +%s for %s on %s, %s of it waiting (%s)", human(e.From), Bracket{e.To - e.From, e.Most}, e.Strand, human(e.Waited), plural(e.Seen, "stack"))
	}
	underCalled(p, &r.UnderSet)
}

func times2(n int) string {
	if n == 1 {
		return "once"
	}
	return thousands(int64(n)) + " times"
}
