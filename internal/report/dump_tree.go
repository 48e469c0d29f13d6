package report

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
)

// Blocker is a thread that others wait for, with those others.
type Blocker struct {
	TID      int64      `json:"tid"` // 0: the holder is not known
	Name     string     `json:"name"`
	Blocks   int        `json:"blocks"`             // number of threads that wait for it, directly or through others
	Deadlock bool       `json:"deadlock,omitempty"` // it waits for itself through others
	Waiting  []*Waiters `json:"waiting"`

	thread *DumpThread
}

// Waiters are the threads that wait for one thing that one thread holds.
type Waiters struct {
	What    string     `json:"for"`
	Cause   string     `json:"cause"`
	Longest Duration   `json:"longest_ns"`
	TIDs    []int64    `json:"tids"`
	Names   []string   `json:"names"`
	Behind  []*Blocker `json:"behind"` // those among them that others wait for
}

// queue identifies what is waited for, and its holder.
type queue struct {
	holder timeline.StrandID // None: not known
	what   string
	cause  string
}

// blockersOf arranges waiting threads and the threads they wait for as trees.
type blockersOf struct {
	threads map[timeline.StrandID]*DumpThread
	queues  map[queue][]*DumpThread
	of      map[timeline.StrandID][]queue // by holder
	done    map[timeline.StrandID]bool
}

// blockers returns the trees; the one whose root blocks most threads comes first. If a thread waits for several
// things, only one of them is known.
func blockers(threads []*DumpThread) []*Blocker {
	b := &blockersOf{
		threads: map[timeline.StrandID]*DumpThread{}, queues: map[queue][]*DumpThread{},
		of: map[timeline.StrandID][]queue{}, done: map[timeline.StrandID]bool{},
	}
	for _, t := range threads {
		b.threads[t.strand] = t
	}
	for _, t := range threads {
		b.add(t)
	}
	var roots []*Blocker
	for _, holder := range sorted(b.of) {
		if t := b.threads[holder]; t == nil || t.Wait == nil || t.Wait.Holder == nil {
			roots = append(roots, b.tree(holder))
		}
	}
	for _, holder := range sorted(b.of) { // threads not reachable from a root form a cycle
		if !b.done[holder] {
			r := b.tree(holder)
			r.Deadlock = true
			roots = append(roots, r)
		}
	}
	slices.SortStableFunc(roots, func(x, y *Blocker) int { return cmp.Compare(y.Blocks, x.Blocks) })
	return roots
}

func (b *blockersOf) add(t *DumpThread) {
	if t.Wait == nil || t.Wait.Holder == nil && t.State != "blocked" {
		return
	}
	q := queue{timeline.None, t.Wait.What, t.Wait.Cause}
	if h := t.Wait.Holder; h != nil {
		q.holder = h.strand
	}
	if b.queues[q] == nil {
		b.of[q.holder] = append(b.of[q.holder], q)
	}
	b.queues[q] = append(b.queues[q], t)
}

// tree returns a thread and all threads that wait for it.
func (b *blockersOf) tree(holder timeline.StrandID) *Blocker {
	b.done[holder] = true
	out := &Blocker{thread: b.threads[holder]}
	if out.thread != nil {
		out.TID, out.Name = out.thread.TID, out.thread.Name
	}
	for _, q := range b.of[holder] {
		w := &Waiters{What: q.what, Cause: q.cause, Behind: []*Blocker{}}
		list := b.queues[q]
		slices.SortStableFunc(list, func(x, y *DumpThread) int { return cmp.Compare(y.For, x.For) })
		for _, t := range list {
			w.TIDs, w.Names, w.Longest = append(w.TIDs, t.TID), append(w.Names, t.Name), max(w.Longest, t.For)
			out.Blocks++
			if len(b.of[t.strand]) > 0 && !b.done[t.strand] {
				below := b.tree(t.strand)
				w.Behind = append(w.Behind, below)
				out.Blocks += below.Blocks
			}
		}
		out.Waiting = append(out.Waiting, w)
	}
	slices.SortStableFunc(out.Waiting, func(x, y *Waiters) int { return cmp.Compare(len(y.TIDs), len(x.TIDs)) })
	if out.thread != nil {
		out.thread.Blocks = out.Blocks
	}
	return out
}
