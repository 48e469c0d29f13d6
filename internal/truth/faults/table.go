package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/getdwell/dwell/internal/truth/marked"
)

func ms(ns float64) string { return fmt.Sprintf("%.2f", ns/float64(time.Millisecond)) }

func ids(list []item) string {
	var names []string
	for _, f := range list {
		names = append(names, f.ID)
	}
	return strings.Join(names, ", ")
}

// line is the row of a result.
func (r *result) line() string {
	id, list := r.Faulty.Said.first()
	first := strings.TrimSpace(id + " " + list)
	head := fmt.Sprintf("| %s | %s | %d | %s | ", r.Plan.Fault, r.Plan.Runtime, r.Plan.Seed, cmp.Or(r.Plan.Beside, "-"))
	if r.Twin == nil {
		verdict := "-"
		if found := r.Faulty.Said.falsely(&r.Plan); len(found) > 0 {
			verdict = "**false: " + ids(found) + "**"
		}
		return head + fmt.Sprintf("%s | %s | - | %s | - | - | - | - |", first, verdict, ms(r.Faulty.Clients.Mean))
	}
	verdict := string(r.outcome())
	if verdict != string(right) {
		verdict += ": it is " + r.Faulty.Said.became(kindOf(r.Plan.Fault).names)
	}
	switch {
	case r.disturbed():
		verdict = "(disturbed; " + verdict + ")"
	case !r.judged():
		verdict = "(" + verdict + ")"
	case r.outcome() != right:
		verdict = "**" + verdict + "**"
	}
	saved, chance := r.saved()
	promise := "-"
	if p := r.promised(); p != nil {
		more := map[bool]string{true: " or more"}[p.Impact.LowerBound]
		promise = fmt.Sprintf("%s (%s to %s%s)", ms(float64(p.Impact.Mean)), ms(float64(p.Impact.Low)), ms(float64(p.Impact.High)), more)
	}
	return head + fmt.Sprintf("%s | %s | %.0f %% | %s | %s | %s ± %s | %s | %s |", first, verdict, 100*r.effect(), ms(r.Faulty.Clients.Mean),
		promise, ms(saved), ms(chance), ms(r.logged()), cmp.Or(ids(r.Twin.Said.Findings), "-"))
}

// count is what is counted of one fault, or of one kind of healthy service.
type count struct {
	rows, judged          int
	is                    map[outcome]int // of those that are judged
	smaller, small        int             // those whose fault costs less, and right of them
	disturbed             int
	falsely               int // findings of the healthy service
	promised              int
	strictly, chance, log int       // of these: see held
	off                   []float64 // predicted by what the services logged
}

func (c *count) add(r *result) {
	c.rows++
	if r.Twin == nil {
		c.falsely += min(1, len(r.Faulty.Said.falsely(&r.Plan)))
		return
	}
	c.falsely += min(1, len(r.Twin.Said.falsely(&r.Plan)))
	switch {
	case r.judged():
		c.judged++
		c.is[r.outcome()]++
	case r.disturbed():
		c.disturbed++
	default:
		c.smaller++
		if r.outcome() == right {
			c.small++
		}
	}
	if p := r.promised(); p != nil && r.judged() {
		c.promised++
		h := r.held()
		for of, is := range map[*int]bool{&c.strictly: h.strictly, &c.chance: h.byChance, &c.log: h.byLog} {
			if is {
				*of++
			}
		}
		if saved := r.logged(); saved > 0 {
			c.off = append(c.off, float64(p.Impact.Mean)/saved)
		}
	}
}

// of counts the results that a test picks.
func of(results []*result, pick func(*result) bool) count {
	c := count{is: map[outcome]int{}}
	for _, r := range results {
		if pick(r) {
			c.add(r)
		}
	}
	return c
}

// line is the row of a fault.
func (c *count) line(fault string) string {
	off := "-"
	if slices.Sort(c.off); len(c.off) > 0 {
		off = fmt.Sprintf("%+.0f %%", 100*(c.off[len(c.off)/2]-1))
	}
	small := "-"
	if c.smaller > 0 {
		small = fmt.Sprintf("%d of %d", c.small, c.smaller)
	}
	held := "-"
	if c.promised > 0 {
		held = fmt.Sprintf("%d, %d (%d) of %d", c.log, c.strictly, c.chance, c.promised)
	}
	return fmt.Sprintf("| %s | %d | %d | %d | %d | %d | %s | %d | %s | %s |", fault, c.rows, c.judged, c.is[right], c.is[wrong], c.is[missed], small, c.falsely, held, off)
}

// table prints the counts by fault, and then each result.
func table(out io.Writer, results map[string]*result) {
	list := slices.SortedFunc(maps.Values(results), func(a, b *result) int {
		return cmp.Or(cmp.Compare(a.Plan.Fault, b.Plan.Fault), cmp.Compare(a.Plan.Runtime, b.Plan.Runtime), cmp.Compare(a.Plan.Seed, b.Plan.Seed))
	})
	well := of(list, func(r *result) bool { return r.Twin == nil })
	faulty := of(list, func(r *result) bool { return r.Twin != nil })
	seeds := map[uint64]bool{}
	for _, r := range list {
		seeds[r.Plan.Seed] = true
	}
	fmt.Fprintf(out, "Played with `make faults SEEDS=%s`.\n\n", strings.Trim(strings.ReplaceAll(fmt.Sprint(slices.Sorted(maps.Keys(seeds))), " ", ","), "[]"))
	fmt.Fprintf(out, "Of %d faulty services %d cost a tenth of the mean, of p50 or of p99, or more: of %d of these the fault is said first, of %d something else is found first, of %d it is missed. %d do not count: programs that nobody planted cost them more than the fault.\n",
		faulty.rows, faulty.judged, faulty.is[right], faulty.is[wrong], faulty.is[missed], faulty.disturbed)
	fmt.Fprintf(out, "Of %d healthy services %d have a finding, of %d twins %d. ", well.rows, well.falsely, faulty.rows, faulty.falsely)
	fmt.Fprintf(out, "What mending saves of the mean lies in the promised range in %d of %d by the services' logs; by what clients waited in %d, or no farther from it than chance in %d.\n\n",
		faulty.log, faulty.promised, faulty.strictly, faulty.chance)
	fmt.Fprintln(out, "| fault | rows | worth a tenth | right | wrong | missed | right of the smaller | twins (or healthy services) with a finding | saving in the range by the logs, by the clients (but for chance) | promised against logged, median |")
	fmt.Fprintln(out, "|---|---|---|---|---|---|---|---|---|---|")
	for _, k := range kinds() {
		if c := of(list, func(r *result) bool { return r.Plan.Fault == k.fault }); c.rows > 0 {
			fmt.Fprintln(out, c.line(k.fault))
		}
	}
	fmt.Fprintln(out, "\n| fault | runtime | seed | beside | said first | | effect | mean, ms | promised to be saved, ms | saved by the clients, ms | by the logs, ms | found of the twin |")
	fmt.Fprintln(out, "|---|---|---|---|---|---|---|---|---|---|---|---|")
	for _, r := range list {
		fmt.Fprintln(out, r.line())
	}
}

// publish puts the tables into the document, or prints them.
func publish(into string, results map[string]*result) error {
	var text bytes.Buffer
	table(&text, results)
	return marked.Replace(into, "faults", text.Bytes())
}
