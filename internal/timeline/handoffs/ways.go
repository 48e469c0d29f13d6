package handoffs

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
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
	wayOf := func(d *delivery) way { return way{h.t.Calls[d.call].Process, h.ways[d.call].reader, d.hops} }
	counts := causality.Tallies[way]{}
	for i := range all {
		counts.Add(wayOf(&all[i]), all[i].odd)
	}
	judged := counts.Judged(fewDeliveries, func(w way) way { return way{w.process, timeline.None, w.hops} })
	return func(d *delivery) bool { return judged(wayOf(d)).Rule(fewDeliveries) }
}
