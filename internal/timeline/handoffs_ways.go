package timeline

import "github.com/getdwell/dwell/recording"

// fewDeliveries is from how many on they are judged by themselves.
const fewDeliveries = 8

// way is how answers get to those who wait for them: read by a strand, and through so
// many in all.
type way struct {
	process recording.ProcessID
	reader  StrandID // None: of any by which few go
	hops    int
}

// wayCount is how many deliveries went one way, and how many of them cannot be right.
type wayCount struct{ all, odd int }

func (n *wayCount) add(odd bool) {
	n.all++
	if odd {
		n.odd++
	}
}

// believed reports that enough went that way, and hardly any wrong.
func (n wayCount) believed() bool { return n.all >= fewDeliveries && n.odd*exceptions <= n.all }

// judge tells which deliveries to believe, by those that went the same way.
func (h *handOffs) judge(all []delivery) func(*delivery) bool {
	wayOf := func(d *delivery) way {
		return way{h.t.Calls[d.call].Process, h.readBy[d.call], d.hops}
	}
	counts, few := map[way]wayCount{}, map[way]wayCount{}
	for i := range all {
		n := counts[wayOf(&all[i])]
		n.add(all[i].odd)
		counts[wayOf(&all[i])] = n
	}
	for w, n := range counts {
		if n.all < fewDeliveries {
			w.reader = None
			sum := few[w]
			few[w] = wayCount{sum.all + n.all, sum.odd + n.odd}
		}
	}
	return func(d *delivery) bool {
		w := wayOf(d)
		n := counts[w]
		if n.all < fewDeliveries {
			w.reader = None
			n = few[w]
		}
		return n.believed()
	}
}
