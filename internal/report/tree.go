package report

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Tree is the merged call tree of the requests of one endpoint: their time by the functions beneath which it was
// spent, slow requests next to ordinary ones.
type Tree struct {
	Version  int        `json:"version"`
	Endpoint string     `json:"endpoint"`
	Ordinary TreeTotal  `json:"ordinary"` // requests within 5 percentile points of p50
	Slow     TreeTotal  `json:"slow"`     // of p99
	Rows     []*TreeRow `json:"rows"`     // outermost functions; their sum with the unaccounted time is the total
}

// TreeTotal is what a set of requests took in total.
type TreeTotal struct {
	Requests    int      `json:"requests"`
	Total       Duration `json:"total_ns"`
	Unaccounted Duration `json:"unaccounted_ns"`
	Samples     int      `json:"samples"` // of threads on a CPU, over which CPU time is distributed
}

// TreeRow is one function called from one place. For time without a stack it is what is known about that time, in
// parentheses.
type TreeRow struct {
	Frame
	Ordinary TreeTime   `json:"ordinary"`
	Slow     TreeTime   `json:"slow"`
	Rows     []*TreeRow `json:"rows,omitempty"` // what it called

	site, beyond bool // it, or something it called, is the place of a wait or of CPU time
}

// TreeTime is the time beneath a row, itself included, summed over a set of requests.
type TreeTime struct {
	Total  Duration            `json:"total_ns"`
	CPU    Duration            `json:"cpu_ns"`    // on-cpu, distributed over samples
	Lock   Duration            `json:"lock_ns"`   // lock, interpreter-lock
	GC     Duration            `json:"gc_ns"`     //
	IO     Duration            `json:"io_ns"`     // disk, page-fault
	Remote Duration            `json:"remote_ns"` //
	Other  Duration            `json:"other_ns"`  // all else
	Causes map[string]Duration `json:"causes"`
	Stacks int                 `json:"stacks"`          // seen beneath it
	Placed int                 `json:"borrowed_stacks"` // waits that use the stack of others at the same place
}

// Trees makes the call trees of the endpoints that have measured requests; the one that takes most time comes first.
func Trees(tl *timeline.Timeline, r *Report, o TreeOptions) []*Tree {
	x := newStackIndex(tl)
	var out []*Tree
	list := slices.Clone(r.Endpoints)
	slices.SortStableFunc(list, func(a, b Endpoint) int { return cmp.Compare(b.ids.total, a.ids.total) })
	for i := range list {
		if e := &list[i]; o.Endpoint == "" || e.Name == o.Endpoint {
			out = append(out, treeOf(x, e, o.All))
		}
	}
	return out
}

func treeOf(x *stackIndex, e *Endpoint, all bool) *Tree {
	sets := [...]*weights{x.weigh(e.ids.ordinary), x.weigh(e.ids.slow)}
	g := newGrower(x.tl, all)
	for i, w := range sets {
		g.grow(i, w)
	}
	t := &Tree{Version: Version, Endpoint: e.Name, Ordinary: totalOf(sets[0]), Slow: totalOf(sets[1]), Rows: rowsBelow(g.root)}
	return t
}

func totalOf(w *weights) TreeTotal {
	n := 0
	for _, k := range w.samples {
		n += k
	}
	return TreeTotal{w.requests, w.total, w.unaccounted, n}
}

// branch is a function called from one place.
type branch struct {
	frame Frame
	below map[branchKey]*branch
	order []*branch
	sets  [2]amounts // itself included
	self  [2]amounts // at its own stacks alone
	site  bool       // it is the place of a wait or of CPU time to show to people
}

// branchKey distinguishes functions; lines within one function do not matter.
type branchKey struct {
	kind recording.FrameType
	name string
}

// grower merges stacks into a tree of functions, outermost first. Unless all frames are wanted, it omits the machine
// code with which a runtime runs its functions, except beneath the innermost of those functions.
type grower struct {
	tl    *timeline.Timeline
	root  *branch
	all   bool
	known [2]map[timeline.StackID]*branch // as a leaf; as a caller of a runtime's function
}

func newGrower(tl *timeline.Timeline, all bool) *grower {
	g := &grower{tl: tl, root: &branch{below: map[branchKey]*branch{}}, all: all}
	for i := range g.known {
		g.known[i] = map[timeline.StackID]*branch{}
	}
	return g
}

