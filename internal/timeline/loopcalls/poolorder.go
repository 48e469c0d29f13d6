package loopcalls

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// A pool that has no connection left lets whoever asks wait, and gives the next that comes
// free to who asked first. It does so in the callback of the answer that freed it, or in an
// immediate that was asked for there, and so Node's ids tell whose connection it was, not
// whose it is now. But who asks next is known: a request that was read, or whose call was
// answered, and then neither sent anything nor was answered itself, waits; if for one pool
// alone, in the order of these turns. A session in a transaction is not free: what is sent
// on it is of the request that began that. What else is sent is of whoever's turn it was
// asked for in. Whether that is how it is, the requests tell: each is answered in the turn
// of its own last call. Calls are given only to requests that are so confirmed, and to none
// if fewer than nine of ten are.

// poolOrder follows one loop and gives the calls of its pool to who stands in line for it.
type poolOrder struct {
	t       *timeline.Timeline
	line    causality.Line[timeline.RequestID]    // doubtful: somebody may have been given the place of another
	flying  map[timeline.RequestID]int            // calls under way
	asked   map[timeline.RequestID]recording.Time // when those last did who have some: the turn
	atOnce  map[string]int                        // as in asyncInput
	given   map[timeline.CallID]int               // calls under way, or answered last on their connection, that ids do not tell of: places in list
	asleep  map[timeline.CallID]int               // those in whose answer's turn a timer was set that fires
	of      map[timeline.RequestID][]int          // places in list
	list    []guess
	guessed int                         // about requests of the recording
	proven  map[timeline.RequestID]bool // requests whose answers confirm the guesses
	wrong   int                         // answers that contradict them
	last    map[recording.ConnID]timeline.CallID
	turn    poolTurn
	hands   askedIn
	wanted  []recording.Time // by call, as in asyncInput

	mended map[timeline.RequestID]bool // whose guesses were, and may be wrong still
	kind   lineKind
}

// lineKind says which calls are those of who stands first in line, if somebody does. All
// others are of whoever's turn they were asked for in.
type lineKind int8

const (
	lineByIDs  lineKind = iota // those that ids tell to have been sent for a free connection
	lineByRoom                 // those on a connection that was used before, or asked for in the turn of an answer: the application lets so many run at once
	lineKinds
)

// guess is whose a call seems to be, and since when that one waited for it.
type guess struct {
	call    timeline.CallID
	request timeline.RequestID
	since   recording.Time
	timer   bool // a timer sent it: it waited for that, and for no connection
}

// poolTurn is what the loop does for a request since it read its bytes or an answer.
type poolTurn struct {
	of    timeline.RequestID // None: nobody known
	call  timeline.CallID    // that was answered, or None
	at    recording.Time
	sent  bool
	timer bool           // timers run
	woke  bool           // one fired that its request waited for
	fires recording.Time // when a timer did that was set in it; 0: none did
}

// associateInLine associates the calls of a loop that ids do not tell of, and notes since
// when they were wanted. It reports whether there is a line.
func associateInLine(t *timeline.Timeline, in asyncInput) bool {
	var given map[timeline.CallID]guess
	for kind := range lineKinds {
		p := followLine(t, in, kind)
		if !p.confirmed() {
			continue
		}
		found := p.guesses(given)
		if 3*len(found) < p.guessed {
			continue // most are of requests that nothing confirms
		}
		given = found
		if len(p.proven) >= 99*p.wrong {
			break
		}
	}
	told := len(toldMoves(in.loop.Moves)) == len(in.loop.Moves)
	timers := !told && timersSend(t, in.loop.Moves) // then it is not known who waits for a timer, and who in line
	for id, g := range given {
		c := &t.Calls[id]
		t.Assign(c, g.request, timeline.WhyInLine)
		if in.wanted[id] = g.since; g.timer || timers {
			in.wanted[id] = recording.NoTime
		}
	}
	return len(given) > 0
}

