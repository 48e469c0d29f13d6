package build

import "github.com/getdwell/dwell/internal/timeline"

// inTurns follows one loop as if nobody on it ever waited for a connection: what is sent,
// and answered to a client, in the turn of an answer is of whose call that was. Where a pool
// is full that is wrong, and shows: a request is answered in the turn of a call that then
// seems to be another's. Ids cannot tell the two apart where a client sends from the
// callback in which its connection came free.
type inTurns struct {
	t      *timeline.Timeline
	sets   *chains
	turn   asyncTurn
	first  bool // nothing was sent in it yet
	proven int  // requests answered in the turn of a call of their own
	wrong  int  // of somebody else's
	all    int  // requests answered
	sent   int  // calls
	unseen int  // of them in no turn that is known: by timers
	free   freeTurn
	place  int                      // of the move
	by     []ref                    // as in askedIn
	told   *doubts                  // where whoever goes on is seen to, all that is sent in a turn is of whose that is, but for these; else nil
	shared map[int32]bool           // connections on which several requests send at once, by index in facts.conns: left to associateShared
	atOnce map[timeline.CallID]bool // calls that were answered with others at once: what follows may be of any of them
	fired  bool                     // the turn that runs is a timer's: then no other can run in it unseen
	wakes  ref                      // who goes on in it then
	spans  map[timeline.CallID]idSpan
	led    map[timeline.RequestID]lead // who was led on by a message; whether a response confirmed it since is in sound
	sound  map[timeline.RequestID]bool
	blind  bool          // ids are not believed
	heard  hearing       // who was answered in which turn
	posted map[int32]ref // who sent messages, by their numbers
	paired bool          // a promise was resolved, and nothing sent since: perhaps in the same callback
}

// freeTurn is a span in which callbacks run that no socket caused.
type freeTurn struct {
	counter int64           // last id given out before; 0 unknown
	last    int64           // and up to the call sent last
	call    timeline.CallID // that was sent last, or None
}

// How many requests must be answered in the turn of a call of their own, for each that is
// not, and of how many one at least.
const (
	confirmsTurns = 19
	judgesTurns   = 4
)

// manySends is of how many calls one that is sent in no turn tells of timers that send.
const manySends = 100

// associateInTurns associates the calls of a loop on which nobody waits for a connection.
// Sets of calls that would be of two requests are left out. Where somebody does wait and
// timers send calls, ids that were given out in a timer's callback were taken for those of
// the turn before: what such sets have by ids is taken back.
func associateInTurns(t *timeline.Timeline, in asyncInput) {
	w := playTurns(t, in)
	defer w.sets.reset()
	if w.proven < confirmsTurns*w.wrong && w.unseen > w.sent/manySends {
		w.takeBack()
	}
	if w.confirmed() {
		w.associate(func(timeline.CallID, timeline.RequestID) bool { return true })
	}
}

// associateBesideTimers does so where timers send calls, if nothing but timers goes on unseen: nearly
// all responses confirm it; or none says otherwise, and enough confirm it.
func associateBesideTimers(t *timeline.Timeline, in asyncInput) bool {
	in.loop.moves = whereAskedFor(t, in.loop.moves)
	if !timersSend(t, in.loop.moves) {
		return false
	}
	w := playTurns(t, in)
	defer w.sets.reset()
	nearly := w.confirmed() && 4*w.proven >= 3*w.all
	if !nearly && (w.wrong > 0 || w.proven < minConfirmed || 2*judgesTurns*w.proven < w.all) {
		return false
	}
	w.associate(func(timeline.CallID, timeline.RequestID) bool { return true })
	return true
}

// playTurns plays what a loop did.
func playTurns(t *timeline.Timeline, in asyncInput) *inTurns {
	w := &inTurns{t: t, sets: in.chains, free: freeTurn{call: timeline.None}, sound: map[timeline.RequestID]bool{}, posted: map[int32]ref{}}
	w.play(in)
	return w
}

func (w *inTurns) play(in asyncInput) {
	for i := range in.loop.moves {
		if at := in.loop.moves[i].at; in.told != 0 && at > in.told { // from here on it is guessed
			w.proven, w.wrong, w.all, w.sent, w.unseen, in.told = 0, 0, 0, 0, 0, 0
		}
		w.place = i
		w.step(&in.loop.moves[i])
	}
}

