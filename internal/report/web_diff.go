package report

import (
	"cmp"
	"io"
	"slices"
)

// WebDiff is the content of the page of two recordings.
type WebDiff struct {
	Version int           `json:"version"`
	Kind    string        `json:"kind"` // "diff"
	Diff    *Diff         `json:"diff"` // as dwell diff --json
	A       *WebPage      `json:"a"`    // without individual requests, flame graphs and threads
	B       *WebPage      `json:"b"`
	Flames  []*DiffFlames `json:"flames"`
}

// DiffFlames are the stacks of an endpoint's requests on both sides, on processors and waiting. Each function has the
// mean time per request beneath it.
type DiffFlames struct {
	Endpoint  string          `json:"endpoint"`
	RequestsA int             `json:"requests_a"`
	RequestsB int             `json:"requests_b"`
	A         Duration        `json:"a_ns"`
	B         Duration        `json:"b_ns"`
	Rows      []*DiffFlameRow `json:"rows"`
}

// DiffFlameRow is a function called from one place.
type DiffFlameRow struct {
	Frame
	A    Duration        `json:"a_ns"`
	B    Duration        `json:"b_ns"`
	Rows []*DiffFlameRow `json:"rows,omitempty"`
}

// NewWebDiff makes the view model of the page of two recordings from their flame graphs.
func NewWebDiff(d *Diff, pages [2]*WebPage, flames [2][]*Flames) *WebDiff {
	w := &WebDiff{Version: Version, Kind: "diff", Diff: d, A: pages[0], B: pages[1], Flames: []*DiffFlames{}}
	size := 0
	for _, a := range flames[0] {
		i := slices.IndexFunc(flames[1], func(b *Flames) bool { return b.Endpoint == a.Endpoint })
		if i < 0 || size > flameBytes {
			continue
		}
		b := flames[1][i]
		f := &DiffFlames{Endpoint: a.Endpoint, RequestsA: a.Requests, RequestsB: b.Requests,
			A: a.Total / Duration(max(1, a.Requests)), B: b.Total / Duration(max(1, b.Requests))}
		m := diffFlamer{least: max(f.A, f.B) / flamesWorth, of: [2]Duration{Duration(max(1, a.Requests)), Duration(max(1, b.Requests))}, size: &size}
		f.Rows = m.merge(slices.Concat(a.OnCPU.Rows, a.Waiting.Rows), slices.Concat(b.OnCPU.Rows, b.Waiting.Rows))
		w.Flames = append(w.Flames, f)
	}
	return w
}

// diffFlamer merges rows of both sides by function. It omits those that are too small to be seen on either side.
type diffFlamer struct {
	least Duration    // per request
	of    [2]Duration // number of requests
	size  *int
}

func (m *diffFlamer) merge(a, b []*FlameRow) []*DiffFlameRow {
	type both struct {
		row   *DiffFlameRow
		below [2][]*FlameRow
	}
	known := map[[2]string]*both{}
	var order []*both
	for side, list := range [2][]*FlameRow{a, b} {
		for _, r := range list {
			k := [2]string{r.Kind, r.Full}
			if known[k] == nil {
				known[k] = &both{row: &DiffFlameRow{Frame: r.Frame}}
				order = append(order, known[k])
			}
			x := known[k]
			if side == 0 {
				x.row.A += r.Total
			} else {
				x.row.B += r.Total
			}
			x.below[side] = append(x.below[side], r.Rows...)
		}
	}
	out := []*DiffFlameRow{}
	for _, x := range order {
		x.row.A, x.row.B = x.row.A/m.of[0], x.row.B/m.of[1]
		if max(x.row.A, x.row.B) < m.least {
			continue
		}
		*m.size += 200 + len(x.row.Full) + len(x.row.File)
		x.row.Rows = m.merge(x.below[0], x.below[1])
		out = append(out, x.row)
	}
	slices.SortStableFunc(out, func(a, b *DiffFlameRow) int { return cmp.Compare(a.Full, b.Full) })
	return out
}

// WebJSON writes the page's model, safe in an HTML document.
func (w *WebDiff) WebJSON(out io.Writer) error { return webJSON(out, w) }