// hopeless is after how many contradictions a line that is not confirmed is none.
const hopeless = 1000

// followLine plays what a loop did, with a line of a kind.
func followLine(t *timeline.Timeline, in asyncInput, kind lineKind) *poolOrder {
	p := &poolOrder{
		t: t, flying: map[timeline.RequestID]int{}, asked: map[timeline.RequestID]recording.Time{}, atOnce: in.atOnce, given: map[timeline.CallID]int{}, asleep: map[timeline.CallID]int{}, of: map[timeline.RequestID][]int{},
		proven: map[timeline.RequestID]bool{}, mended: map[timeline.RequestID]bool{}, last: map[recording.ConnID]timeline.CallID{}, turn: poolTurn{of: timeline.None, call: timeline.None},
		hands: in.hands, wanted: in.wanted, kind: kind,
	}
	for i := range in.loop.Moves {
		p.step(&in.loop.Moves[i])
		if p.wrong > hopeless && !p.confirmed() {
			break
		}
	}
	return p
}

// confirmed reports whether what requests were answered confirms the guesses.
func (p *poolOrder) confirmed() bool { return len(p.proven) > 0 && len(p.proven) >= 9*p.wrong }

// guesses are those about requests whose answers confirm them, if they are also among those
// of another kind of line that was confirmed.
func (p *poolOrder) guesses(among map[timeline.CallID]guess) map[timeline.CallID]guess {
	all := map[timeline.CallID]guess{}
	for _, g := range p.list {
		if g.request == timeline.None || !p.proven[g.request] || p.t.Calls[g.call].SendFrom < p.t.Requests[g.request].FirstRead {
			continue
		}
		if other, ok := among[g.call]; among == nil || ok && other.request == g.request {
			all[g.call] = g
		}
	}
	return all
}

// anyInLine reports whether there are calls of a loop that may have stood in line: of which
// ids do not tell whose they are, or which made use of room that an answer had made.
func anyInLine(t *timeline.Timeline, in asyncInput) bool {
	return slices.ContainsFunc(in.loop.Moves, func(m loops.Move) bool {
		return m.Kind == loops.MoveSend && m.At == t.Calls[m.Call].SendFrom && (t.Calls[m.Call].Why == timeline.WhyNoAsync || in.hands.over[m.Call])
	})
}

func (p *poolOrder) step(m *loops.Move) {
	switch m.Kind {
	case loops.MoveRead, loops.MoveBody:
		p.begin(poolTurn{of: m.Request, call: timeline.None, at: m.At, fires: m.Fires})
	case loops.MoveAnswer:
		next := poolTurn{of: timeline.None, call: timeline.None, at: m.At, fires: m.Fires}
		if p.t.Calls[m.Call].End == m.At {
			next.of, next.call = p.owner(m.Call), m.Call
			if p.flying[next.of]--; p.flying[next.of] <= 0 {
				delete(p.flying, next.of)
			}
			if k, ok := p.given[m.Call]; ok && m.Fires != 0 {
				p.asleep[m.Call] = k
			}
		}
		p.begin(next)
	case loops.MoveConnect:
		if m.Call != timeline.None {
			p.send(m)
		}
	case loops.MoveSend:
		if c := &p.t.Calls[m.Call]; c.SendFrom == m.At && (!c.New || p.last[c.Conn] != m.Call) {
			p.send(m)
		}
	case loops.MoveRespond:
		if p.t.Requests[m.Request].FirstWrite == m.At {
			p.respond(m.Request)
		}
	case loops.MoveFired:
		p.begin(p.woke(m))
	case loops.MoveBlock, loops.MoveBoundary, loops.MoveUntold, loops.MoveForeign:
		p.begin(poolTurn{of: timeline.None, call: timeline.None, at: m.At, timer: m.Kind == loops.MoveBoundary && m.Trigger == 1})
	}
}