// confirmed reports whether what requests were answered confirms whose turns were.
func (w *inTurns) confirmed() bool {
	return w.proven > 0 && w.proven >= confirmsTurns*w.wrong && w.all <= judgesTurns*w.proven
}

// associate gives calls to the requests they are known to be of, if they surely are.
func (w *inTurns) associate(sure func(timeline.CallID, timeline.RequestID) bool) {
	for _, id := range w.sets.calls {
		c := &w.t.Calls[id]
		open := c.Why == timeline.WhyNoAsync || w.blind && c.Why == timeline.WhyAsync || c.Why == timeline.WhyAsyncHint && w.told != nil
		if r := w.sets.known(callRef(id)); open && r != timeline.None && sure(id, r) && c.SendFrom >= w.t.Requests[r].FirstRead && c.SendFrom <= w.t.Requests[r].End {
			w.t.Assign(c, r, timeline.WhyAsyncHint)
		}
	}
}

func (w *inTurns) step(m *move) {
	w.paired = m.kind == moveFired && !m.done && w.fired && w.first
	if !m.callback() {
		w.fired = false
	}
	w.follow(m)
	w.hear(m)
	switch m.kind {
	case moveRead, moveBody:
		w.turn, w.first = asyncTurn{of: m.whose(), counter: m.counter}, true
	case moveAnswer:
		w.turn, w.first = asyncTurn{of: callRef(m.call), counter: m.counter}, true
		if w.shared[m.conn] {
			w.turn.of, w.free = nobody, freeTurn{call: timeline.None}
		}
	case moveConnect, moveSend:
		if sendsFirst(w.t, m) && !w.shared[m.conn] {
			w.send(m)
		}
	case moveRespond:
		if w.t.Requests[m.request].FirstWrite == m.at && !w.elsewhere(m) {
			w.all++
			w.responded(m)
		}
	case movePost:
		w.posts(m)
	case moveFired:
		if w.same(m) {
			break
		}
		w.turn, w.first, w.free = asyncTurn{of: w.wakes, counter: m.counter}, true, freeTurn{m.counter, 0, timeline.None}
		w.fired = true
	case moveBlock, moveBoundary, moveUntold, moveForeign:
		w.turn, w.free = asyncTurn{of: nobody}, freeTurn{m.counter, 0, timeline.None}
	}
}

// here reports a move that was made in the turn that runs, as far as can be told: the first
// of it, and not by a callback that was asked for before. A timer's callback may run in it
// too, unseen.
func (w *inTurns) here(m *move) bool {
	here := w.turn.of != nobody && (m.exec == 0 || m.exec > w.turn.counter || m.own) && (w.first || w.fired || w.told != nil)
	_, answered := w.turn.of.call()
	here = here && (m.own || !((w.fired || w.told != nil && answered) && m.trigger != 0 && m.trigger <= w.turn.counter)) // a callback of another timer, which resolves nothing
	w.first = false
	return here
}

func (w *inTurns) send(m *move) {
	c := &w.t.Calls[m.call]
	w.sent++
	w.sets.add(m.call)
	if w.turn.of == nobody {
		w.unseen++
		w.together(m)
	}
	if c.Why == timeline.WhyAsync && c.Request != timeline.None && !w.blind {
		w.sets.link(m.call, requestRef(c.Request))
	}
	here := w.here(m)
	if w.told != nil {
		w.spans[m.call] = idSpan{w.turn.counter, m.counter}
		if !w.blind {
			w.sets.link(m.call, w.alone(w.by[m.call]))
		}
		w.sendTold(m, here)
		w.told.sends(m.call, w.sets.known(callRef(m.call)))
	} else if here {
		w.sets.link(m.call, w.turn.of)
	}
}

// idSpan are the ids from the beginning of the turn in which a call was sent up to that.
type idSpan struct{ after, to int64 }

// same reports whether who goes on where a promise is resolved, of whom nothing else is known, is who has just
// been answered: its id was given out as that call was asked for, or since the answer.
func (w *inTurns) same(m *move) bool {
	answered, ok := w.turn.of.call()
	if w.told == nil || !ok || w.wakes != nobody {
		return false
	}
	s, sent := w.spans[answered]
	return sent && (m.exec > s.after && m.exec <= s.to || m.exec > w.turn.counter)
}

