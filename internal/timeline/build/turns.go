package build

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// turn is a span in which a loop worked for one request, and how it came to.
type turn struct {
	from, to recording.Time
	last     recording.Time // the last thing it was seen to do for the request
	ready    recording.Time // when what it resumed for was there; NoTime unknown
	request  timeline.RequestID
	strand   timeline.StrandID // the loop's
	call     timeline.CallID   // the call that it resumed for, or None
	how      resume
	timer    bool // it began when the loop was woken by time, as far as can be seen
}

// resume says how a turn began.
type resume int8

const (
	resumeRead   resume = iota // the request was read
	resumeBody                 // more of the request was read
	resumeCall                 // a call went on: connected, shook hands, was sent or answered
	resumeUnseen               // something that no fact shows
	resumeFired                // a timer or an immediate that it had asked for
)

// turner cuts a loop's moves into turns.
type turner struct {
	t     *timeline.Timeline
	loop  timeline.StrandID
	turns []turn
	open  bool
	fresh recording.Time // since when the loop does nothing that is known; NoTime: it does
	timer bool           // what woke it, or runs since fresh, is a timer
	phase bool           // timers run
	wakes []timeline.Interval
}

// appendTurns adds the turns of one loop to a list, in order of time. A turn lasts
// until the loop sleeps, or does something for another.
func appendTurns(turns []turn, t *timeline.Timeline, loop loopMoves) []turn {
	u := turner{t: t, loop: loop.strand, turns: turns, fresh: recording.NoTime, wakes: t.Strands[loop.strand].Intervals}
	windows := t.Windows
	for i := range loop.moves {
		for len(windows) > 1 && loop.moves[i].at >= windows[1].From {
			u.close(windows[0].To)
			u.fresh, u.timer = recording.NoTime, false
			windows = windows[1:]
		}
		u.step(&loop.moves[i])
	}
	u.close(windows[0].To)
	return u.turns
}

func (u *turner) close(at recording.Time) {
	if u.open {
		last := &u.turns[len(u.turns)-1]
		last.to = max(last.last, min(at, u.t.End))
		u.open = false
	}
}

func (u *turner) step(m *move) {
	switch m.kind {
	case moveAside, moveAlong, movePost:
		return
	case moveBlock:
		u.close(m.at)
		u.fresh, u.timer, u.phase = u.ranAgain(m), m.exec == 1, false
		return
	case moveBoundary, moveUntold:
		u.close(m.at)
		u.phase = m.trigger == 1 || u.phase && m.kind == moveUntold
		u.fresh, u.timer = m.at, u.phase
		return
	case moveRead, moveBody, moveAnswer:
		u.phase = false
	}
	r := u.whose(m)
	if r == timeline.None {
		u.close(m.at)
		u.fresh, u.timer = recording.NoTime, false
		if m.kind == moveFired {
			u.fresh, u.timer = m.at, u.byTimer(m)
		}
		return
	}
	if u.open && u.turns[len(u.turns)-1].request == r && m.kind != moveRead {
		u.turns[len(u.turns)-1].last = m.at
		return
	}
	if u.handedOver(m) {
		open := u.turns[len(u.turns)-1]
		u.turns[len(u.turns)-1] = turn{from: m.at, to: m.at, last: m.at, request: r, strand: u.loop, how: resumeCall, ready: m.ready, call: m.call}
		u.turns = append(u.turns, open)
		return
	}
	u.close(m.at)
	u.begin(r, m)
}

// whose is the request that a move was made for, or None.
func (u *turner) whose(m *move) timeline.RequestID {
	if c, ok := m.whose().call(); ok {
		r := u.t.Calls[c].Request
		if m.kind == moveFired && r != timeline.None && u.t.Requests[r].End < m.at {
			return timeline.None
		}
		return r
	}
	r, _ := m.whose().request()
	return r
}

// handedOver reports a write on a connection that became free in the turn that runs:
// whoever waited for it gets a moment, and the turn goes on.
func (u *turner) handedOver(m *move) bool {
	return u.open && m.kind == moveSend && !u.t.Calls[m.call].New && m.ready != recording.NoTime &&
		m.ready >= u.turns[len(u.turns)-1].from
}

// ranAgain is when the loop ran again after a sleep that began at m.
func (u *turner) ranAgain(m *move) recording.Time {
	ivs := timeline.Clipped(u.wakes, m.at, m.at+1)
	if len(ivs) == 0 {
		return recording.NoTime
	}
	return max(m.at, ivs[0].To)
}

// byTimer reports a callback that runs among those of timers: not a message's, nor of what the thread
// pool has done.
func (u *turner) byTimer(m *move) bool { return u.phase && m.port == 0 && !m.done }

// begin begins a turn with a move. One that is not a read was made by a callback that
// began unseen: since the loop was woken, if it did nothing else.
func (u *turner) begin(r timeline.RequestID, m *move) {
	n := turn{from: m.at, to: m.at, last: m.at, request: r, strand: u.loop, ready: m.ready, call: m.call}
	switch m.kind {
	case moveRead:
		n.how = resumeRead
	case moveBody:
		n.how = resumeBody
	case moveConnect, moveSend, moveHandshake, moveAnswer:
		n.how = resumeCall
	case moveFired:
		n.how, n.timer = resumeFired, u.byTimer(m)
	default:
		n.how = resumeUnseen
	}
	if unseen := m.kind == moveConnect || m.kind == moveSend || m.kind == moveRespond; unseen && u.fresh != recording.NoTime {
		n.from = max(u.fresh, u.t.Requests[r].FirstRead)
		n.from, n.timer = min(n.from, m.at), u.timer
	}
	u.turns, u.open = append(u.turns, n), true
	u.fresh, u.timer = recording.NoTime, false
}
