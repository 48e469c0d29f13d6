package loopcalls

import (
	"maps"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/loops"
)

// associateTold assigns the calls of a loop for which the owners of all turns are known, as far as responses confirm
// them. It reports whether they do.
func associateTold(t *timeline.Timeline, in asyncInput) bool {
	p := newToldPasses(t, in)
	defer in.chains.reset()
	r := p.believingIDs(p.withMessages(p.best()))
	if !r.confirmed {
		return false
	}
	r.associate(timeline.WhyTurnTold)
	for id, since := range r.since {
		in.wanted[id] = since
	}
	for i, id := range r.calls {
		in.sure[id] = t.Calls[id].Request != timeline.None && r.of[i] == t.Calls[id].Request
	}
	return true
}

// toldPasses makes several passes over what a loop did.
type toldPasses struct {
	in    asyncInput
	turns toldTurns
	blind bool // ids are not believed
}

// toldTurns holds what is known if the owner of each turn is known. What is sent in the turn of an answer then
// belongs to the request whose call was answered. There are three exceptions: a call of another request had waited
// for just that, for the connection or for a place among the calls that may run at once (places); several requests
// had waited for the same answer (joined); or the request that continues had waited for the message of a worker
// thread (ports).
type toldTurns struct {
	t      *timeline.Timeline
	places *causality.Places[timeline.RequestID, timeline.CallID]
	joined *causality.Joined[timeline.RequestID, timeline.CallID]
	ahead  []int32                  // by index of a move that begins a turn: the calls sent in that turn
	ports  map[int64]*portTurns     // handles whose messages let the first waiting request continue
	shared map[int32]bool           // connections on which several requests send at once, by index in facts.conns: left to associateShared
	atOnce map[timeline.CallID]bool // calls that were answered with others at once: what follows may belong to any of them
}

func newToldPasses(t *timeline.Timeline, in asyncInput) *toldPasses {
	in.loop.Moves = whereAskedFor(t, in.loop.Moves, in.lasting)
	places := causality.NewPlaces[timeline.RequestID, timeline.CallID]()
	d := toldTurns{t: t, places: places, joined: causality.NewJoined(places), shared: in.shared, atOnce: in.together}
	d.ahead = sendsAhead(t, in.loop.Moves, d.shared)
	return &toldPasses{in: in, turns: d}
}

// sendsAhead counts, by index of a move that begins a turn, the calls sent in that turn, except those on some
// connections.
func sendsAhead(t *timeline.Timeline, moves []loops.Move, but map[int32]bool) []int32 {
	ahead, n := make([]int32, len(moves)), int32(0)
	for i := len(moves) - 1; i >= 0; i-- {
		switch m := &moves[i]; {
		case !m.Callback():
			ahead[i], n = n, 0
		case sendsFirst(t, m) && !but[m.Conn]:
			n++
		}
	}
	return ahead
}

// tellsMore reports whether a reading is confirmed, and the other one is not or assigns fewer calls.
func (r *reading) tellsMore(than *reading) bool {
	return r.confirmed && (!than.confirmed || r.known > than.known)
}

// play makes one pass.
func (p *toldPasses) play(pass causality.Pass) *reading { return p.playWith(pass, false) }

// playWith makes one pass in which requests may also continue in the turns of other requests' calls, if joined is
// true.
func (p *toldPasses) playWith(pass causality.Pass, joined bool) *reading {
	p.in.chains.reset()
	p.turns.places.Begin(pass)
	p.turns.joined.Begin(pass == causality.LearnRoom, joined)
	w := newInTurns(p.turns.t, p.in.chains)
	w.told, w.blind, w.by = &p.turns, p.blind, p.in.hands.by
	w.play(p.in)
	r := w.reading(causality.Surely)
	r.since = p.turns.places.Since
	return r
}

// best makes several passes and returns the confirmed one that assigns most calls; the last one if none is confirmed.
func (p *toldPasses) best() *reading {
	p.play(causality.Count)
	best, least := &reading{}, 0
	for _, learns := range []causality.Pass{causality.LearnRoom, causality.LearnAlone} {
		r := p.play(learns)
		if learns == causality.LearnRoom {
			maps.Copy(p.in.atOnce, p.turns.places.Most)
			least = r.known
		}
		if r = p.play(causality.GiveFirst); r.known >= least && r.tellsMore(best) {
			best = r
		}
		if best.confirmed && best.known == len(best.calls) {
			return best
		}
	}
	if !best.confirmed {
		best = p.play(causality.Count)
	}
	if !best.confirmed {
		best = p.playWith(causality.Count, true)
	}
	return best
}

// withMessages makes passes in which messages let requests continue, if any message may, unless another pass assigns
// all calls already.
func (p *toldPasses) withMessages(best *reading) *reading {
	if best.confirmed && best.known == len(best.calls) {
		return best
	}
	if p.turns.ports = ports(p.in.loop.Moves); len(p.turns.ports) > 0 {
		p.play(causality.Count)
		if p.turns.leads() {
			if r := p.best(); r.tellsMore(best) {
				return r
			}
		}
	}
	p.turns.ports = nil
	return best
}

// A program may limit its concurrent calls by a queue of its own. It then asks for the next call where the last one
// is answered, like a program that leaves the limit to its clients' pools. But the ids of promises, and whatever else
// follows the program's contexts, then name the request that made room as the owner of the next call. That shows when
// a request is answered in the turn of the answer of a call that, by those ids, belongs to another request.

