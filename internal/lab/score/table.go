package score

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/getdwell/dwell/internal/hypotheses"
	"github.com/getdwell/dwell/internal/lab"
	"github.com/getdwell/dwell/recording"
)

// Strengths returns the shares of the mean that faults take.
func Strengths() []float64 { return []float64{0.01, 0.02, 0.05, 0.10, 0.20, 0.50, 0.80} }

// Row is what was reported about the trials of one fault at one strength.
type Row struct {
	Fault     string
	Strength  float64
	Said      [outcomes]int
	Other     map[string]int // first findings that do not name the fault
	Off       []float64
	Covered   int
	Predicted int
}

func (r *Row) trials() (n int) {
	for _, k := range r.Said {
		n += k
	}
	return n
}

// Size is how much is played.
type Size struct {
	Services, Requests int // requests of each service
}

// Play plays a number of trials of a fault at a strength, with their own seeds, by several workers.
func Play(by recording.Workers, f *lab.Fault, strength float64, size Size) (*Row, error) {
	trials, requests := size.Services, size.Requests
	row := &Row{Fault: f.Name, Strength: strength, Other: map[string]int{}}
	results, failed := make([]*Result, trials), make([]error, trials)
	by.Do(trials, func(_, i int) {
		for try := range 4 { // some services cannot be slowed down this much by this fault
			t, ok := lab.NewTrial(f, strength, requests, uint64(i)*10+uint64(try)+uint64(strength*1e6))
			if !ok {
				continue
			}
			var r Result
			r, failed[i] = Trial(t)
			results[i] = &r
			return
		}
	})
	for i, r := range results {
		switch {
		case failed[i] != nil:
			return nil, failed[i]
		case r != nil:
			row.add(r)
		}
	}
	return row, nil
}

func (r *Row) add(x *Result) {
	r.Said[x.Outcome]++
	if x.First != "" {
		r.Other[x.First]++
	}
	if x.Predicted > 0 {
		r.Predicted++
		r.Off = append(r.Off, x.Off)
		if x.Covered {
			r.Covered++
		}
	}
}

// worth is the strength from which on a fault must be found.
const worth = 0.10

// Overall prints what is reported about all faults of at least that strength (worth): for faults whose hypothesis says
// why, and predicts what mending saves, and for those whose hypothesis says where.
func Overall(out io.Writer, rows []*Row) {
	var of [2]Row // 0: says why
	for _, r := range rows {
		if r.Strength >= worth {
			of[saysWhere(r.Fault)].sum(r)
		}
	}
	why, where := &of[0], &of[1]
	fmt.Fprintf(out, "Of %d services with a fault that costs %g %% of the mean or more, of a kind whose hypothesis says why, it is found in %d, and in %d something else is found first.", why.trials(), 100*worth, why.Said[Found], why.Other["first"])
	if n := len(why.Off); n > 0 {
		fmt.Fprintf(out, " The truth lies within the promised range in %d of %d (%d %%); predicted - true is %s in the median (of its size).", why.Covered, why.Predicted, why.Covered*100/why.Predicted, why.off())
	}
	fmt.Fprintf(out, "\nOf %d whose hypothesis says where, it is found in %d, and a lead in %d.\n\n", where.trials(), where.Said[Found], where.Said[Lead])
}

// saysWhere returns 1 for a fault whose hypothesis says where the time goes, not why; else 0.
func saysWhere(fault string) int {
	for _, h := range hypotheses.All() {
		if h.ID == fault && h.Where {
			return 1
		}
	}
	return 0
}

// sum adds another row.
func (r *Row) sum(x *Row) {
	for i, n := range x.Said {
		r.Said[i] += n
	}
	if r.Other == nil {
		r.Other = map[string]int{}
	}
	for _, n := range x.Other {
		r.Other["first"] += n
	}
	r.Off = append(r.Off, x.Off...)
	r.Covered += x.Covered
	r.Predicted += x.Predicted
}

// off returns the median of predicted - true and, in brackets, the median of its absolute value.
func (r *Row) off() string {
	return fmt.Sprintf("%+.0f %% (%.0f %%)", 100*median(r.Off, func(v float64) float64 { return v }), 100*median(r.Off, func(v float64) float64 { return max(v, -v) }))
}

// Rows prints rows as a table.
func Rows(out io.Writer, rows []*Row) {
	fmt.Fprintln(out, "| fault | strength | services | found | lead | minor | ruled out | undecided | predicted - true, median (of the size) | truth in the interval | found first instead |")
	fmt.Fprintln(out, "|---|---|---|---|---|---|---|---|---|---|---|")
	for _, r := range rows {
		n := r.trials()
		off, in := "-", "-"
		if r.Predicted > 0 {
			off = r.off()
			in = fmt.Sprintf("%d of %d", r.Covered, r.Predicted)
		}
		fmt.Fprintf(out, "| %s | %g %% | %d | %d | %d | %d | %d | %d | %s | %s | %s |\n", r.Fault, 100*r.Strength, n,
			r.Said[Found], r.Said[Lead], r.Said[Minor], r.Said[RuledOut]+r.Said[Absent], r.Said[Undecided], off, in, names(r.Other))
	}
}

func median(list []float64, of func(float64) float64) float64 {
	values := make([]float64, len(list))
	for i, v := range list {
		values[i] = of(v)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// names lists names with their counts, the most frequent first.
func names(said map[string]int) string {
	list := make([]string, 0, len(said))
	for name := range said {
		list = append(list, name)
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(said[b]-said[a], cmp.Compare(a, b)) })
	text := ""
	for i, name := range list {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s %d", name, said[name])
	}
	return cmp.Or(text, "-")
}

// Healthy plays services without a fault, and counts the findings by name. It also returns the seeds of services that
// have any.
func Healthy(by recording.Workers, services, requests int) (said map[string]int, seeds []int, err error) {
	lists, failed := make([][]string, services), make([]error, services)
	by.Do(services, func(_, i int) {
		s := lab.Healthy(requests, uint64(i))
		rec, _ := s.Record()
		d, err := Diagnose(rec)
		if failed[i] = err; err != nil {
			return
		}
		for _, f := range d.Findings {
			lists[i] = append(lists[i], f.ID)
		}
	})
	said = map[string]int{}
	for i, list := range lists {
		if failed[i] != nil {
			return nil, nil, failed[i]
		}
		if len(list) > 0 {
			seeds = append(seeds, i)
		}
		for _, name := range list {
			said[name]++
		}
	}
	return said, seeds, nil
}
