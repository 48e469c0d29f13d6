package build

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// A program sends messages to worker threads by ports, and they send theirs by these. Where a worker
// sends one for each that it gets, in that order, it is known for whom the loop goes on at each: for whom
// it worked as that was sent.

// mail counts the messages of one port.
type mail struct {
	sent, came int
	owed       int                   // how many came, at most, for which nothing was seen to be sent: they were asked for before
	taken      bool                  // the program takes some by itself: how many is not known
	waiting    causality.Line[int32] // messages that are sent, by number, for those that answer them
}

// How many messages may be owed as a recording begins, or not be answered as it ends, for each that is
// sent, and at any rate.
const (
	mailOpen   = 10
	mailOpenAt = 8
)

// paired reports whether one message comes for each that is sent, as far as counts tell.
func (p *mail) paired() bool {
	few := func(n int) bool { return n <= mailOpenAt || n*mailOpen <= p.sent }
	return p.sent > 0 && p.came > 0 && !p.taken && few(p.owed) && few(p.sent+p.owed-p.came)
}

// mailBy names the messages of one port in one window: what is sent and comes between windows is not seen.
type mailBy struct {
	port   int64
	window int
}

// eachMailed visits what is done by ports, in order, with whose it is.
func eachMailed(moves []move, windows []timeline.Window, visit func(by mailBy, m *move)) {
	window := 0
	for i := range moves {
		for window+1 < len(windows) && moves[i].at >= windows[window+1].From {
			window++
		}
		if m := &moves[i]; m.port != 0 {
			visit(mailBy{m.port, window}, m)
		}
	}
}

// pairMail notes in the messages that a loop takes which of those that it sent each answers, where that
// is known: by a number from 1. Others are left out.
func pairMail(moves []move, windows []timeline.Window) []move {
	all := map[mailBy]*mail{}
	eachMailed(moves, windows, func(by mailBy, m *move) {
		lists.Entry(all, by).count(m)
	})
	number := int32(0)
	eachMailed(moves, windows, func(by mailBy, m *move) {
		p := all[by]
		switch {
		case !p.paired():
			m.post = noMail
		case m.kind == movePost:
			number++
			m.post = number
			p.waiting.Join(causality.Waiter[int32]{Owner: number, Since: m.at})
		case m.kind == moveFired && p.owed > 0:
			p.owed--
		case m.kind == moveFired:
			sent, _ := p.waiting.Grant()
			m.post = sent.Owner
		}
	})
	return withoutRest(inTheirOrder(moves))
}

// How many responses must be of whom the loop seems to go on for at a message, for each that is not; and
// how many are not where a port's messages answer in another order.
const (
	mailOrder    = 50
	mailDisorder = 2
)

// inTheirOrder marks what is done by ports whose messages do not answer in the order in which they were asked
// for, as those of a worker that waits for something itself. That shows where a request asked for
// something as it was read, or at a message before, and another is answered in the turn of what seems to answer it.
func inTheirOrder(moves []move) []move {
	right, wrong := map[int64]int{}, map[int64]int{}
	sender, turn, port := map[int32]timeline.RequestID{}, timeline.RequestID(timeline.None), int64(0)
	for i := range moves {
		switch m := &moves[i]; {
		case m.kind == movePost:
			sender[m.post] = turn
		case m.kind == moveRespond && port != 0 && turn != timeline.None:
			if m.request == turn {
				right[port]++
			} else {
				wrong[port]++
			}
			port = 0
		case m.kind == moveFired && m.port == 0 && m.exec == port: // in the message's callback
		case m.callback():
		default:
			turn, port = timeline.None, 0
			if who, sent := sender[m.post]; sent && m.kind == moveFired && m.post > 0 {
				turn, port = who, m.port
			} else if m.kind == moveRead && !m.several {
				turn = m.request
			}
		}
	}
	disorder := func(wrong, right int) bool { return wrong >= mailDisorder && wrong*mailOrder > right }
	all := disorder(total(wrong), total(right)) // a program's workers are mostly alike
	for i := range moves {
		if by := moves[i].port; by != 0 && (all || disorder(wrong[by], right[by])) {
			moves[i].post = noMail
		}
	}
	return moves
}

