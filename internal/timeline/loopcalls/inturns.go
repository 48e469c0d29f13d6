package loopcalls

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// inTurns follows one loop as if nobody on it ever waited for a connection: what is sent,
// and answered to a client, in the turn of an answer is of whose call that was. Where a pool
// is full that is wrong, and shows: a request is answered in the turn of a call that then
// seems to be another's. Ids cannot tell the two apart where a client sends from the
// callback in which its connection came free.
type inTurns struct {
	t      *timeline.Timeline
	sets   *chains
	turn   asyncTurn
	said   causality.Tally // requests answered in the turn of a call of which it is known whose it is; odd: another's
	first  bool            // nothing was sent in it yet
	all    int             // requests answered
	sent   int             // calls
	unseen int             // of them in no turn that is known: by timers
	free   freeTurn
	place  int           // of the move
	by     []loops.Owner // as in askedIn
	told   *toldTurns    // where whoever goes on is seen to, all that is sent in a turn is of whose that is, but for these; else nil
	fired  bool          // the turn that runs is a timer's: then no other can run in it unseen
	wakes  loops.Owner   // who goes on in it then
	stood  bool          // who was answered just now may have waited for another's call
	spans  map[timeline.CallID]idSpan
	led    map[timeline.RequestID]lead // who was led on by a message; whether a response confirmed it since is in sound
	sound  map[timeline.RequestID]bool
	blind  bool                  // ids are not believed
	heard  hearing               // who was answered in which turn
	posted map[int32]loops.Owner // who sent messages, by their numbers
	paired bool                  // a promise was resolved, and nothing sent since: perhaps in the same callback
}

// freeTurn is a span in which callbacks run that no socket caused.
type freeTurn struct {
	counter int64           // last id given out before; 0 unknown
	last    int64           // and up to the call sent last
	call    timeline.CallID // that was sent last, or None
}

// judgesTurns is of how many requests that are answered one must be so in the turn of a call of its own.
const judgesTurns = 4

// minConfirmed is how many responses must confirm turns beside timers, if not nearly all do.
const minConfirmed = 20

// manySends is of how many calls one that is sent in no turn tells of timers that send.
const manySends = 100

// associateInTurns associates the calls of a loop on which nobody waits for a connection.
// Sets of calls that would be of two requests are left out. Where somebody does wait and
// timers send calls, ids that were given out in a timer's callback were taken for those of
// the turn before: what such sets have by ids is taken back.
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

// associateBesideTimers does so where timers send calls, if nothing but timers goes on unseen: nearly
// all responses confirm it; or none says otherwise, and enough confirm it.
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

// play plays what a loop did.
func (w *inTurns) play(in asyncInput) {
	for i := range in.loop.Moves {
		if at := in.loop.Moves[i].At; in.told != 0 && at > in.told { // from here on it is guessed
			w.said, w.all, w.sent, w.unseen, in.told = causality.Tally{}, 0, 0, 0, 0
		}
		w.place = i
		w.step(&in.loop.Moves[i])
	}
}

// reading is what one pass over what a loop did tells.
type reading struct {
	*inTurns
	calls     []timeline.CallID
	of        []timeline.RequestID // by place in calls; None: not told
	known     int                  // of how many it is told
	confirmed bool                 // by responses: so many for each that was written in another's turn
	since     map[timeline.CallID]recording.Time
}

// reading is what a pass told; it is confirmed by so many responses for each that says otherwise.
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

// associate gives calls to the requests they are known to be of; where messages led these on, only if a response confirmed that.
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

// here reports a move that was made in the turn that runs, as far as can be told: the first
// of it, and not by a callback that was asked for before. A timer's callback may run in it
// too, unseen.
func (w *inTurns) here(m *loops.Move) bool {
	here := w.turn.of != loops.Nobody && (m.Exec == 0 || m.Exec > w.turn.counter || m.Own) && (w.first || w.fired || w.told != nil)
	_, answered := w.turn.of.Call()
	here = here && (m.Own || !((w.fired || w.told != nil && answered) && m.Trigger != 0 && m.Trigger <= w.turn.counter)) // a callback of another timer, which resolves nothing
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

// together links a call that was sent in no turn with the one sent before: if what sent both
// had been asked for before either was sent, one callback did. That is so of ticks, which end
// before the next timer's callback begins: what is sent by them gives out ids. Immediates of
// several callbacks wait for each other; to send by them gives out none.
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
	if i, known := w.sets.Find(answered); known && w.sets.Claimed(i) != timeline.None { // else what came before is not known
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
