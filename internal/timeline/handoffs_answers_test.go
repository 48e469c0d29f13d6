package timeline

import "testing"

// Deliveries are believed by how many that went the same way cannot be right: where
// workers take what they were not woken for, none is.
func TestDeliveriesAreJudgedByTheirWay(t *testing.T) {
	const direct, queue, seldom, late = StrandID(1), StrandID(2), StrandID(3), StrandID(4)
	h := &handOffs{t: &Timeline{Calls: make([]Call, 4)}, readBy: []StrandID{direct, queue, seldom, late}}
	var all []delivery
	deliver := func(call CallID, n, odd int) {
		for i := range n {
			all = append(all, delivery{call: call, hops: 2, odd: i < odd})
		}
	}
	deliver(0, 640, 10) // one of 64
	deliver(1, 20, 1)   // one of 20
	deliver(2, 4, 0)    // too few to tell, but those of other strands that read few are right as well
	deliver(3, 5, 0)
	believed := h.judge(all)
	for call, want := range []bool{true, false, true, true} {
		if got := believed(&delivery{call: CallID(call), hops: 2}); got != want {
			t.Errorf("deliveries of strand %d: believed %v, want %v", h.readBy[call], got, want)
		}
	}
	if believed(&delivery{call: 0, hops: 3}) {
		t.Error("a delivery through more strands than any other of its reader is believed")
	}
}
