package hypotheses

import (
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// TestPoolFull has two calls on connections from 10 to 40 and one from 60 to 70: a call
// issued while two are out may wait for a place in a pool of two, others do not.
func TestPoolFull(t *testing.T) {
	tl := &timeline.Timeline{Calls: []timeline.Call{
		{ID: 0, New: true, ConnectFrom: 10, SendFrom: 15, End: 40},
		{ID: 1, SendFrom: 20, End: 40},
		{ID: 2, New: true, ConnectFrom: 60, SendFrom: 65, End: 70},
	}}
	full := poolFull(&diagnosis.Case{Timeline: tl}, []timeline.CallID{0, 1, 2})
	for at, want := range map[diagnosis.Time]bool{5: false, 12: false, 20: true, 39: true, 40: false, 62: false, 80: false} {
		if full(at) != want {
			t.Errorf("at %d it is full: %v, want %v", at, !want, want)
		}
	}
}

// TestPoolFullInTransaction has a transaction from 10 to 90 on the one connection: it is in
// use between the answer to BEGIN and the COMMIT, too.
func TestPoolFullInTransaction(t *testing.T) {
	tl := &timeline.Timeline{Calls: []timeline.Call{
		{ID: 0, Conn: 1, Protocol: recording.ProtocolPostgres, Operation: "BEGIN", SendFrom: 10, Arrived: 19, End: 20, Transaction: recording.TransactionOpen},
		{ID: 1, Conn: 1, Ordinal: 1, Protocol: recording.ProtocolPostgres, Operation: "COMMIT", SendFrom: 80, Arrived: 89, End: 90, Transaction: recording.TransactionIdle},
	}}
	full := poolFull(&diagnosis.Case{Timeline: tl}, []timeline.CallID{0, 1})
	for at, want := range map[diagnosis.Time]bool{5: false, 15: true, 50: true, 85: true, 90: false} {
		if full(at) != want {
			t.Errorf("at %d it is full: %v, want %v", at, !want, want)
		}
	}
}

// What a request computes, and waits for a processor to compute, between connecting and the
// sent call goes with opening the connection; what it waits for otherwise does not.
//
//	segment    |100 .......... 300|
//	call            |150 connects ........ 400 sends|
func TestWorkThatGoesWithOpening(t *testing.T) {
	c := &diagnosis.Case{Timeline: &timeline.Timeline{}, Options: diagnosis.Options{LongHold: 10 * milli}}
	call := &timeline.Call{Start: 150 * us, SendFrom: 400 * us}
	for cause, goes := range map[timeline.Cause]bool{timeline.CauseOnCPU: true, timeline.CauseRunnable: true, timeline.CauseLock: false} {
		s := &timeline.Segment{From: 100 * us, To: 300 * us, Phase: timeline.PhaseHandler, Cause: cause, Call: timeline.None}
		got := besides(c, s, setupSpan{Span: diagnosis.Span{From: s.From, To: s.To}}, []*timeline.Call{call})
		if (len(got) == 1) != goes || goes && (got[0].From != 150*us || got[0].To != 300*us) {
			t.Errorf("%s: %+v goes with it, want 150 to 300 us: %t", cause, got, goes)
		}
	}
}
