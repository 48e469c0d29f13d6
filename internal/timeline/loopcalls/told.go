package loopcalls

import (
	"maps"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/loops"
)

// associateTold associates the calls of a loop of which all turns are known, as far as responses
// confirm it. It reports whether they do.
func associateTold(t *timeline.Timeline, in asyncInput) bool {
	p := newToldPasses(t, in)
	defer in.chains.reset()
	told := p.best()
	if n := p.w.known(); !told || n < len(p.w.sets.calls) {
		if p.d.ports = ports(in.loop.Moves); len(p.d.ports) > 0 {
			told = p.leads() && (!told || p.w.known() > n) || p.withoutPorts()
		}
	}
	if !p.misled() && !told {
		return false
	}
	p.w.associate(func(id timeline.CallID, r timeline.RequestID) bool { return p.w.led[r].by == nil || p.w.sound[r] })
	for id, since := range p.d.places.Since {
		in.wanted[id] = since
	}
	for _, id := range p.w.sets.calls {
		in.sure[id] = t.Calls[id].Request != timeline.None && p.w.sets.known(loops.OfCall(id)) == t.Calls[id].Request
	}
	return true
}

func newToldPasses(t *timeline.Timeline, in asyncInput) *toldPasses {
	in.loop.Moves = whereAskedFor(t, in.loop.Moves)
	conns := sharedConns(t, in.loop.Moves)
	p := &toldPasses{t: t, in: in, shared: conns.index(), atOnce: conns.answeredAtOnce(t)}
	p.d.places = causality.NewPlaces[timeline.RequestID, timeline.CallID]()
	p.d.share = newSharers(p.d.places, t, in.loop.Moves, p.shared)
	return p
}

// leads makes passes as best does, in which messages lead requests on, if any may.
func (p *toldPasses) leads() bool {
	p.play(causality.Count)
	return p.d.leads() && p.best()
}

// withoutPorts makes those in which none does.
func (p *toldPasses) withoutPorts() bool {
	p.d.ports = nil
	return p.best()
}

// toldPasses goes over what a loop did again and again.
type toldPasses struct {
	t      *timeline.Timeline
	in     asyncInput
	d      toldTurns
	shared map[int32]bool
	atOnce map[timeline.CallID]bool
	blind  bool     // ids are not believed
	w      *inTurns // the last pass
}

// toldTurns is what is known where all turns are: what is sent in the turn of an answer is of whose call that
// was, unless it had waited for just that, as for the connection that came free, or for leave to run beside so
// many others; or who goes on had waited for the same answer, or for a message.
type toldTurns struct {
	places *causality.Places[timeline.RequestID, timeline.CallID]
	share  *sharers
	ports  map[int64]*portTurns // handles by which messages come that who stands first goes on with
}

// play makes one pass, and reports whether responses confirm it.
func (p *toldPasses) play(pass causality.Pass) bool { return p.playWith(pass, false) }

// playWith makes one in which requests may go on in the turns of others' calls, too.
func (p *toldPasses) playWith(pass causality.Pass, shares bool) bool {
	p.in.chains.reset()
	p.d.places.Begin(pass)
	p.d.share.begin(pass == causality.LearnRoom, shares)
	p.w = &inTurns{t: p.t, sets: p.in.chains, free: freeTurn{call: timeline.None}, told: &p.d, shared: p.shared, atOnce: p.atOnce, by: p.in.hands.by, spans: map[timeline.CallID]idSpan{}, led: map[timeline.RequestID]lead{}, sound: map[timeline.RequestID]bool{}, posted: map[int32]loops.Owner{}, blind: p.blind, heard: hearing{after: timeline.None}}
	p.w.play(p.in)
	return p.w.confirmed(causality.Surely)
}

// best makes passes until one is confirmed that tells the most, and reports whether one was.
func (p *toldPasses) best() bool {
	p.play(causality.Count)
	p.play(causality.LearnRoom)
	maps.Copy(p.in.atOnce, p.d.places.Most)
	known := p.w.known()
	lines := func() bool { return p.play(causality.GiveFirst) && p.w.known() >= known }
	told, n := lines(), p.w.known()
	if !told || n < len(p.w.sets.calls) {
		p.play(causality.LearnAlone)
		if alone := lines(); alone && (!told || p.w.known() > n) {
			told = true
		} else if told { // it was better as before
			p.play(causality.LearnRoom)
			lines()
		}
	}
	return told || p.play(causality.Count) || p.playWith(causality.Count, true)
}

// known is of how many calls it is known whose they are.
func (w *inTurns) known() (n int) {
	for _, id := range w.sets.calls {
		if w.sets.known(loops.OfCall(id)) != timeline.None {
			n++
		}
	}
	return n
}