// alone is somebody, unless that is who asked for a call that was answered with others at once.
func (w *inTurns) alone(by ref) ref {
	if id, ok := by.call(); ok && w.atOnce[id] {
		return nobody
	}
	return by
}

// elsewhere reports a response that tells nothing of whose turn it was written in.
func (w *inTurns) elsewhere(m *move) bool {
	if w.told == nil {
		return false
	}
	return w.turn.of == nobody || w.told.share.stood && w.sets.known(w.turn.of) != m.request
}

// sendTold links a call where all turns are known.
func (w *inTurns) sendTold(m *move, here bool) {
	turn, line := w.sets.known(w.turn.of), w.told.line
	if r := w.sets.known(callRef(m.call)); r != timeline.None {
		line.sends(m.call, r, r == turn)
		return
	}
	if line.plays {
		if r, told := line.first(m.call); told {
			if r != timeline.None {
				w.sets.link(m.call, requestRef(r))
			}
			return
		}
	}
	if r, told := w.told.share.next(); told {
		if r != timeline.None {
			w.sets.link(m.call, requestRef(r))
			line.sends(m.call, r, r == turn)
		}
		return
	}
	if here {
		w.sets.link(m.call, w.turn.of)
		line.sends(m.call, turn, true)
	}
}

// follow tells who may wait, before a move counts.
func (w *inTurns) follow(m *move) {
	if m.kind == moveFired {
		w.wakes = w.goesOn(m)
	}
	if w.told == nil || w.shared[m.conn] {
		return
	}
	next, from := nobody, w.sets.known(w.turn.of)
	if !m.callback() {
		w.told.line.ends(from, w.paired)
		w.told.share.ends()
	}
	switch m.kind {
	case moveRead, moveBody:
		w.told.reads(m.request)
		next = m.whose()
	case moveAnswer:
		if w.t.Calls[m.call].End == m.at {
			w.told.answered(m.call)
		}
		next = callRef(m.call)
	case moveFired:
		next = w.wakes
		w.told.line.woke(w.sets.known(next))
	case moveRespond:
		w.told.share.responds(m.request)
		w.told.responds(m.request)
		return
	case moveBlock:
		w.told.sleeps()
	case moveBoundary, moveUntold, moveForeign:
	default:
		return
	}
	w.told.line.since = m.at
	w.told.turns(from, w.sets.known(next), m.at, m.fires)
	if m.kind == moveAnswer && w.t.Calls[m.call].End == m.at {
		w.told.share.answers(w.sets.known(next), w.place)
	}
}

// together links a call that was sent in no turn with the one sent before: if what sent both
// had been asked for before either was sent, one callback did. That is so of ticks, which end
// before the next timer's callback begins: what is sent by them gives out ids. Immediates of
// several callbacks wait for each other; to send by them gives out none.
func (w *inTurns) together(m *move) {
	if f := &w.free; f.call != timeline.None && f.counter > 0 && m.exec > f.counter && m.exec <= f.last && m.counter > f.last {
		w.sets.link(m.call, callRef(f.call))
	}
	w.free.last, w.free.call = m.counter, m.call
}

func (w *inTurns) responded(m *move) {
	answered, ok := w.turn.of.call()
	if !ok || !w.here(m) {
		return
	}
	switch i, known := w.sets.find(answered); {
	case !known || w.sets.claimed[w.sets.root(i)] == timeline.None: // what came before is not known
	case w.sets.known(w.turn.of) == m.request:
		w.proven++
	default:
		w.wrong++
		w.sets.link(answered, requestRef(m.request))
		return
	}
	w.sound[m.request] = true
	w.sets.link(answered, requestRef(m.request))
}

func (w *inTurns) takeBack() {
	for i, id := range w.sets.calls {
		if c := &w.t.Calls[id]; c.Why == timeline.WhyAsync && w.sets.odds[w.sets.root(i)] {
			w.t.Assign(c, timeline.None, timeline.WhyNoAsync)
		}
	}
}
