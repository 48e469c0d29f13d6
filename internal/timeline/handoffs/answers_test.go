package handoffs

import (
	"slices"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
)

// A delivery is believed or not by how many deliveries that went the same way cannot be right. If workers take what
// they were not woken for, none is believed.
func TestDeliveriesAreJudgedByTheirWay(t *testing.T) {
	const direct, queue, seldom, late = timeline.StrandID(1), timeline.StrandID(2), timeline.StrandID(3), timeline.StrandID(4)
	h := &carriers{&activity{t: &timeline.Timeline{Calls: make([]timeline.Call, 4)}, ways: []callWay{{reader: direct}, {reader: queue}, {reader: seldom}, {reader: late}}}}
	var all []delivery
	deliver := func(call timeline.CallID, n, odd int) {
		for i := range n {
			all = append(all, delivery{call: call, hops: 2, odd: i < odd})
		}
	}
	deliver(0, 640, 10) // one of 64
	deliver(1, 20, 1)   // one of 20
	deliver(2, 4, 0)    // too few to judge, but those of other strands that read few are right as well
	deliver(3, 5, 0)
	believed := h.judge(all)
	for call, want := range []bool{true, false, true, true} {
		if got := believed(&delivery{call: timeline.CallID(call), hops: 2}); got != want {
			t.Errorf("deliveries of strand %d: believed %v, want %v", h.ways[call].reader, got, want)
		}
	}
	if believed(&delivery{call: 0, hops: 3}) {
		t.Error("a delivery through more strands than any other of its reader is believed")
	}
}

// Deliveries that cannot be right: call 1 is known to belong to request 0; request 1 was read after call 2 had been
// sent; call 3 is delivered to two requests; call 4 to two workers. A call delivered twice to the same request, as
// call 0 is, is not odd.
func TestDeliveriesThatCannotBeRight(t *testing.T) {
	h := &carriers{&activity{t: &timeline.Timeline{
		Calls:    []timeline.Call{{Request: timeline.None, SendFrom: 200}, {Request: 0, SendFrom: 200}, {Request: timeline.None, SendFrom: 50}, {Request: timeline.None, SendFrom: 200}, {Request: timeline.None, SendFrom: 200}},
		Requests: []timeline.Request{{RequestMore: &timeline.RequestMore{}, FirstRead: 10}, {RequestBy: &timeline.RequestBy{}, RequestMore: &timeline.RequestMore{}, FirstRead: 100}},
	}}}
	all := []delivery{
		{call: 0, request: 1}, {call: 0, request: 1},
		{call: 1, request: 1}, {call: 1, request: 0},
		{call: 2, request: 1}, {call: 2, request: 0},
		{call: 3, request: 1}, {call: 3, request: 0},
		{call: 4, request: timeline.None, to: 7}, {call: 4, request: timeline.None, to: 8},
	}
	h.markOdd(all)
	var odd []bool
	for _, d := range all {
		odd = append(odd, d.odd)
	}
	if want := []bool{false, false, true, false, true, false, true, true, true, true}; !slices.Equal(odd, want) {
		t.Errorf("odd are %v, want %v", odd, want)
	}
}

// Strand 1 passes on answers as often as it seems to ask. Strand 2 was also woken for call 0, but that went to a
// request's own strand, so it does not count. Call 2 is one that strand 2 asked for.
func TestDeliveriesAreToThoseWhoAsk(t *testing.T) {
	h := &carriers{&activity{strands: []strand{{handsOn: 0}, {handsOn: 2}, {handsOn: 1}}}}
	got := h.ofThoseWhoAsk([]delivery{
		{call: 0, request: 5}, {call: 0, request: timeline.None, to: 2},
		{call: 1, request: timeline.None, to: 1}, {call: 3, request: timeline.None, to: 1},
		{call: 2, request: timeline.None, to: 2},
	})
	want := []delivery{{call: 0, request: 5}, {call: 2, request: timeline.None, to: 2}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
