package loopcalls

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// If promises have ids: request 1 was read on connection 0 and answered at 100. Call 3 was answered on connection 1.
// Call 4, alone, was answered on connection 2, which several requests share.
func afterAnswers() *asyncWalk {
	w := promises()
	w.t = &timeline.Timeline{Requests: []timeline.Request{{RequestBy: &timeline.RequestBy{}, RequestMore: &timeline.RequestMore{}}, {RequestMore: &timeline.RequestMore{}, End: 100}, {RequestBy: &timeline.RequestBy{}, RequestMore: &timeline.RequestMore{}, End: 900}}, Calls: make([]timeline.Call, 9)}
	w.named = map[int32]bool{2: true}
	w.hands.made[3] = loops.OfRequest(2)
	w.chains.link(3, loops.OfRequest(2))
	return w
}

func TestPromisesResolvedAfterAnswers(t *testing.T) {
	first, second := loops.OfRequest(1), loops.OfRequest(2)
	for name, c := range map[string]struct {
		conn int32
		of   loops.Owner
		m    loops.Move
		kind loops.MoveKind
		by   loops.Owner // -9: an owner about which nothing is known
	}{
		"of who was answered":                    {1, loops.OfCall(3), loops.Move{At: 50, Exec: 15}, loops.MoveAlong, loops.Nobody},
		"of another: what he waited for fired":   {1, loops.OfCall(3), loops.Move{At: 50, Exec: 5}, loops.MoveFired, first},
		"its maker is answered since: it is his": {1, loops.OfCall(3), loops.Move{At: 200, Exec: 5}, loops.MoveAlong, loops.Nobody},
		"one of whom nothing was known":          {1, loops.OfCall(3), loops.Move{At: 50, Exec: 25}, loops.MoveAlong, loops.Nobody},
		"by the thread pool":                     {1, loops.OfCall(3), loops.Move{At: 50, Exec: 25, Done: true}, loops.MoveFired, -9},
		"of any, as a shared answer was read":    {2, loops.OfCall(4), loops.Move{At: 50, Exec: 5}, loops.MoveAlong, loops.Nobody},
		"by the thread pool then":                {2, loops.OfCall(4), loops.Move{At: 50, Exec: 5, Done: true}, loops.MoveFired, first},
		"of nobody known, after a timer":         {loops.NoConn, second, loops.Move{At: 50, Exec: 35}, loops.MoveAlong, loops.Nobody},
		"of nobody known, after a message":       {loops.NoConn, -9, loops.Move{At: 50, Exec: 35}, loops.MoveFired, -9},
	} {
		w := afterAnswers()
		if c.of == -9 {
			c.of = w.turn.of
		}
		w.turn = asyncTurn{of: c.of, counter: 40, conn: c.conn}
		m := c.m
		m.Kind, m.By = loops.MoveFired, loops.Nobody
		w.fired(&m)
		if got := m.By; m.Kind != c.kind || c.by == -9 && (!w.chains.isPlaceholder(got) || got == c.of) || c.by != -9 && got != c.by {
			t.Errorf("%s: kind %d by %d, want %d by %d", name, m.Kind, got, c.kind, c.by)
		}
		if met := w.chains.known(w.ids.find(25)); (met == 2) != (name == "one of whom nothing was known") {
			t.Errorf("%s: he is %d", name, met)
		}
	}
}

// A client that calls back under an id of each call shows the call's owner; the thread pool does not.
func TestWhatCallsItself(t *testing.T) {
	for done, want := range map[bool]timeline.RequestID{false: 1, true: timeline.None} {
		w := afterAnswers()
		w.itself, w.selves = map[timeline.CallID]bool{}, map[string]bool{"": true}
		w.turn = asyncTurn{of: loops.OfCall(5), counter: 40, conn: 1}
		w.fired(&loops.Move{Kind: loops.MoveFired, At: 50, Exec: 5, By: loops.Nobody, Done: done})
		if got := w.chains.known(loops.OfCall(5)); got != want {
			t.Errorf("by the thread pool %v: it is of %d, want %d", done, got, want)
		}
	}
}

