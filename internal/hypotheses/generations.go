package hypotheses

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// program is what a process ran while it served requests. A process that began another program counts as two.
type program struct {
	programKey
	born, ended diagnosis.Time // NoTime: born is not known; it has not ended
	first       diagnosis.Time // when the first request that it served arrived
}

type programKey struct {
	process recording.ProcessID
	earlier bool // not what the process runs at the end, but what it ran before
}

// programs holds the programs that served requests, the oldest first.
type programs struct {
	list  []program
	of    []int                 // by request: which one served it, or None
	order []diagnosis.RequestID // measured requests as they arrived
}

// generation is a run of programs that served requests before or after others.
type generation struct {
	*programs
	from, to int            // indexes into list
	first    diagnosis.Time // when its first request arrived
	ended    diagnosis.Time // when its last program ended; NoTime: one still runs
}

// served reports whether one of its programs served a request.
func (g *generation) served(id diagnosis.RequestID) bool {
	return g.of[id] >= g.from && g.of[id] < g.to
}

func (g *generation) size() int { return g.to - g.from }

// name says which processes a generation is.
func (g *generation) name(c *diagnosis.Case) string {
	if g.size() > 1 {
		return processes(g.size())
	}
	for i := range c.Processes {
		if p := &c.Processes[i]; p.ID == g.list[g.from].process {
			return fmt.Sprintf("%s (pid %d)", cmp.Or(p.Exe, p.Comm), p.PID)
		}
	}
	return processes(1)
}

func processes(n int) string {
	if n == 1 {
		return "1 process"
	}
	return diagnosis.Thousands(int64(n)) + " processes"
}

// generations finds the last two generations; young is nil if there is only one. replaced counts the programs of that
// one that have ended. A generation has ended when all its programs have. The next one begins after it had served for a
// while.
func generations(c *diagnosis.Case) (old, young *generation, replaced int) {
	p := programsOf(c)
	from := 0
	for k := 1; k < len(p.list); k++ {
		if before := p.generation(from, k); p.followed(before, c) {
			old, from = before, k
		}
	}
	if old != nil {
		return old, p.generation(from, len(p.list)), 0
	}
	for i := range p.list {
		if p.list[i].ended != recording.NoTime {
			replaced++
		}
	}
	return nil, nil, replaced
}

func programsOf(c *diagnosis.Case) *programs {
	known := map[recording.ProcessID]*timeline.Process{}
	for i := range c.Processes {
		known[c.Processes[i].ID] = &c.Processes[i]
	}
	p := &programs{of: make([]int, len(c.Requests)), order: slices.Clone(c.Measured())}
	byArrival(c, p.order)
	found := map[programKey]*program{}
	keys := make([]programKey, len(c.Requests))
	for _, id := range p.order {
		r := &c.Requests[id]
		of := known[r.Process]
		if of == nil {
			continue
		}
		k := programKey{r.Process, of.Born != recording.NoTime && r.Start < of.Born}
		keys[id] = k
		switch {
		case found[k] != nil:
		case k.earlier:
			found[k] = &program{programKey: k, ended: of.Born, first: r.Start}
		default:
			found[k] = &program{programKey: k, born: of.Born, ended: of.End, first: r.Start}
		}
	}
	for _, g := range found {
		p.list = append(p.list, *g)
	}
	slices.SortFunc(p.list, func(a, b program) int {
		return cmp.Or(cmp.Compare(a.born, b.born), cmp.Compare(a.first, b.first), cmp.Compare(a.process, b.process))
	})
	place := map[programKey]int{}
	for i, g := range p.list {
		place[g.programKey] = i
	}
	for id, k := range keys {
		p.of[id] = timeline.None
		if i, ok := place[k]; ok && k.process != recording.NoProcess {
			p.of[id] = i
		}
	}
	return p
}

func (p *programs) generation(from, to int) *generation {
	g := &generation{programs: p, from: from, to: to, first: p.list[from].first, ended: p.list[from].ended}
	for _, m := range p.list[from:to] {
		g.first = min(g.first, m.first)
		if g.ended != recording.NoTime && m.ended != recording.NoTime {
			g.ended = max(g.ended, m.ended)
		} else {
			g.ended = recording.NoTime
		}
	}
	return g
}

// followed reports whether later programs took over from a generation: all of its own have ended, the others began
// after those had served some requests, and the others served some after that end.
func (p *programs) followed(g *generation, c *diagnosis.Case) bool {
	begun := p.list[g.to].born
	if g.ended == recording.NoTime || begun == recording.NoTime {
		return false
	}
	before, since := 0, 0
	for _, id := range p.order {
		if c.Requests[id].Start >= begun || before >= c.MinRequests {
			break
		}
		if g.served(id) {
			before++
		}
	}
	for _, id := range slices.Backward(p.order) {
		if c.Requests[id].Start <= g.ended || since >= c.MinRequests {
			break
		}
		if p.of[id] >= g.to {
			since++
		}
	}
	return before >= c.MinRequests && since >= c.MinRequests
}