// begin ends the turn that runs: if all that its request could do was to ask for a
// connection, it stands in line now.
func (p *poolOrder) begin(next poolTurn) {
	if u := p.turn; u.of != timeline.None && !u.sent && p.flying[u.of] == 0 && !p.sleeps(&u) {
		if done := p.t.Requests[u.of].FirstWrite; done == recording.NoTime || done > next.at {
			p.line.Rejoin(u.of, u.at)
		}
	}
	if next.of != timeline.None {
		p.line.Leave(next.of)
	}
	p.turn = next
}

// owner is whose a call is, or seems to be.
func (p *poolOrder) owner(c timeline.CallID) timeline.RequestID {
	if r := p.t.Calls[c].Request; r != timeline.None {
		return r
	}
	if k, ok := p.given[c]; ok {
		return p.list[k].request
	}
	if k, ok := p.asleep[c]; ok {
		return p.list[k].request
	}
	return timeline.None
}

func (p *poolOrder) send(m *loops.Move) {
	c := &p.t.Calls[m.Call]
	g := guess{m.Call, c.Request, p.turn.at, p.turn.timer}
	before, used := p.last[c.Conn]
	used = used && before != m.Call
	p.last[c.Conn] = m.Call
	if g.request == timeline.None && c.Why == timeline.WhyNoAsync {
		g.request, g.since = p.askedBy(m.Call)
		if used && timeline.InTransaction(&p.t.Calls[before]) {
			g.request = p.owner(before)
		} else if p.inLine(m.Call, before, used) {
			g.request, g.since = p.headOfLine(g.request, g.since)
		}
		if g.request != timeline.None {
			p.given[m.Call] = len(p.list)
			p.of[g.request] = append(p.of[g.request], len(p.list))
			p.list = append(p.list, g)
			p.guessed++
		}
	}
	if used {
		delete(p.given, before)
	}
	if g.request == timeline.None {
		return
	}
	if since, stands := p.line.Waits(g.request); stands && p.hands.over[m.Call] && c.Request != timeline.None {
		p.wanted[m.Call] = since
	}
	p.line.Leave(g.request)
	if p.flying[g.request] > 0 { // its answer confirms the last of them alone
		p.mended[g.request] = true
	}
	p.flying[g.request]++
	if g.request == p.turn.of {
		p.turn.sent, p.asked[g.request] = true, p.turn.at
	}
}

// inLine reports a call that stood in line, if that is of the kind it is taken for; before
// is the one before on its connection, if that was used.
func (p *poolOrder) inLine(c, before timeline.CallID, used bool) bool {
	switch {
	case p.hands.room[c] && !p.hands.over[c] && p.kind == lineByIDs:
		return false
	case used && (before == p.turn.call || p.hands.over[c]):
		return true
	}
	return p.kind == lineByRoom && (used || p.afterAnswer(c))
}

// afterAnswer reports a call that was asked for in the turn of an answer.
func (p *poolOrder) afterAnswer(c timeline.CallID) bool {
	if made := p.hands.made[c]; made != loops.Nobody || p.hands.late[c] {
		_, ok := made.Call()
		return ok
	}
	return p.turn.call != timeline.None
}

// askedBy is who seems to have asked for a call that did not wait, and when.
func (p *poolOrder) askedBy(c timeline.CallID) (timeline.RequestID, recording.Time) {
	if !p.hands.late[c] && p.hands.made[c] == loops.Nobody {
		return p.turn.of, p.turn.at
	}
	return p.maker(p.hands.made[c])
}

// maker is the request in whose turn something was asked for, and when that was.
func (p *poolOrder) maker(made loops.Owner) (timeline.RequestID, recording.Time) {
	if r, ok := made.Request(); ok {
		return r, recording.NoTime
	}
	if x, ok := made.Call(); ok {
		return p.owner(x), p.t.Calls[x].End
	}
	return timeline.None, recording.NoTime
}
