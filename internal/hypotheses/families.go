package hypotheses

import (
	"cmp"
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
)

// families numbers the thread pools of strands, and adds up time for each.
type families struct {
	c      *diagnosis.Case
	strand map[timeline.StrandID]int
	number map[string]int
	names  []string
	time   []Duration
}

func newFamilies(c *diagnosis.Case) *families {
	return &families{c: c, strand: map[timeline.StrandID]int{}, number: map[string]int{}}
}

// of returns the number of a strand's family, and adds d to its time.
func (f *families) of(id timeline.StrandID, d Duration) int {
	n, ok := f.strand[id]
	if !ok {
		name := family(f.c.Strands[id].Name)
		if n, ok = f.number[name]; !ok {
			n = len(f.names)
			f.number[name] = n
			f.names, f.time = append(f.names, name), append(f.time, 0)
		}
		f.strand[id] = n
	}
	f.time[n] += d
	return n
}

// longest returns the names of all families by their time, the longest first.
func (f *families) longest() []string {
	order := make([]int, len(f.names))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(f.time[b], f.time[a]), cmp.Compare(f.names[a], f.names[b]))
	})
	out := make([]string, len(order))
	for i, n := range order {
		out[i] = f.names[n]
	}
	return out
}

// family is the name of a thread without its numbers: "http-nio-8080-exec-3" belongs to "http-nio-*-exec-*".
func family(name string) string {
	var b strings.Builder
	digits := false
	for _, r := range name {
		if r >= '0' && r <= '9' {
			if !digits {
				b.WriteByte('*')
			}
			digits = true
			continue
		}
		digits = false
		b.WriteRune(r)
	}
	return b.String()
}
