package handoffs

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// fewDeliveries is from how many on they are judged by themselves.
const fewDeliveries = 8

// way is how answers get to those who wait for them: read by a strand, and through so
// many in all.
type way struct {
	process recording.ProcessID
	reader  timeline.StrandID // None: of any by which few go
	hops    int
}

// judge tells which deliveries to believe, by those that went the same way.
func (h *carriers) judge(all []delivery) func(*delivery) bool {
	wayOf := func(d *delivery) way {
		return way{h.t.Calls[d.call].Process, h.ways[d.call].reader, d.hops}
	}
	counts, few := map[way]*causality.Tally{}, map[way]*causality.Tally{}
	for i := range all {
		lists.Entry(counts, wayOf(&all[i])).Add(all[i].odd)
	}
	for w, n := range counts {
		if n.All < fewDeliveries {
			w.reader = timeline.None
			sum := lists.Entry(few, w)
			sum.All, sum.Odd = sum.All+n.All, sum.Odd+n.Odd
		}
	}
	return func(d *delivery) bool {
		w := wayOf(d)
		n := lists.Entry(counts, w)
		if n.All < fewDeliveries {
			w.reader = timeline.None
			n = lists.Entry(few, w)
		}
		return n.Rule(fewDeliveries)
	}
}
