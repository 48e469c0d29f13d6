package build

import (
	"github.com/getdwell/dwell/internal/timeline"
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
func (h *handOffs) judge(all []delivery) func(*delivery) bool {
	wayOf := func(d *delivery) way {
		return way{h.t.Calls[d.call].Process, h.readBy[d.call], d.hops}
	}
	counts, few := map[way]*counted{}, map[way]*counted{}
	for i := range all {
		lists.Entry(counts, wayOf(&all[i])).add(all[i].odd)
	}
	for w, n := range counts {
		if n.all < fewDeliveries {
			w.reader = timeline.None
			sum := lists.Entry(few, w)
			sum.all, sum.odd = sum.all+n.all, sum.odd+n.odd
		}
	}
	return func(d *delivery) bool {
		w := wayOf(d)
		n := lists.Entry(counts, w)
		if n.all < fewDeliveries {
			w.reader = timeline.None
			n = lists.Entry(few, w)
		}
		return n.rule(fewDeliveries)
	}
}
