package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/timeline"
)

// Flames are an endpoint's flame graphs: the time of all its measured requests, by the stacks in which it was spent.
type Flames struct {
	Version     int      `json:"version"`
	Endpoint    string   `json:"endpoint"`
	Program     string   `json:"program,omitempty"` // of a recording without requests: the program whose threads are shown
	Requests    int      `json:"requests"`
	Total       Duration `json:"total_ns"`
	Unaccounted Duration `json:"unaccounted_ns"`
	OnCPU       Flame    `json:"on_cpu"`  // with Unaccounted, the two sum to the total
	Waiting     Flame    `json:"waiting"` // everything else: waits, and time without a CPU
}

// Flame is one flame graph.
type Flame struct {
	Total   Duration    `json:"total_ns"`
	Samples int         `json:"samples"` // over which the time on a CPU is distributed
	Rows    []*FlameRow `json:"rows"`    // outermost functions
}

// FlameRow is a function called from one place. For time without a stack it is what is known about that time, in
// parentheses.
type FlameRow struct {
	Frame
	Total  Duration            `json:"total_ns"`
	Self   Duration            `json:"self_ns"`
	Causes map[string]Duration `json:"causes,omitempty"` // of Self
	Stacks int                 `json:"stacks"`           // seen beneath it
	Rows   []*FlameRow         `json:"rows,omitempty"`
}

// AllFlames makes the flame graphs of the endpoints that have measured requests; the one that takes most time comes
// first. It omits the machine code with which a runtime runs its functions.
func AllFlames(tl *timeline.Timeline, r *Report, endpoint string) []*Flames {
	x := newStackIndex(tl)
	var out []*Flames
	list := slices.Clone(r.Endpoints)
	slices.SortStableFunc(list, func(a, b Endpoint) int { return cmp.Compare(b.ids.total, a.ids.total) })
	for i := range list {
		if e := &list[i]; endpoint == "" || e.Name == endpoint {
			out = append(out, flamesOf(x, e))
		}
	}
	return out
}

func flamesOf(x *stackIndex, e *Endpoint) *Flames {
	f := flamesBy(x.tl, x.weigh(e.ids.all))
	f.Endpoint = e.Name
	return f
}

func flamesBy(tl *timeline.Timeline, w *weights) *Flames {
	g := newGrower(tl, false)
	cpu, waiting := w.split(timeline.CauseOnCPU)
	g.grow(0, cpu)
	g.grow(1, waiting)
	n := 0
	for _, k := range w.samples {
		n += k
	}
	return &Flames{
		Version: Version, Requests: w.requests, Total: w.total, Unaccounted: w.unaccounted,
		OnCPU:   Flame{g.root.sets[0].total(), n, flameRows(g.root, 0)},
		Waiting: Flame{g.root.sets[1].total(), 0, flameRows(g.root, 1)},
	}
}

// split separates what was spent on one cause from the rest. Stacks sampled on a CPU count for the cause on-cpu.
func (w *weights) split(cause timeline.Cause) (of, rest *weights) {
	of = &weights{by: map[timeline.StackID]*amounts{}, unseen: map[string]*amounts{}, samples: w.samples}
	rest = &weights{by: map[timeline.StackID]*amounts{}, unseen: map[string]*amounts{}, samples: map[timeline.StackID]int{}}
	for id, a := range w.by {
		one, other := a.split(cause)
		one.stacks = w.samples[id]
		other.stacks, other.placed = a.stacks-one.stacks, a.placed
		of.by[id], rest.by[id] = one, other
	}
	for name, a := range w.unseen {
		of.unseen[name], rest.unseen[name] = a.split(cause)
	}
	return of, rest
}

func (a *amounts) split(cause timeline.Cause) (of, rest *amounts) {
	of, rest = &amounts{}, &amounts{took: a.took}
	of.took[cause], rest.took[cause] = a.took[cause], 0
	return of, rest
}

// flameRows returns the rows below a branch, sorted by name as is usual for flame graphs.
func flameRows(b *branch, set int) []*FlameRow {
	rows := []*FlameRow{}
	for _, c := range b.order {
		total := c.sets[set].total()
		if total == 0 {
			continue
		}
		r := &FlameRow{Frame: c.frame, Total: total, Self: c.self[set].total(), Stacks: c.sets[set].stacks, Rows: flameRows(c, set)}
		if r.Self > 0 {
			r.Causes = treeTime(&c.self[set]).Causes
		}
		rows = append(rows, r)
	}
	slices.SortStableFunc(rows, func(a, b *FlameRow) int { return cmp.Compare(a.Full, b.Full) })
	return rows
}

// FlamesJSON writes one line for each endpoint.
func FlamesJSON(w io.Writer, list []*Flames) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, f := range list {
		if err := enc.Encode(f); err != nil {
			return fmt.Errorf("write the flame graphs of %s as JSON: %w", f.Endpoint, err)
		}
	}
	return nil
}

// Parts of flame graphs that can be written.
const (
	FoldedAll     = "all"
	FoldedCPU     = "cpu"
	FoldedWaiting = "waiting"
)

// Folded writes stacks in the format that flamegraph.pl and speedscope read. Each line has semicolon-separated
// functions, the outermost first, and nanoseconds; it begins with the endpoint and ends with the cause.
func Folded(w io.Writer, list []*Flames, part string) error {
	var b strings.Builder
	for _, f := range list {
		of := foldable(cmp.Or(f.Endpoint, f.Program))
		if part != FoldedWaiting {
			foldRows(&b, of, f.OnCPU.Rows)
		}
		if part != FoldedCPU {
			foldRows(&b, of, f.Waiting.Rows)
		}
		if part == FoldedAll && f.Unaccounted > 0 {
			fmt.Fprintf(&b, "%s;(unaccounted) %d\n", of, f.Unaccounted)
		}
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write folded stacks: %w", err)
	}
	return nil
}

func foldRows(b *strings.Builder, above string, rows []*FlameRow) {
	for _, r := range rows {
		path := above + ";" + foldable(r.Name)
		for _, cause := range sorted(r.Causes) {
			fmt.Fprintf(b, "%s;[%s] %d\n", path, cause, r.Causes[cause])
		}
		foldRows(b, path, r.Rows)
	}
}

// foldable replaces characters that would end a function's name.
func foldable(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ';':
			return ':'
		case r < ' ':
			return ' '
		}
		return r
	}, name)
}