// In the turn of an answer on a shared connection several requests may go on, unless it is the only answer that was
// read.
func TestWhoseTheTurnOfASharedAnswerIs(t *testing.T) {
	for name, c := range map[string]struct {
		m        loops.Move
		together map[timeline.CallID]bool
		want     loops.Owner
	}{
		"alone":              {loops.Move{Kind: loops.MoveAnswer, At: 10, Call: 4, Conn: 2}, nil, loops.OfCall(4)},
		"with others":        {loops.Move{Kind: loops.MoveAnswer, At: 10, Call: 4, Conn: 2}, map[timeline.CallID]bool{4: true}, loops.Nobody},
		"not whole yet":      {loops.Move{Kind: loops.MoveAnswer, At: 5, Call: 4, Conn: 2}, nil, loops.Nobody},
		"on one of its own":  {loops.Move{Kind: loops.MoveAnswer, At: 5, Call: 4, Conn: 1}, nil, loops.OfCall(4)},
		"a promise":          {loops.Move{Kind: loops.MoveFired, At: 50, Exec: 5, Call: timeline.None, Conn: loops.NoConn}, nil, loops.OfRequest(1)},
		"behind another":     {loops.Move{Kind: loops.MoveFired, At: 50, Exec: 5, Call: timeline.None, Conn: loops.NoConn, Same: true}, nil, loops.Nobody},
		"several were there": {loops.Move{Kind: loops.MoveAnswer, At: 10, Call: 4, Conn: 2, Several: true}, nil, loops.Nobody},
	} {
		w := afterAnswers()
		w.t.Calls[4].End = 10
		w.together = c.together
		c.m.Counter, c.m.Request = 60, timeline.None
		if w.step(&c.m); w.turn.of != c.want {
			t.Errorf("%s: it is of %d, want %d", name, w.turn.of, c.want)
		}
	}
}

// The id of a connection's parser follows that of its handle: either one triggers what its request asks for.
func TestOwnHandle(t *testing.T) {
	for trigger, want := range map[int64]bool{3: true, 4: true, 5: true, 6: false, 2: false} {
		w, exec := afterAnswers(), int64(45)
		if trigger < 4 {
			exec = 4
		}
		w.turn = asyncTurn{of: loops.OfRequest(1), counter: 40, conn: 0}
		w.conns[0].handle, w.conns[0].hasHandle = 4, true
		if got := w.ownHandle(&loops.Move{Exec: exec, Trigger: trigger}); got != want {
			t.Errorf("trigger %d: %v", trigger, got)
		}
		if w.named = nil; w.ownHandle(&loops.Move{Exec: exec, Trigger: trigger}) != want {
			t.Errorf("trigger %d, promises have no ids", trigger)
		}
	}
}

// Requests 0 to 8 were answered in the turns of their last calls, request 9 was not. If promises have ids, what those
// show of its call stays; a hint does not.
func TestWhatNamesTellStands(t *testing.T) {
	for name, c := range map[string]struct {
		why   string
		named map[int32]bool
		want  timeline.RequestID
	}{
		"promises have ids":         {timeline.WhyAsync, map[int32]bool{2: true}, 9},
		"they have none":            {timeline.WhyAsync, nil, timeline.None},
		"it is no more than a hint": {timeline.WhyAsyncHint, map[int32]bool{2: true}, timeline.None},
	} {
		tl := &timeline.Timeline{}
		conn := &sentOn{shared: true}
		w := &sharing{t: tl, conns: map[int32]*sentOn{2: conn}, sharedPass: newSharedPass(nil)}
		for i := range 10 {
			r := timeline.RequestID(i)
			tl.Requests = append(tl.Requests, timeline.Request{RequestBy: &timeline.RequestBy{}, RequestMore: &timeline.RequestMore{}, FirstRead: recording.Time(10 * i), End: recording.Time(10*i + 9)})
			tl.Calls = append(tl.Calls, timeline.Call{SendFrom: recording.Time(10*i + 1), Request: r, Why: c.why})
			conn.calls = append(conn.calls, timeline.CallID(i))
			w.owner[timeline.CallID(i)], w.proven[r] = loops.OfRequest(r), true
		}
		w.proven[9] = false
		w.give(asyncInput{named: c.named, wanted: make([]recording.Time, 10)})
		if got := tl.Calls[9].Request; got != c.want || tl.Calls[8].Why != timeline.WhyShared {
			t.Errorf("%s: of %d, want %d; what was confirmed is by %s", name, got, c.want, tl.Calls[8].Why)
		}
	}
}

// Ids of a connection were given out in a turn of request 1, when the connection was accepted: what its parser sends
// is no callback of request 1.
func TestParsersAreOfNoTurn(t *testing.T) {
	w := afterAnswers()
	w.f = &facts.Facts{Conns: []facts.Conn{{At: 0}}}
	w.turn = asyncTurn{of: loops.OfRequest(2), counter: 40, conn: 0}
	for want, m := range map[bool]loops.Move{false: {Exec: 6, Trigger: 5}, true: {Exec: 6, Trigger: 3}} {
		if got := w.foreign(&m); got != want {
			t.Errorf("exec 6, trigger %d: foreign %v", m.Trigger, got)
		}
	}
}
