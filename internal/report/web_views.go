package report

import (
	"github.com/getdwell/dwell/internal/timeline"
)

// flamesWorth: a row of a flame graph or tree is on the page if it is at least one part in this many.
const flamesWorth = 1000

func webFlames(list []*Flames) []*Flames {
	size := 0
	for i, f := range list {
		for _, of := range []*Flame{&f.OnCPU, &f.Waiting} {
			of.Rows = thinFlame(of.Rows, (f.OnCPU.Total+f.Waiting.Total)/flamesWorth, &size)
		}
		if size > flameBytes {
			return list[:i+1]
		}
	}
	return orEmpty(list)
}

// thinFlame joins rows that are too small to be seen into one.
func thinFlame(rows []*FlameRow, least Duration, size *int) []*FlameRow {
	out := make([]*FlameRow, 0, len(rows))
	small := &FlameRow{Frame: Frame{Name: "(smaller ones)", Full: "(smaller ones)", Kind: "none"}, Causes: map[string]Duration{}}
	for _, r := range rows {
		if r.Total >= least {
			*size += 200 + len(r.Full) + len(r.File)
			r.Rows = thinFlame(r.Rows, least, size)
			out = append(out, r)
			continue
		}
		small.Total += r.Total
		small.Self += r.Total
		small.Stacks += r.Stacks
		causesBeneath(r, small.Causes)
	}
	if small.Total > 0 {
		out = append(out, small)
	}
	return out
}

func causesBeneath(r *FlameRow, into map[string]Duration) {
	for c, d := range r.Causes {
		into[c] += d
	}
	for _, b := range r.Rows {
		causesBeneath(b, into)
	}
}

func webTrees(list []*Tree) []*Tree {
	size := 0
	for i, t := range list {
		t.Rows = thinTree(t.Rows, [2]Duration{t.Ordinary.Total / flamesWorth, t.Slow.Total / flamesWorth}, &size)
		if size > flameBytes {
			return list[:i+1]
		}
	}
	return orEmpty(list)
}

func thinTree(rows []*TreeRow, least [2]Duration, size *int) []*TreeRow {
	out := make([]*TreeRow, 0, len(rows))
	for _, r := range rows {
		if r.Ordinary.Total > least[0] || r.Slow.Total > least[1] {
			*size += 500 + len(r.Full) + len(r.File)
			r.Rows = thinTree(r.Rows, least, size)
			out = append(out, r)
		}
	}
	return out
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// webDumps returns the instants for which a page contains what every thread did: when most threads were blocked, and
// the middle of the slowest request of each endpoint.
func webDumps(tl *timeline.Timeline, r *Report, source Source) []*Dump {
	var list []DumpOptions
	if at, n := MostBlocked(tl); n > 0 {
		list = append(list, DumpOptions{At: at, Chosen: "where most threads were blocked", Source: source})
	}
	for i := range r.Endpoints {
		e := &r.Endpoints[i]
		q := &tl.Requests[e.Slowest]
		list = append(list, DumpOptions{At: q.Start + (q.End-q.Start)/2, Chosen: "in the middle of the slowest " + e.Name, Source: source})
	}
	out, size := []*Dump{}, 0
	for _, o := range list {
		if size > dumpBytes {
			break
		}
		d := NewDump(tl, o)
		for _, t := range d.Threads {
			size += 350 + 150*len(t.Stack)
		}
		out = append(out, d)
	}
	return out
}