// Which branch of a stack is wanted.
const (
	asLeaf = iota
	asCaller
)

// branch returns where a stack ends in the tree.
func (g *grower) branch(id timeline.StackID, as int) *branch {
	if id == timeline.None {
		return g.root
	}
	if b := g.known[as][id]; b != nil {
		return b
	}
	f := &g.tl.Frames[g.tl.Stacks[id].Frame]
	above := as
	if !machine(f) && !g.all {
		above = asCaller
	}
	b := g.branch(g.tl.Stacks[id].Caller, above)
	if !machine(f) || as == asLeaf {
		name := f.Function
		if name == "" {
			name = f.Module
		}
		b = b.child(branchKey{f.Type, name}, func() Frame { return frameOf(g.tl, f) })
		if b.frame.Line != f.Line {
			b.frame.Line = 0 // one function at several lines
		}
	}
	g.known[as][id] = b
	return b
}

// machine reports whether a frame is machine code that belongs to no runtime's functions.
func machine(f *recording.Frame) bool {
	return f.Type == recording.FrameNative || f.Type == recording.FrameKernel
}

func (b *branch) child(k branchKey, frame func() Frame) *branch {
	c := b.below[k]
	if c == nil {
		c = &branch{frame: frame(), below: map[branchKey]*branch{}}
		b.below[k] = c
		b.order = append(b.order, c)
	}
	return c
}

// grow adds the time of one of the sets.
func (g *grower) grow(set int, w *weights) {
	for _, id := range sorted(w.by) {
		a := w.by[id]
		b := g.branch(id, asLeaf)
		b.self[set].add(a)
		b.site = b.site || w.samples[id] > 0
		g.mark(id)
	}
	for _, name := range sorted(w.unseen) {
		b := g.root.child(branchKey{-1, name}, func() Frame { return Frame{Name: name, Full: name, Kind: "none"} })
		b.self[set].add(w.unseen[name])
	}
	g.root.sum(set)
}

// mark marks the places that best name a stack: the one in the application, and the call of a library that waits.
func (g *grower) mark(id timeline.StackID) {
	site, _ := g.tl.SiteOf(id)
	lock, _ := g.tl.LockSite(id)
	as := asLeaf
	for ; id != timeline.None; id = g.tl.Stacks[id].Caller {
		f := g.tl.Frames[g.tl.Stacks[id].Frame]
		if f == lock || f == site {
			g.branch(id, as).site = true
		}
		if f == site {
			return
		}
		if !machine(&f) && !g.all {
			as = asCaller
		}
	}
}

// sum adds everything below a branch to it.
func (b *branch) sum(set int) {
	b.sets[set] = b.self[set]
	for _, c := range b.order {
		c.sum(set)
		b.sets[set].add(&c.sets[set])
	}
}

func sorted[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// rowsBelow returns the rows of a branch; those that take most of the slow requests come first.
func rowsBelow(b *branch) []*TreeRow {
	rows := make([]*TreeRow, 0, len(b.order))
	for _, c := range b.order {
		r := &TreeRow{Frame: c.frame, Ordinary: treeTime(&c.sets[0]), Slow: treeTime(&c.sets[1]), Rows: rowsBelow(c), site: c.site}
		r.beyond = slices.ContainsFunc(r.Rows, func(b *TreeRow) bool { return b.site || b.beyond })
		rows = append(rows, r)
	}
	slices.SortStableFunc(rows, func(a, b *TreeRow) int {
		return cmp.Or(cmp.Compare(b.Slow.Total, a.Slow.Total), cmp.Compare(b.Ordinary.Total, a.Ordinary.Total), cmp.Compare(a.Full, b.Full))
	})
	return rows
}

func treeTime(a *amounts) TreeTime {
	t := TreeTime{Causes: map[string]Duration{}, Stacks: a.stacks, Placed: a.placed}
	for c, d := range a.took {
		if d == 0 {
			continue
		}
		t.Total += d
		t.Causes[timeline.Cause(c).String()] = d
		switch timeline.Cause(c) {
		case timeline.CauseOnCPU:
			t.CPU += d
		case timeline.CauseLock, timeline.CauseInterpreterLock:
			t.Lock += d
		case timeline.CauseGC:
			t.GC += d
		case timeline.CauseDisk, timeline.CausePageFault:
			t.IO += d
		case timeline.CauseRemote:
			t.Remote += d
		default:
			t.Other += d
		}
	}
	return t
}
