package hypotheses

import (
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// TestPoolFull has two calls on connections from 10 to 40 and one from 60 to 70. A call that is issued while two are
// out may wait for a place in a pool of two; others do not.
func TestPoolFull(t *testing.T) {
	tl := &timeline.Timeline{Calls: []timeline.Call{
		{ID: 0, Conn: 1, New: true, ConnectFrom: 10, SendFrom: 15, End: 40},
		{ID: 1, Conn: 2, SendFrom: 20, End: 40},
		{ID: 2, Conn: 3, New: true, ConnectFrom: 60, SendFrom: 65, End: 70},
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

// Request 1 sends three commands on its connection at once, as between MULTI and EXEC: it holds one connection of the
// pool for all of them. Request 2 sends on the same one meanwhile, which no pool would allow.
func TestCommandsSentAtOnceHaveOneConnection(t *testing.T) {
	tl := &timeline.Timeline{Calls: []timeline.Call{
		{ID: 0, Request: 1, Conn: 1, SendFrom: 10, End: 20},
		{ID: 1, Request: 1, Conn: 1, Ordinal: 1, SendFrom: 10, End: 20},
		{ID: 2, Request: 1, Conn: 1, Ordinal: 2, SendFrom: 12, End: 25},
		{ID: 3, Request: 2, Conn: 1, Ordinal: 3, SendFrom: 40, End: 60},
		{ID: 4, Request: 1, Conn: 1, Ordinal: 4, SendFrom: 50, End: 70},
	}}
	calls, c := []timeline.CallID{0, 1, 2, 3, 4}, &diagnosis.Case{Timeline: tl}
	if _, most := poolUse(c, calls[:3]); most != 1 {
		t.Errorf("one request has %d connections, want 1", most)
	}
	if _, most := poolUse(c, calls); most != 2 {
		t.Errorf("two requests that share a connection count as %d, want 2", most)
	}
}

// A client of Node itself sends what waited in its pool. If the request's own code sends it once a promise is resolved,
// it may have waited for a lock of the service as well. A session of a database is an exception: it belongs to a pool.
func TestNodesTurnsAreOfPromises(t *testing.T) {
	c := &diagnosis.Case{Timeline: &timeline.Timeline{Strands: []timeline.Strand{{Loop: true}}}}
	for why, want := range map[string]bool{timeline.WhyTurnTold: true, timeline.WhyAwaited: false} {
		for _, session := range []bool{false, true} {
			s := &shortage{rt: recording.RuntimeNode, peer: "store", session: session}
			if s.inTurn(c, &stay{}, &timeline.Call{Why: why}); s.turns != (want && !session) {
				t.Errorf("%s, of a session %t: for its turn %t", why, session, s.turns)
			}
		}
	}
}

// What a request computes between connecting and sending the call, and its waits for a processor to do so, go with
// opening the connection. Its other waits do not.
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
