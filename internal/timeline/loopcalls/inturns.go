package loopcalls

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// inTurns follows one loop on the assumption that no request on it ever waits for a connection. Then what is sent, or
// answered to a client, in the turn of an answer belongs to the request of the answered call. If a pool is full the
// assumption is wrong, and that shows: a request is answered in the turn of a call that seems to belong to another
// request. Ids cannot tell the two requests apart if a client sends from the callback in which its connection became
// free.
type inTurns struct {
	t      *timeline.Timeline
	sets   *chains
	turn   asyncTurn
	said   causality.Tally // requests answered in the turn of a call whose request is known; odd: another request's call
	first  bool            // nothing was sent in the running turn yet
	all    int             // requests that were answered
	sent   int             // calls that were sent
	unseen int             // calls sent in no known turn: by timers
	free   freeTurn
	place  int           // index of the current move
	by     []loops.Owner // as in askedIn
	// if every request that goes on is seen to: then what is sent in a turn belongs to the turn's owner, with the
	// exceptions in toldTurns; else nil
	told   *toldTurns
	fired  bool        // the running turn is a timer's: no other turn can run in it unseen
	wakes  loops.Owner // the owner that goes on in it
	stood  bool        // the request just answered may have waited for another request's call
	spans  map[timeline.CallID]idSpan
	led    map[timeline.RequestID]lead // requests that a message led on; sound says whether a response confirmed it since
	sound  map[timeline.RequestID]bool
	blind  bool                  // ids are not believed
	heard  hearing               // which requests were answered in which turn
	posted map[int32]loops.Owner // by number of a message: the owner that sent it
	paired bool                  // a promise was resolved and nothing was sent since: perhaps in the same callback
}

// freeTurn is a span in which callbacks run that no socket caused.
type freeTurn struct {
	counter int64           // last id given out before; 0 unknown
	last    int64           // last id given out up to the call sent last
	call    timeline.CallID // the call sent last, or None
}

// judgesTurns: turns are trusted only if at least one in this many answered requests is answered in the turn of one
// of its own calls.
const judgesTurns = 4

// minConfirmed is how many responses must confirm turns next to timers, if not nearly all of them do.
const minConfirmed = 20

// manySends: if more than one in this many calls is sent in no turn, timers send calls.
const manySends = 100

// associateInTurns assigns the calls of a loop on which no request waits for a connection. Sets of calls that would
// belong to two requests are left out. If a request does wait and timers send calls, ids given out in a timer's
// callback were mistaken for ids of the turn before. What such sets have by ids is then taken back.
func associateInTurns(t *timeline.Timeline, in asyncInput) {
	w := newInTurns(t, in.chains)
	defer w.sets.reset()
	w.play(in)
	if !w.said.Holds(0, causality.Usually) && w.unseen > w.sent/manySends {
		w.takeBack()
	}
	if r := w.reading(causality.Usually); r.confirmed {
		r.associate(timeline.WhyTurn)
	}
}

// associateBesideTimers does the same if timers send calls, provided that nothing but timers runs unseen. The
// evidence: nearly all responses confirm the turns, or none contradicts them and enough confirm them.
func associateBesideTimers(t *timeline.Timeline, in asyncInput) bool {
	in.loop.Moves = whereAskedFor(t, in.loop.Moves, in.lasting)
	if !timersSend(t, in.loop.Moves) {
		return false
	}
	w := newInTurns(t, in.chains)
	defer w.sets.reset()
	w.play(in)
	right := w.said.All - w.said.Odd
	r := w.reading(causality.Usually)
	if nearly := r.confirmed && 4*right >= 3*w.all; !nearly && (w.said.Odd > 0 || right < minConfirmed || 2*judgesTurns*right < w.all) {
		return false
	}
	r.associate(timeline.WhyTurn)
	return true
}

func newInTurns(t *timeline.Timeline, sets *chains) *inTurns {
	return &inTurns{
		t: t, sets: sets, free: freeTurn{call: timeline.None}, heard: hearing{after: timeline.None}, posted: map[int32]loops.Owner{},
		spans: map[timeline.CallID]idSpan{}, led: map[timeline.RequestID]lead{}, sound: map[timeline.RequestID]bool{},
	}
}

// play runs through what a loop did.
func (w *inTurns) play(in asyncInput) {
	for i := range in.loop.Moves {
		if at := in.loop.Moves[i].At; in.told != 0 && at > in.told { // from here on timers are guessed
			w.said, w.all, w.sent, w.unseen, in.told = causality.Tally{}, 0, 0, 0, 0
		}
		w.place = i
		w.step(&in.loop.Moves[i])
	}
}

// reading is the result of one pass over what a loop did.
type reading struct {
	*inTurns
	calls     []timeline.CallID
	of        []timeline.RequestID // by index in calls; None: not known
	known     int                  // how many calls have a known request
	confirmed bool                 // by responses: enough for each that was written in another request's turn
	since     map[timeline.CallID]recording.Time
}

// reading returns the result of a pass. It is confirmed if at least forEach responses agree for each that does not.
func (w *inTurns) reading(forEach int) *reading {
	r := &reading{inTurns: w, calls: slices.Clone(w.sets.Work), of: make([]timeline.RequestID, len(w.sets.Work))}
	for i, id := range r.calls {
		if r.of[i] = w.sets.known(loops.OfCall(id)); r.of[i] != timeline.None {
			r.known++
		}
	}
	r.confirmed = w.said.Holds(1, forEach) && w.all <= judgesTurns*(w.said.All-w.said.Odd)
	return r
}

