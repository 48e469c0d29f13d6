package hypotheses

import (
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Others wait 60 ms while holders sleep between tries, 35 ms while they compute, and 5 ms while they do something
// unknown. At least half of the total is known.
func TestWhatMembersOfAPoolAreUsedFor(t *testing.T) {
	c := &diagnosis.Case{Timeline: &timeline.Timeline{}}
	k := &contention{
		did: []deed{{kind: deedIO, cause: timeline.CauseSleep, stack: timeline.None, call: timeline.None},
			{kind: deedCPU, cause: timeline.CauseOnCPU, call: timeline.None}, {kind: deedOther, cause: timeline.CauseCondition, call: timeline.None}},
		weights: []Duration{60, 35, 5}, total: 190,
	}
	k.by[deedUnknown] = 90
	if got, want := k.usedFor(c), "; the holder of one sleeps until a timer for 60 % and computes for 35 % of that time"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if k.by[deedUnknown] = 100; k.usedFor(c) != "" {
		t.Errorf("of 90 of 190 ms it is known, and said is %q", k.usedFor(c))
	}
}

// A request waits for 30 ms, and a call of 8 ms for it ends then. If another thread makes that call, the request waits
// for it from 22 ms on, and not for a member of a pool. A call that the request itself makes, once it goes on, does not
// count, nor does the other thread's call if it goes on after the wait.
func TestWhatARequestWaitsForBeforeAnotherThreadCallsForIt(t *testing.T) {
	for _, x := range []struct {
		by         timeline.StrandID
		start, end int
		want       Duration
		most       bool
	}{{2, 22, 30, 22, true}, {1, 22, 30, 30, false}, {2, 22, 38, 30, false}, {2, 0, 30, 0, true}} {
		more := &timeline.RequestMore{Calls: []timeline.CallID{0}}
		c := &diagnosis.Case{Timeline: &timeline.Timeline{
			Requests: []timeline.Request{{RequestMore: more}},
			Calls:    []timeline.Call{{Strand: x.by, Start: diagnosis.Time(x.start) * 1_000_000, End: diagnosis.Time(x.end) * 1_000_000}},
		}}
		k := &contention{stays: []stay{{Span: diagnosis.Span{From: 0, To: 30_000_000}, strand: 1}}}
		most := beforeTheirCalls(c, k)
		if got := diagnosis.Total(spansOf(k.stays)); got != x.want*1_000_000 || most != x.most {
			t.Errorf("%+v: waits %v for a member, mostly for others' work %v", x, got, most)
		}
	}
}

// Five requests waited for a session. Each calls the database on one when it has it, never more than three of them at
// once. A session that was closed before another was opened does not count together with that one, and sessions with
// other peers do not count at all.
func TestSessionsOfAFullPoolAreInUseAlsoBetweenCalls(t *testing.T) {
	for closed, want := range map[diagnosis.Time]int{recording.NoTime: 5, 30: 4} {
		tl := &timeline.Timeline{End: 900}
		s := &shortage{peer: "db:5432", size: 3}
		for i := range 6 {
			peer := "db:5432"
			if i == 5 {
				peer = "other:5432"
			}
			tl.Conns = append(tl.Conns, timeline.Conn{ID: recording.ConnID(i), Opened: 10})
			tl.Calls = append(tl.Calls, timeline.Call{Conn: recording.ConnID(i), Peer: peer, Protocol: recording.ProtocolPostgres, SendFrom: 200})
			tl.Requests = append(tl.Requests, timeline.Request{RequestBy: &timeline.RequestBy{}, RequestMore: &timeline.RequestMore{Calls: []timeline.CallID{timeline.CallID(i)}}})
			s.stays = append(s.stays, stay{diagnosis.Span{Request: diagnosis.RequestID(i), From: 100, To: 200}, 0, timeline.None})
		}
		tl.Conns[0].Closed = closed
		tl.Conns[1].Opened = 40
		if s.sessions(&diagnosis.Case{Timeline: tl}); s.size != want {
			t.Errorf("one closed at %d: %d sessions in use, want %d", closed, s.size, want)
		}
	}
}

// The compilers of a JVM and its collector's threads work for no request.
func TestThreadsOfHotSpot(t *testing.T) {
	for name, want := range map[string]bool{"C2 CompilerThre": true, "GC Thread#0": true, "http-nio-8080-e": false, "pool-1-thread-1": false} {
		if timeline.HotSpots(name) != want {
			t.Errorf("%s: want %t", name, want)
		}
	}
}