// believingIDs makes passes without believing ids, if ids contradict the turns in which requests are answered. It
// returns such a pass if nothing contradicts it and it assigns at least as many calls as a pass that believes ids.
func (p *toldPasses) believingIDs(best *reading) *reading {
	if p.in.named == nil || best.heard.Odd < misledLeast || misledOneIn*best.heard.Odd < best.heard.All-best.heard.Odd {
		return best
	}
	p.blind = true
	if r := p.best(); r.confirmed && r.heard.Odd == 0 && r.heard.All >= best.heard.All && r.known >= best.known {
		return r
	}
	return best
}

// Ids are doubted if at least misledLeast requests are answered in the turn of another request's call, and at least
// one for each misledOneIn that are answered in a turn of their own.
const (
	misledLeast = 2
	misledOneIn = 1000
)

// hearing is the answer that began the running turn, None in other turns; and how many requests were answered in such
// turns.
type hearing struct {
	after timeline.CallID
	causality.Tally
}

// hear counts requests that are answered in the turn of the answer of a call, whatever else runs in it; odd: the call
// is known to belong to another request.
func (w *inTurns) hear(m *loops.Move) {
	switch {
	case w.told == nil:
	case m.Kind == loops.MoveAnswer && !w.told.shared[m.Conn] && !w.told.atOnce[m.Call]:
		w.heard.after = m.Call
	case !m.Callback() && (m.Kind != loops.MoveFired || m.Done):
		w.heard.after = timeline.None
	case m.Kind == loops.MoveRespond && w.heard.after != timeline.None && w.t.Requests[m.Request].FirstWrite == m.At:
		if r := w.sets.known(loops.OfCall(w.heard.after)); r != timeline.None {
			w.heard.Add(r != m.Request)
		}
	}
}

// follow updates which requests may wait, before a move counts.
func (w *inTurns) follow(m *loops.Move) {
	if m.Kind == loops.MoveFired {
		w.wakes = w.goesOn(m)
	}
	if w.told == nil || w.isShared(m) {
		return
	}
	next, from := loops.Nobody, w.sets.known(w.turn.of)
	if !m.Callback() {
		w.told.places.End(from, w.paired)
		w.told.joined.End()
	}
	switch m.Kind {
	case loops.MoveRead, loops.MoveBody:
		w.told.places.Come(m.Request, w.t.Requests[m.Request].Endpoint)
		next = m.Whose()
	case loops.MoveAnswer:
		if w.t.Calls[m.Call].End == m.At {
			w.told.places.Answer(m.Call, w.t.Calls[m.Call].Peer)
		}
		next = loops.OfCall(m.Call)
	case loops.MoveFired:
		next = w.wakes
		w.told.places.Wake(w.sets.known(next))
	case loops.MoveRespond:
		w.stood = w.told.joined.Stands(m.Request)
		w.told.places.Over(m.Request)
		return
	case loops.MoveBlock:
		w.told.places.Sleeps()
	case loops.MoveBoundary, loops.MoveUntold, loops.MoveForeign:
	default:
		return
	}
	w.told.places.Turn(from, w.sets.known(next), m.At, m.Fires)
	if m.Kind == loops.MoveAnswer && w.t.Calls[m.Call].End == m.At {
		w.told.joined.Answer(w.sets.known(next), int(w.told.ahead[w.place]))
	}
}

// sendTold links a call if all turns are known.
func (w *inTurns) sendTold(m *loops.Move, here bool) {
	peer, whose := w.t.Calls[m.Call].Peer, w.sets.known(loops.OfCall(m.Call))
	if whose == timeline.None {
		r, decided := w.told.places.First(m.Call, peer)
		if !decided {
			r, decided = w.told.joined.Next()
		}
		switch {
		case decided && r != timeline.None:
			w.sets.link(m.Call, loops.OfRequest(r))
		case !decided && here:
			w.sets.link(m.Call, w.turn.of)
		}
		whose = w.sets.known(loops.OfCall(m.Call))
	}
	w.told.places.Send(m.Call, peer, whose, whose == w.sets.known(w.turn.of))
}

// idSpan is the range of ids from the beginning of the turn in which a call was sent up to the sending.
type idSpan struct{ after, to int64 }

// same reports whether code that continues where a promise is resolved, and about which nothing else is known,
// belongs to the call that was just answered: its id was given out when that call was asked for, or since the answer.
func (w *inTurns) same(m *loops.Move) bool {
	answered, ok := w.turn.of.Call()
	if w.told == nil || !ok || w.wakes != loops.Nobody {
		return false
	}
	s, sent := w.spans[answered]
	return sent && (m.Exec > s.after && m.Exec <= s.to || m.Exec > w.turn.counter)
}

// alone returns an owner, unless it is that of a call that was answered with others at once; then Nobody.
func (w *inTurns) alone(by loops.Owner) loops.Owner {
	if id, ok := by.Call(); ok && w.told.atOnce[id] {
		return loops.Nobody
	}
	return by
}

// elsewhere reports a response that shows nothing about the turn in which it was written.
func (w *inTurns) elsewhere(m *loops.Move) bool {
	if w.told == nil {
		return false
	}
	return w.turn.of == loops.Nobody || w.stood && w.sets.known(w.turn.of) != m.Request
}

// isShared reports a move on a connection that is left to associateShared.
func (w *inTurns) isShared(m *loops.Move) bool { return w.told != nil && w.told.shared[m.Conn] }