func total(counts map[int64]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// count counts what is done by the port.
func (p *mail) count(m *move) {
	switch m.kind {
	case movePost:
		p.sent++
	case moveFired:
		p.came++
	case moveAlong:
		p.taken = true
	}
	p.owed = max(p.owed, p.came-p.sent)
}

// noMail marks what is done by a port of which it is not known which message answers which.
const noMail int32 = -1

// withoutRest leaves that out, and notes what is resolved in the callbacks of the others: the messages tell more.
func withoutRest(moves []move) []move {
	kept, taken := moves[:0], int64(0)
	called, again := false, false // a message's callback runs; a promise was resolved in it, and nothing done since
	for i := range moves {
		m := moves[i]
		switch {
		case m.port != 0 && m.kind != movePost && m.kind != moveAlong:
			called, again = m.kind == moveFired, false
		case m.kind == moveFired:
			m.same, again = again, called
		case m.port == 0:
			called, again = called && m.callback(), false
		}
		switch {
		case m.post == noMail && m.kind == moveFired:
			m = move{at: m.at, kind: moveBoundary, request: timeline.None, call: timeline.None, conn: noConn, counter: m.counter}
		case m.post == noMail:
			continue
		case m.kind == moveFired && m.port != 0:
			taken = m.port
		case m.kind == moveFired && taken != 0 && m.exec == taken:
			m.kind = moveAlong
		case m.kind != moveFired && !m.callback():
			taken = 0
		}
		kept = append(kept, m)
	}
	return kept
}

// inVain are the places where no message was left to be taken: the last of each time that a port had some.
func inVain(all []facts.Boundary) map[int]bool {
	vain, last := map[int]bool{}, map[recording.ThreadID]int{}
	for i, b := range all {
		switch b.What {
		case "messages":
			if before, ok := last[b.Thread]; ok {
				vain[before] = true
			}
			last[b.Thread] = i
		case "message":
			last[b.Thread] = i
		}
	}
	for _, i := range last {
		vain[i] = true
	}
	return vain
}

// eachMail finds for each message that is answered the move that began the turn in which it was sent.
func eachMail(moves []move, found func(sent, came *move)) {
	begin, begun := (*move)(nil), map[int32]*move{}
	for i := range moves {
		m := &moves[i]
		switch {
		case m.kind == movePost:
			if m.post != 0 && begin != nil {
				begun[m.post] = begin
			}
			continue
		case m.post != 0:
			if sent := begun[m.post]; sent != nil {
				found(sent, m)
			}
		}
		if !m.callback() {
			begin = m
		}
	}
}

// posts notes for whom a message is sent, as far as ids tell.
func (w *asyncWalk) posts(m *move) {
	m.by = w.sender(m)
	if m.post != 0 {
		w.posted[m.post] = m.by
	}
}

func (w *asyncWalk) sender(m *move) ref {
	_, read := w.turn.of.request()
	_, handle := w.handles[m.trigger]
	byTrigger := nobody
	if m.trigger != 0 && !handle && !w.fresh(m.trigger) && !w.lasting.has(m.trigger) {
		byTrigger = w.ids.find(m.trigger)
	}
	switch {
	case m.exec == 0:
		return w.turn.of // a promise's, that waited for what began the turn
	case read && w.turn.conn != noConn && m.trigger != 0 && !w.fresh(m.trigger) && w.ownHandle(m):
		return w.turn.of
	case w.reader(m) != nobody:
		return w.reader(m)
	case w.fresh(m.exec) && w.named != nil && byTrigger != nobody:
		return byTrigger
	case w.turn.of != nobody && !w.foreign(m):
		return w.turn.of
	}
	if running := w.runs(m.exec); running != nobody {
		return running
	}
	return byTrigger
}

// answersMail is for whom the loop goes on at a message, as far as ids tell.
func (w *asyncWalk) answersMail(m *move) ref {
	who, sent := w.posted[m.post]
	if !sent || who == nobody {
		return w.stranger()
	}
	if r := w.chains.known(who); r != timeline.None && w.t.Requests[r].End < m.at {
		return w.stranger()
	}
	return who
}

// posts notes for whom a message is sent: for whom ids tell, or whose turn it is.
func (w *inTurns) posts(m *move) {
	who := m.by
	if m.exec == 0 && w.turn.of != nobody {
		who = w.turn.of
	}
	if m.post != 0 && who != nobody {
		w.posted[m.post] = who
	}
}

// answersMail is for whom the loop goes on at a message that answers one.
func (w *inTurns) answersMail(m *move) ref {
	if who, sent := w.posted[m.post]; sent {
		return w.alone(who)
	}
	return w.alone(m.by)
}
