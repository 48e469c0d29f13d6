package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// TreeOptions select call trees and say how they are printed.
type TreeOptions struct {
	TextOptions
	Endpoint string // only this one, "" all
	All      bool   // every frame, including machine code, on a line of its own
}

// treeColumns are the parts of a row's time that get a column if any row has them.
var treeColumns = [...]struct {
	name string
	of   func(*TreeTime) Duration
}{
	{"cpu", func(t *TreeTime) Duration { return t.CPU }},
	{"lock", func(t *TreeTime) Duration { return t.Lock }},
	{"gc", func(t *TreeTime) Duration { return t.GC }},
	{"i/o", func(t *TreeTime) Duration { return t.IO }},
	{"remote", func(t *TreeTime) Duration { return t.Remote }},
	{"other", func(t *TreeTime) Duration { return t.Other }},
}

const (
	treeCell  = 9   // columns of a duration
	treeLeast = 100 // a row is shown only if it has at least one part in this many of either set, unless all are shown
)

// treePage prints one tree.
type treePage struct {
	*page
	t     *Tree
	all   bool
	shown []int // indexes of treeColumns that are not empty
	names int   // columns of the names
}

// TreesJSON writes one line for each tree.
func TreesJSON(w io.Writer, trees []*Tree) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, t := range trees {
		if err := enc.Encode(t); err != nil {
			return fmt.Errorf("write the call tree of %s as JSON: %w", t.Endpoint, err)
		}
	}
	return nil
}

// TreesText writes call trees, with the mean time per request.
func TreesText(w io.Writer, trees []*Tree, o TreeOptions) error {
	p := newPage(o.TextOptions)
	for i, t := range trees {
		if i > 0 {
			p.raw("")
		}
		tp := &treePage{page: p, t: t, all: o.All}
		tp.print()
	}
	return p.flush(w)
}

func (p *treePage) print() {
	t := p.t
	for i, c := range treeColumns {
		if d := c.of(p.sum()); d > 0 && (p.all || d*treeLeast >= t.Slow.Total) {
			p.shown = append(p.shown, i)
		}
	}
	p.names = max(24, p.width-treeCell*(2+len(p.shown))-7)
	p.wrap(bold, "", fmt.Sprintf("%s: call tree, mean of %s near p50 (ordinary) and %s near p99 (slow), by %s and %s of CPU time",
		t.Endpoint, plural(t.Ordinary.Requests, "request"), plural(t.Slow.Requests, "request"),
		"where threads waited", plural(t.Ordinary.Samples+t.Slow.Samples, "sample")), 3)
	head := pad("", p.names) + pad("ordinary", -treeCell) + pad("slow", -treeCell)
	for _, i := range p.shown {
		head += pad(treeColumns[i].name, -treeCell)
	}
	p.raw(p.paint(dim, head+pad("stacks", -7)))
	p.rows(t.Rows, 0)
	p.row(treeLine{"total", bold, &TreeTime{Total: t.Ordinary.Total}, p.sum(), ""})
	if t.Ordinary.Unaccounted+t.Slow.Unaccounted > 0 {
		p.row(treeLine{"of it unaccounted", yellow, &TreeTime{Total: t.Ordinary.Unaccounted}, &TreeTime{Total: t.Slow.Unaccounted}, ""})
	}
}

// sum returns the slow requests' time of all rows.
func (p *treePage) sum() *TreeTime {
	s := TreeTime{Total: p.t.Slow.Total}
	for _, r := range p.t.Rows {
		s.CPU += r.Slow.CPU
		s.Lock += r.Slow.Lock
		s.GC += r.Slow.GC
		s.IO += r.Slow.IO
		s.Remote += r.Slow.Remote
		s.Other += r.Slow.Other
	}
	return &s
}

