package report

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
)

// RequestTree is the call tree of one request. Its outermost rows and its unaccounted time sum to its duration.
type RequestTree struct {
	Samples int           `json:"samples"` // over which the time on a CPU is distributed
	Rows    []*RequestRow `json:"rows"`
}

// RequestRow is a function called from one place. For time without a stack it is what is known about that time, in
// parentheses.
type RequestRow struct {
	Frame
	Time TreeTime      `json:"time"`
	Rows []*RequestRow `json:"rows,omitempty"`
}

// treeBytes is the approximate limit of the size of a page's trees of requests, in JSON.
const treeBytes = 512 << 10

// tree returns the call tree of a request; nil if there is no more room, or no stacks.
func (w *WebDetail) tree(id timeline.RequestID) *RequestTree {
	if len(w.tl.Stacks) == 0 || w.trees > treeBytes {
		return nil
	}
	of := w.index.weigh([]timeline.RequestID{id})
	g := newGrower(w.tl, false)
	g.grow(0, of)
	return &RequestTree{totalOf(of).Samples, w.treeRows(g.root)}
}

func (w *WebDetail) treeRows(b *branch) []*RequestRow {
	rows := make([]*RequestRow, 0, len(b.order))
	for _, c := range b.order {
		if c.sets[0].total() == 0 {
			continue
		}
		w.trees += 350 + len(c.frame.Full) + len(c.frame.File)
		rows = append(rows, &RequestRow{c.frame, treeTime(&c.sets[0]), w.treeRows(c)})
	}
	slices.SortStableFunc(rows, func(a, b *RequestRow) int {
		return cmp.Or(cmp.Compare(b.Time.Total, a.Time.Total), cmp.Compare(a.Full, b.Full))
	})
	return rows
}
