package hypotheses

import (
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
)

// A worker serves a request every 10 ms, for 8 ms, and the socket keeps each answer back for another 40 ms. The worker
// has time to spare, and a pause of 5 ms in one request costs no other anything.
func TestWorkersAreFreeWhileASocketKeepsTheirAnswer(t *testing.T) {
	const ms = diagnosis.Time(1_000_000)
	tl := &timeline.Timeline{Strands: []timeline.Strand{{}}}
	for i := range 100 {
		at := diagnosis.Time(10*i+10) * ms
		r := timeline.Request{RequestBy: &timeline.RequestBy{}, RequestMore: timeline.NoMore(), ID: timeline.RequestID(i), Start: at, FirstRead: at, End: at + 48*ms}
		r.More().Held = at + 8*ms
		tl.Requests = append(tl.Requests, r)
	}
	paused := stay{diagnosis.Span{Request: 3, From: 40 * ms, To: 45 * ms}, 0, timeline.None}
	for i, freed := range workersFree(&diagnosis.Case{Timeline: tl}, []stay{paused}) {
		if freed != 0 {
			t.Errorf("request %d is taken %d ns sooner", i, freed)
		}
	}
}

// Requests come every 10 ms and take 12 ms, but wait only 1 ms. The replay with one worker has a queue that grows; the
// service does not.
func TestWorkersThatWereSeenToBeFreeHaveNoLongQueue(t *testing.T) {
	const ms = diagnosis.Time(1_000_000)
	tl := &timeline.Timeline{Strands: []timeline.Strand{{}}}
	for i := range 100 {
		at := diagnosis.Time(10*i+10) * ms
		tl.Requests = append(tl.Requests, timeline.Request{RequestBy: &timeline.RequestBy{}, RequestMore: timeline.NoMore(), ID: timeline.RequestID(i), Start: at, FirstRead: at + ms, End: at + 13*ms})
	}
	paused := stay{diagnosis.Span{Request: 3, From: 41 * ms, To: 46 * ms}, 0, timeline.None}
	for i, freed := range workersFree(&diagnosis.Case{Timeline: tl}, []stay{paused}) {
		if freed > Duration(ms) {
			t.Errorf("request %d, which waits 1 ms, is taken %d ns sooner", i, freed)
		}
	}
}

// While a request sleeps, its thread reads no other. A loop does, and a request that waits there for a connection waits
// as long.
func TestALoopIsNotHeldUpByARequestThatWaits(t *testing.T) {
	tl := &timeline.Timeline{Strands: []timeline.Strand{{}, {Loop: true}}}
	for _, c := range []struct {
		phase  timeline.Phase
		strand timeline.StrandID
		want   bool
	}{
		{timeline.PhaseUnread, 0, true},
		{timeline.PhaseUnread, timeline.None, true},
		{timeline.PhaseHandler, 0, false}, // a thread of an executor
		{timeline.PhaseQueue, 1, false},
	} {
		s := timeline.Segment{Cause: timeline.CausePool, Phase: c.phase, Strand: c.strand}
		if got := behindAWorker(tl, &s); got != c.want {
			t.Errorf("%v on strand %d: a wait for a worker: %v, want %v", c.phase, c.strand, got, c.want)
		}
	}
}