// rows prints functions and what they called. A function shares a line with the function it called if it spends
// almost no time elsewhere, unless it is the place of a wait. Functions that merely implement a wait are omitted.
func (p *treePage) rows(list []*TreeRow, depth int) {
	hidden, ordinary, slow := 0, Duration(0), Duration(0)
	var chains []chain
	ends := map[string]int{}
	for _, r := range list {
		if !p.all && !p.matters(r) {
			hidden, ordinary, slow = hidden+1, ordinary+r.Ordinary.Total, slow+r.Slow.Total
			continue
		}
		c := chain{r, r, 0}
		for !p.all && c.last.beyond && !c.last.site && p.passes(c.last, c.last.Rows[0]) {
			c.last, c.folded = c.last.Rows[0], c.folded+1
		}
		chains = append(chains, c)
		ends[c.last.Full]++
	}
	for _, c := range chains {
		named := c.last
		if ends[c.last.Full] > 1 {
			named = c.first // two ways to one function
		}
		p.row(treeLine{p.label(named, depth, c.folded), plain, &c.last.Ordinary, &c.last.Slow, c.last.stacks()})
		if p.all || c.last.beyond {
			p.rows(c.last.Rows, depth+1)
		}
	}
	if hidden > 0 && ordinary+slow > 0 {
		label := strings.Repeat(" ", p.indent(depth)) + "(" + thousands(int64(hidden)) + " more)"
		p.row(treeLine{label, dim, &TreeTime{Total: ordinary}, &TreeTime{Total: slow}, ""})
	}
}

// chain is a chain of functions, each called by the previous one, that share a line.
type chain struct {
	first, last *TreeRow
	folded      int
}

// matters reports whether a row takes enough of either set, and not only because one stack happened to be taken
// there.
func (p *treePage) matters(r *TreeRow) bool {
	if r.Slow.Total == 0 && r.Ordinary.Total == 0 || p.stray(r.Slow.Total, r.Ordinary.Total, r.count()) {
		return false
	}
	return r.Slow.Total*treeLeast >= p.t.Slow.Total && r.Slow.Total > 0 || r.Ordinary.Total*treeLeast >= p.t.Ordinary.Total && r.Ordinary.Total > 0
}

// passes reports whether a row below contains all of a row's time except for a part too small to be shown.
func (p *treePage) passes(r, below *TreeRow) bool {
	slow, ordinary := r.Slow.Total-below.Slow.Total, r.Ordinary.Total-below.Ordinary.Total
	return slow*treeLeast <= p.t.Slow.Total && ordinary*treeLeast <= p.t.Ordinary.Total || p.stray(slow, ordinary, r.count()-below.count())
}

// stray reports time that rests on one stack of many, and is not a large part of either set.
func (p *treePage) stray(slow, ordinary Duration, stacks int) bool {
	all := 0
	for _, r := range p.t.Rows {
		all += r.count()
	}
	return stacks <= 1 && all >= treeLeast && slow*strayLeast <= p.t.Slow.Total && ordinary*strayLeast <= p.t.Ordinary.Total
}

// strayLeast is the share of a set, as one part in this many, that one stack must represent to be shown.
const strayLeast = 10

// label names a row, says how many functions above it share its line, and where it is, as far as there is room.
func (p *treePage) label(r *TreeRow, depth, folded int) string {
	room := p.names - p.indent(depth) - 1
	text := r.Name
	if n := utf8.RuneCountInString(text); n > room {
		text = "…" + string([]rune(text)[n-max(1, room-1):])
	}
	where, above := r.where(), ""
	if folded > 0 {
		above = " +" + strconv.Itoa(folded)
	}
	if where != "" {
		where = " (" + where + ")"
	}
	for _, more := range []string{above, where} {
		if utf8.RuneCountInString(text+more) <= room {
			text += more
		}
	}
	return strings.Repeat(" ", p.indent(depth)) + text
}

// indent is how far a row is indented: two columns per level at first, then one, and never so far that its name
// becomes unreadable.
func (p *treePage) indent(depth int) int {
	const wide, readable = 6, 22
	return min(2*min(depth, wide)+max(0, depth-wide), p.names-readable)
}

// treeLine is one printed line. stacks is "" if there can be none.
type treeLine struct {
	label          string
	style          style
	ordinary, slow *TreeTime
	stacks         string
}

func (p *treePage) row(l treeLine) {
	text := p.paint(l.style, pad(clip(l.label, p.names), p.names)) + cellOf(l.ordinary.Total, p.t.Ordinary.Requests) + cellOf(l.slow.Total, p.t.Slow.Requests)
	for _, i := range p.shown {
		text += cellOf(treeColumns[i].of(l.slow), p.t.Slow.Requests)
	}
	p.raw(text + pad(l.stacks, -7))
}

// count returns how many stacks a row rests on.
func (r *TreeRow) count() int { return r.Ordinary.Stacks + r.Slow.Stacks }

func (r *TreeRow) stacks() string {
	if n := r.count(); n > 0 {
		return thousands(int64(n))
	}
	return "-"
}

func cellOf(sum Duration, requests int) string {
	mean := sum / Duration(max(1, requests))
	if mean == 0 {
		return pad("-", -treeCell)
	}
	return pad(human(mean), -treeCell)
}
