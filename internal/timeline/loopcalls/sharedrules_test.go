package loopcalls

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// If few owners are away, they are listed as candidates for a call that no owner was seen to ask for. If many are
// away, it may be any owner, since a list for each call would grow with the recording.
func TestCallsOfThoseWhoAreAway(t *testing.T) {
	for _, c := range []struct{ away, listed int }{{0, 0}, {2, 2}, {mostAway, mostAway}, {mostAway + 1, 1}} {
		w := &sharing{
			t:          &timeline.Timeline{Calls: []timeline.Call{{Request: timeline.None}}},
			sharedPass: newSharedPass(nil),
		}
		for r := range c.away {
			w.away[loops.OfRequest(timeline.RequestID(r))] = progress{}
		}
		w.unseen([]timeline.CallID{0})
		if got := w.either[0]; len(got) != c.listed || c.away > mostAway && got[0] != loops.Nobody {
			t.Errorf("%d are away: listed are %v", c.away, got)
		}
	}
}

// A client that hardly ever sends a call while others are under way holds its calls back. One that does so in one of
// fifty turns in which it could has nothing to send in the other turns.
func TestWhoHoldsBack(t *testing.T) {
	for _, c := range []struct {
		could, sends int
		held         bool
	}{{133, 0, true}, {600, 2, true}, {188, 4, false}, {453, 12, false}, {10, 0, false}} {
		if w := (&sharing{sharedPass: sharedPass{sharedProof: sharedProof{could: c.could, sends: c.sends}}}); w.held() != c.held {
			t.Errorf("sends %d times of %d: held %v", c.sends, c.could, w.held())
		}
	}
}

// An owner that was answered is away no longer. Nor is one that can only be one of those requests.
func TestAwayUntilAnswered(t *testing.T) {
	w := &sharing{
		t:      &timeline.Timeline{Requests: []timeline.Request{{RequestBy: &timeline.RequestBy{}, RequestMore: &timeline.RequestMore{}, FirstWrite: 50, End: 60}}},
		counts: causality.NewCounts(progress.usual), byConn: map[recording.ConnID]*sentOn{},
	}
	w.sharedPass = newSharedPass(nil)
	w.allEnd = 60
	for _, who := range []loops.Owner{loops.OfRequest(0), loops.OfCall(3)} {
		w.now = 40
		w.ready = []actor{{who: who}}
		w.goesAway(0)
		if w.stillAway() == 0 {
			t.Errorf("%v is not away", who)
		}
		w.now = 70
		if w.respond([]timeline.RequestID{0}); w.stillAway() > 0 {
			t.Errorf("%v is away after all were answered", who)
		}
		w.ready[0].point.over = false
		if w.goesAway(0); who == loops.OfRequest(0) && w.stillAway() > 0 {
			t.Errorf("%v goes away after it was answered", who)
		}
	}
}

// Messages of worker threads do not show which owner goes on.
func TestMessagesTellNobody(t *testing.T) {
	fired := loops.Move{Kind: loops.MoveFired, By: loops.Nobody, Conn: loops.NoConn}
	if !allTold([]loops.Move{fired}) {
		t.Error("not all is told")
	}
	if fired.Port = 7; allTold([]loops.Move{fired}) {
		t.Error("a message tells who goes on")
	}
}

// What follows calls that were answered together has no known owner yet, and what is sent then is not linked.
func TestAfterAnswersAtOnce(t *testing.T) {
	w := &inTurns{told: &toldTurns{atOnce: map[timeline.CallID]bool{1: true}}}
	if got := w.alone(loops.OfCall(1)); got != loops.Nobody {
		t.Errorf("after one of several: %v", got)
	}
	if got := w.alone(loops.OfCall(2)); got != loops.OfCall(2) {
		t.Errorf("after one alone: %v", got)
	}
}

// A request whose call has just been answered goes on where a promise of its own is resolved: the promise's id was
// given out when the call was asked for, or since.
func TestGoesOnUnderIdsOfItsOwn(t *testing.T) {
	w := &inTurns{told: &toldTurns{}, turn: asyncTurn{of: loops.OfCall(1), counter: 200}, wakes: loops.Nobody, spans: map[timeline.CallID]idSpan{1: {100, 110}}}
	for exec, same := range map[int64]bool{100: false, 101: true, 110: true, 111: false, 200: false, 201: true} {
		if got := w.same(&loops.Move{Exec: exec}); got != same {
			t.Errorf("id %d: %v", exec, got)
		}
	}
	w.wakes = loops.OfRequest(3)
	if w.same(&loops.Move{Exec: 105}) {
		t.Error("another is known to go on")
	}
}
