package truth

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/getdwell/dwell/internal/load"
	"github.com/getdwell/dwell/internal/timeline"
)

// request builds a whole request from a client port, from and to in us.
func request(id timeline.RequestID, port string, from, to int64) timeline.Request {
	return timeline.Request{ID: id, RequestBy: &timeline.RequestBy{Peer: "127.0.0.1:" + port}, RequestMore: &timeline.RequestMore{}, Start: timeline.Time(from * 1000), End: timeline.Time(to * 1000)}
}

func entry(id, port int, sent, done int64) load.Entry {
	return load.Entry{ID: id, Port: port, Intended: sent * 1000, Sent: sent * 1000, Done: done * 1000, Status: 200}
}

func TestRequestsMatchByPortAndTime(t *testing.T) {
	tl := &timeline.Timeline{Requests: []timeline.Request{
		request(0, "5001", 110, 190), // entry 0
		request(1, "5001", 310, 390), // entry 2: the port again, later
		request(2, "5002", 120, 180), // entry 1, cut by the end
		request(3, "5003", 500, 600), // nobody sent it
		request(4, "5001", 195, 199), // a second one inside entry 0
	}}
	tl.Requests[1].Ordinal = 7
	tl.Requests[2].Cut = true
	got := Compare(tl, Truth{
		Client: []load.Entry{entry(0, 5001, 100, 200), entry(1, 5002, 100, 200), entry(2, 5001, 300, 400), entry(3, 5004, 1, 2), entry(4, 5004, 60, 70)},
		From:   50_000, To: 1_000_000,
	})
	want := Score{Sent: 4, Matched: 2, Missing: []load.Entry{entry(4, 5004, 60, 70)}, Cut: 1, Extra: 2, Misplaced: 1, ClientP50: 100_000, DwellP50: 80_000, Duration: 160_000, Unaccounted: 160_000} // these have no segments
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestCallsAreRightWrongOrHonest(t *testing.T) {
	call := func(request timeline.RequestID, from, to int64) timeline.Call {
		// It queued for the connection long before it was sent.
		return timeline.Call{Request: request, Conn: 3, Start: 1, SendFrom: timeline.Time(from * 1000), End: timeline.Time(to * 1000)}
	}
	tl := &timeline.Timeline{
		Requests: []timeline.Request{request(0, "5001", 100, 900), request(1, "5002", 100, 900)},
		Conns:    []timeline.Conn{{ID: 4, Local: "127.0.0.1:1"}, {ID: 3, Local: "127.0.0.1:6001"}},
		Calls: []timeline.Call{
			call(0, 200, 300),             // of request 0: right
			call(0, 400, 500),             // of request 1, given to 0: wrong
			call(timeline.None, 600, 700), // said to be unknown
		},
	}
	got := Compare(tl, Truth{
		Client: []load.Entry{entry(7, 5001, 50, 950), entry(8, 5002, 50, 950)},
		Exchanges: []Exchange{
			{ID: 7, Port: 6001, Start: 250_000, End: 260_000},
			{ID: 8, Port: 6001, Start: 390_000, End: 450_000}, // began before the write returned
			{ID: 8, Port: 6001, Start: 650_000, End: 660_000},
			{ID: 7, Port: 6002, Start: 250_000, End: 260_000},  // no such connection
			{ID: 99, Port: 6001, Start: 250_000, End: 260_000}, // of a request outside the comparison
		},
		To: 1_000_000,
	}).Calls
	want := Association{Exchanges: 4, Right: 1, Wrong: 1, Unassigned: 1, Unseen: 1}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got.Precision() != 0.5 || got.Recall() != 0.25 {
		t.Errorf("precision %v, recall %v", got.Precision(), got.Recall())
	}
}

func TestCausesAreHeldAgainstTheServicesOwnNumbers(t *testing.T) {
	r := request(0, "5001", 100, 10_100)
	r.SetSegments([]timeline.Segment{
		{From: 100_000, To: 3_100_000, Cause: timeline.CauseOnCPU},
		{From: 3_100_000, To: 10_000_000, Cause: timeline.CauseSleep},
	})
	got := Compare(&timeline.Timeline{Requests: []timeline.Request{r}}, Truth{
		Client: []load.Entry{entry(7, 5001, 50, 10_200)},
		Served: []Served{{ID: 7, Slept: 6_800_000, Ran: 2_000_000, Computed: 3_000_000}},
		To:     20_000_000,
	})
	want := []Agreement{
		{Cause: timeline.CauseSleep, Requests: 1, Within: 1, Truth: 6_800_000, Dwell: 6_900_000, MedianOff: 100_000, P95Off: 100_000},
		{Cause: timeline.CauseOnCPU, Requests: 1, Within: 0, Truth: 2_000_000, Dwell: 3_000_000, MedianOff: 1_000_000, P95Off: 1_000_000},
	}
	if diff := cmp.Diff(want, got.Causes); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got.Unaccounted != 100_000 || got.Duration != 10_000_000 {
		t.Errorf("unaccounted %d of %d", got.Unaccounted, got.Duration)
	}
}

func TestWaitsThatTheKernelsAccountEndsLate(t *testing.T) {
	for _, c := range []struct {
		name           string
		wait, runnable int64 // what the recording has more than the service
		want           int64
	}{
		{"woken, and its processor heard late", -2000, 2100, 0},
		{"explains only a part", -2000, 500, -1500},
		{"too much of a wait is not explained by too little runnable", 2000, -2000, 2000},
		{"too much of both", 2000, 1000, 2000},
		{"too little of both", -2000, -100, -2000},
	} {
		if got := wokenLate(c.wait, c.runnable); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
