package report

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
)

func TestColumnStandsByteByByte(t *testing.T) {
	for _, test := range []struct {
		numbers []int64
		want    []byte
	}{
		{nil, nil},
		{[]int64{0, 0}, []byte{1, 0, 0}},
		{[]int64{1, 258, 3}, []byte{2, 1, 2, 3, 0, 1, 0}},
		{[]int64{-5, 255}, []byte{1, 0, 255}},
	} {
		var c Column
		for _, n := range test.numbers {
			c.add(n)
		}
		text, err := json.Marshal(c)
		var got []byte
		if err != nil || json.Unmarshal(text, &got) != nil || !slices.Equal(got, test.want) {
			t.Errorf("%v: %v, %v, want %v", test.numbers, got, err, test.want)
		}
	}
}

func TestTextsAreTakenApartBeforeTheirNumber(t *testing.T) {
	for text, want := range map[string]struct {
		prefix string
		number int64
	}{
		"10.0.0.1:4000": {"10.0.0.1:", 4001}, "goroutine 7": {"goroutine ", 8}, "main": {"main", 0}, "": {"", 0}, "pool-0": {"pool-", 1},
		"worker 007": {"worker 00", 8}, "x12345678901234567890": {"x12345", 678901234567891},
	} {
		if prefix, number := numbered(text); prefix != want.prefix || number != want.number {
			t.Errorf("%s: %q, %d, want %q, %d", text, prefix, number, want.prefix, want.number)
		}
	}
}

// Two requests of 100 ns:
//
//	handler on-cpu 60, remote 30, 10 unaccounted;   a call to db on a new connection, and one on another
//	handler on-cpu 100
func TestWhatIsKnownOfRequests(t *testing.T) {
	piece := func(from, to timeline.Time, phase timeline.Phase, cause timeline.Cause) timeline.Segment {
		return timeline.Segment{From: from, To: to, Phase: phase, Cause: cause}
	}
	tl := &timeline.Timeline{Strands: []timeline.Strand{{Name: "worker", Thread: 3}}, Calls: []timeline.Call{{Peer: "db", Operation: "GET", New: true}, {Peer: "db", Operation: "GET"}}}
	k, by := newKnowing(tl), &timeline.RequestBy{Peer: "a:1"}
	add := func(r timeline.Request, segments ...timeline.Segment) {
		r.SetSegments(segments)
		k.add(&r)
	}
	add(timeline.Request{RequestBy: by, RequestMore: &timeline.RequestMore{Calls: []timeline.CallID{0, 1}}, End: 100},
		piece(0, 30, timeline.PhaseHandler, timeline.CauseOnCPU), piece(30, 60, timeline.PhaseRemote, timeline.CauseRemote), piece(60, 90, timeline.PhaseHandler, timeline.CauseOnCPU))
	add(timeline.Request{RequestBy: by, RequestMore: &timeline.RequestMore{}, Strand: timeline.None, Start: 100, End: 200}, piece(100, 200, timeline.PhaseHandler, timeline.CauseOnCPU))
	for name, of := range map[string]struct {
		got  Column
		want []byte
	}{
		"threads": {k.out.Threads.Request, []byte{1, 0}}, "clients": {k.out.Clients.Request, []byte{1, 2}}, "number": {k.out.Clients.Number, []byte{2}},
		"sets of calls": {k.out.CallSets, []byte{1, 0, 0}}, "set of calls": {k.out.CallSet, []byte{0, 1}}, "made": {k.out.Made, []byte{5, 0}},
		"sets": {k.out.Sets, []byte{3, 0, 1, 2, 1, 0}}, "set": {k.out.Set, []byte{0, 1}}, "took": {k.out.Took, []byte{30, 10}},
	} {
		if !slices.Equal(of.got, of.want) {
			t.Errorf("%s: %v, want %v", name, of.got, of.want)
		}
	}
	if want := []WebCalled{{"db", "GET"}}; !slices.Equal(k.out.Calls, want) {
		t.Errorf("calls %v, want %v", k.out.Calls, want)
	}
}