// associate assigns calls to their known requests. If a message led a request on, its calls are assigned only if a
// response confirmed that.
func (r *reading) associate(why string) {
	for i, id := range r.calls {
		c, of := &r.t.Calls[id], r.of[i]
		open := c.Why == timeline.WhyNoAsync || r.blind && c.Why == timeline.WhyAsync || c.Why == timeline.WhyAsyncHint && r.told != nil
		if open && of != timeline.None && (r.led[of].by == nil || r.sound[of]) && c.SendFrom >= r.t.Requests[of].FirstRead && c.SendFrom <= r.t.Requests[of].End {
			r.t.Assign(c, of, why)
		}
	}
}

func (w *inTurns) step(m *loops.Move) {
	w.paired = m.Kind == loops.MoveFired && !m.Done && w.fired && w.first
	if !m.Callback() {
		w.fired = false
	}
	w.follow(m)
	w.hear(m)
	switch m.Kind {
	case loops.MoveRead, loops.MoveBody:
		w.turn, w.first = asyncTurn{of: m.Whose(), counter: m.Counter}, true
	case loops.MoveAnswer:
		w.turn, w.first = asyncTurn{of: loops.OfCall(m.Call), counter: m.Counter}, true
		if w.isShared(m) {
			w.turn.of, w.free = loops.Nobody, freeTurn{call: timeline.None}
		}
	case loops.MoveConnect, loops.MoveSend:
		if sendsFirst(w.t, m) && !w.isShared(m) {
			w.send(m)
		}
	case loops.MoveRespond:
		if w.t.Requests[m.Request].FirstWrite == m.At && !w.elsewhere(m) {
			w.all++
			w.responded(m)
		}
	case loops.MovePost:
		w.posts(m)
	case loops.MoveFired:
		if w.same(m) {
			break
		}
		w.turn, w.first, w.free = asyncTurn{of: w.wakes, counter: m.Counter}, true, freeTurn{m.Counter, 0, timeline.None}
		w.fired = true
	case loops.MoveBlock, loops.MoveBoundary, loops.MoveUntold, loops.MoveForeign:
		w.turn, w.free = asyncTurn{of: loops.Nobody}, freeTurn{m.Counter, 0, timeline.None}
	}
}

// sendsFirst reports a move that sends the first bytes of a call, or begins to connect for it.
func sendsFirst(t *timeline.Timeline, m *loops.Move) bool {
	if m.Call == timeline.None || m.Kind == loops.MoveConnect {
		return m.Call != timeline.None
	}
	c := &t.Calls[m.Call]
	return m.Kind == loops.MoveSend && c.SendFrom == m.At && !(c.New && c.ConnectFrom != recording.NoTime)
}

// here reports a move that was made in the running turn, as far as can be seen: the first move of the turn, and not
// by a callback that was asked for before. A later one may belong to a timer's callback that runs in the turn unseen.
func (w *inTurns) here(m *loops.Move) bool {
	here := w.turn.of != loops.Nobody && (m.Exec == 0 || m.Exec > w.turn.counter || m.Own) && (w.first || w.fired || w.told != nil)
	_, answered := w.turn.of.Call()
	// not by the callback of another timer, which resolves nothing
	here = here && (m.Own || !((w.fired || w.told != nil && answered) && m.Trigger != 0 && m.Trigger <= w.turn.counter))
	w.first = false
	return here
}

func (w *inTurns) send(m *loops.Move) {
	c := &w.t.Calls[m.Call]
	w.sent++
	w.sets.add(m.Call)
	if w.turn.of == loops.Nobody {
		w.unseen++
		w.together(m)
	}
	if c.Request != timeline.None && (c.Why == timeline.WhyAwaited || c.Why == timeline.WhyAsync && !w.blind) {
		w.sets.link(m.Call, loops.OfRequest(c.Request))
	}
	here := w.here(m)
	if w.told != nil {
		w.spans[m.Call] = idSpan{w.turn.counter, m.Counter}
		if !w.blind {
			w.sets.link(m.Call, w.alone(w.by[m.Call]))
		}
		w.sendTold(m, here)
	} else if here {
		w.sets.link(m.Call, w.turn.of)
	}
}

// together links a call that was sent in no turn with the call sent before it. If the senders of both were asked for
// before either was sent, one callback asked for both. This is true of ticks, which end before the next timer's
// callback begins: sending by a tick gives out ids. It is not true of immediates, since those of several callbacks
// run one after the other; sending by them gives out no ids.
func (w *inTurns) together(m *loops.Move) {
	if f := &w.free; f.call != timeline.None && f.counter > 0 && m.Exec > f.counter && m.Exec <= f.last && m.Counter > f.last {
		w.sets.link(m.Call, loops.OfCall(f.call))
	}
	w.free.last, w.free.call = m.Counter, m.Call
}

func (w *inTurns) responded(m *loops.Move) {
	answered, ok := w.turn.of.Call()
	if !ok || !w.here(m) {
		return
	}
	odd := false
	if i, known := w.sets.Find(answered); known && w.sets.Claimed(i) != timeline.None { // otherwise what came before is not known
		odd = w.sets.known(w.turn.of) != m.Request
		w.said.Add(odd)
	}
	w.sound[m.Request] = w.sound[m.Request] || !odd
	w.sets.link(answered, loops.OfRequest(m.Request))
}

func (w *inTurns) takeBack() {
	for i, id := range w.sets.Work {
		if c := &w.t.Calls[id]; c.Why == timeline.WhyAsync && w.sets.Odd(i) {
			w.t.Assign(c, timeline.None, timeline.WhyNoAsync)
		}
	}
}
