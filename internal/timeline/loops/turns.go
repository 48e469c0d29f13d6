package loops

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Turn is a span in which a loop worked for one request, and what started it.
type Turn struct {
	From, To recording.Time
	Last     recording.Time // when the loop was last seen to do something for the request
	Ready    recording.Time // when what it resumed for was there; NoTime: unknown
	Request  timeline.RequestID
	Strand   timeline.StrandID // the loop's strand
	Call     timeline.CallID   // the call that it resumed for, or None
	How      resume
	Timer    bool // it began when a timer woke the loop, as far as can be seen
	Queued   bool // the request's task had been ready since the turn before, as far as can be seen (defers)
}

// resume says how a turn began.
type resume int8

const (
	ResumeRead   resume = iota // the request was read
	ResumeBody                 // more of the request was read
	ResumeCall                 // a call progressed: it connected, shook hands, was sent or was answered
	ResumeUnseen               // something that no fact shows
	ResumeFired                // a timer or an immediate that the request had asked for
)

// turner cuts a loop's moves into turns.
type turner struct {
	t     *timeline.Timeline
	loop  timeline.StrandID
	turns []Turn
	open  bool
	fresh recording.Time // since when nothing is known of what the loop does; NoTime: it is known
	timer bool           // what woke the loop, or runs since fresh, is a timer
	phase bool           // the loop is running timers
	wakes []timeline.Interval

	tasks *taskQueue     // of a loop that defers, else nil
	last  recording.Time // when the move before this one was made
}

// appendTurns adds the turns of one loop to a list, in order of time. A turn lasts until the loop sleeps, or does
// something for another request.
func appendTurns(turns []Turn, t *timeline.Timeline, loop Loop) []Turn {
	u := turner{t: t, loop: loop.Strand, turns: turns, fresh: recording.NoTime, wakes: t.Strands[loop.Strand].Intervals}
	if defers(t, &loop) {
		u.tasks = &taskQueue{of: map[timeline.RequestID]int{}}
	}
	windows := t.Windows
	for i := range loop.Moves {
		for len(windows) > 1 && loop.Moves[i].At >= windows[1].From {
			u.close(windows[0].To)
			u.fresh, u.timer = recording.NoTime, false
			u.tasks.empty()
			windows = windows[1:]
		}
		u.step(&loop.Moves[i])
		u.last = loop.Moves[i].At
	}
	u.close(windows[0].To)
	return u.turns
}

func (u *turner) close(at recording.Time) {
	if u.open {
		last := &u.turns[len(u.turns)-1]
		last.To = max(last.Last, min(at, u.t.End))
		u.open = false
	}
}

func (u *turner) step(m *Move) {
	switch m.Kind {
	case MoveAside, MoveAlong, MovePost:
		return
	case MoveBlock:
		u.close(m.At)
		u.fresh, u.timer, u.phase = u.ranAgain(m), m.Exec == 1, false
		u.tasks.empty()
		return
	case MoveBoundary, MoveUntold:
		u.close(m.At)
		u.phase = m.Trigger == 1 || u.phase && m.Kind == MoveUntold
		u.fresh, u.timer = m.At, u.phase
		return
	case MoveRead, MoveBody, MoveAnswer:
		u.phase = false
	}
	r := whose(u.t, m)
	u.tasks.round(m)
	if r == timeline.None {
		u.close(m.At)
		u.fresh, u.timer = recording.NoTime, false
		if m.Kind == MoveFired {
			u.fresh, u.timer = m.At, u.byTimer(m)
		}
		return
	}
	if u.open && u.turns[len(u.turns)-1].Request == r && m.Kind != MoveRead {
		u.turns[len(u.turns)-1].Last = m.At
		return
	}
	if u.handedOver(m) {
		open := u.turns[len(u.turns)-1]
		u.turns[len(u.turns)-1] = Turn{From: m.At, To: m.At, Last: m.At, Request: r, Strand: u.loop, How: ResumeCall, Ready: m.Ready, Call: m.Call}
		u.turns = append(u.turns, open)
		return
	}
	if u.tasks.runs(r, m) && u.fresh == recording.NoTime { // since its previous move, the loop worked for this task
		u.close(u.last)
		u.fresh, u.timer = u.last, false
		u.begin(r, m)
		u.turns[len(u.turns)-1].Queued = true
		return
	}
	u.close(m.At)
	u.begin(r, m)
}

// whose is the request that a move was made for, or None.
func whose(t *timeline.Timeline, m *Move) timeline.RequestID {
	if c, ok := m.Whose().Call(); ok {
		r := t.Calls[c].Request
		if m.Kind == MoveFired && r != timeline.None && t.Requests[r].End < m.At {
			return timeline.None
		}
		return r
	}
	r, _ := m.Whose().Request()
	return r
}

// handedOver reports a write on a connection that became free in the running turn. The request that waited for the
// connection gets a turn without duration, and the running turn continues.
func (u *turner) handedOver(m *Move) bool {
	return u.open && m.Kind == MoveSend && !u.t.Calls[m.Call].New && m.Ready != recording.NoTime &&
		m.Ready >= u.turns[len(u.turns)-1].From
}

// ranAgain is when the loop ran again after a sleep that began at m.
func (u *turner) ranAgain(m *Move) recording.Time {
	ivs := timeline.Clipped(u.wakes, m.At, m.At+1)
	if len(ivs) == 0 {
		return recording.NoTime
	}
	return max(m.At, ivs[0].To)
}

// byTimer reports a callback that runs among those of timers: neither a message's nor one that reports a thread-pool
// task.
func (u *turner) byTimer(m *Move) bool { return u.phase && m.Port == 0 && !m.Done }

// begin begins a turn with a move. If the move is not a read, a callback made it that began unseen: that turn lasts
// from when the loop was woken, if the loop did nothing else.
func (u *turner) begin(r timeline.RequestID, m *Move) {
	n := Turn{From: m.At, To: m.At, Last: m.At, Request: r, Strand: u.loop, Ready: m.Ready, Call: m.Call}
	switch m.Kind {
	case MoveRead:
		n.How = ResumeRead
	case MoveBody:
		n.How = ResumeBody
	case MoveConnect, MoveSend, MoveHandshake, MoveAnswer:
		n.How = ResumeCall
	case MoveFired:
		n.How, n.Timer = ResumeFired, u.byTimer(m)
	default:
		n.How = ResumeUnseen
	}
	if unseen := m.Kind == MoveConnect || m.Kind == MoveSend || m.Kind == MoveRespond; unseen && u.fresh != recording.NoTime {
		n.From = max(u.fresh, u.t.Requests[r].FirstRead)
		n.From, n.Timer = min(n.From, m.At), u.timer
	}
	u.turns, u.open = append(u.turns, n), true
	u.fresh, u.timer = recording.NoTime, false
}
