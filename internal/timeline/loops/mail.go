package loops

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// A program exchanges messages with its worker threads through ports. If a worker sends one message for each that it
// gets, in the same order, the owner of each answer is known: the loop continues for the owner that it worked for
// when it sent the message.

// mail counts the messages of one port.
type mail struct {
	sent, came int
	// the most messages that had come without one being seen sent: those were asked for before the recording
	owed    int
	taken   bool                  // the program also takes messages on its own initiative: how many is not known
	waiting causality.Line[int32] // numbers of sent messages that are not answered yet
}

// How many messages may be owed when a recording begins, or unanswered when it ends: one in mailOpen of those sent,
// or mailOpenAt in any case.
const (
	mailOpen   = 10
	mailOpenAt = 8
)

// paired reports whether the counts fit one message that comes for each that is sent.
func (p *mail) paired() bool {
	few := func(n int) bool { return n <= mailOpenAt || n*mailOpen <= p.sent }
	return p.sent > 0 && p.came > 0 && !p.taken && few(p.owed) && few(p.sent+p.owed-p.came)
}

// mailBy identifies the messages of one port in one window: what is sent and received between windows is not seen.
type mailBy struct {
	port   int64
	window int
}

// eachMailed visits the moves that involve ports, in order, with their port and window.
func eachMailed(moves []Move, windows []timeline.Window, visit func(by mailBy, m *Move)) {
	window := 0
	for i := range moves {
		for window+1 < len(windows) && moves[i].At >= windows[window+1].From {
			window++
		}
		if m := &moves[i]; m.Port != 0 {
			visit(mailBy{m.Port, window}, m)
		}
	}
}

// pairMail numbers messages from 1 and notes in each received one which sent one it answers, if that is known.
// Messages that cannot be paired are left out.
func pairMail(moves []Move, windows []timeline.Window) []Move {
	all := map[mailBy]*mail{}
	eachMailed(moves, windows, func(by mailBy, m *Move) {
		lists.Entry(all, by).count(m)
	})
	number := int32(0)
	eachMailed(moves, windows, func(by mailBy, m *Move) {
		p := all[by]
		switch {
		case !p.paired():
			m.Post = noMail
		case m.Kind == MovePost:
			number++
			m.Post = number
			p.waiting.Join(causality.Waiter[int32]{Owner: number, Since: m.At})
		case m.Kind == MoveFired && p.owed > 0:
			p.owed--
		case m.Kind == MoveFired:
			sent, _ := p.waiting.Grant()
			m.Post = sent.Owner
		}
	})
	return withoutRest(inTheirOrder(moves))
}

// mailDisorder is the least number of responses to another request than the one the loop seems to continue for,
// before a port's messages are taken to answer in another order.
const mailDisorder = 2

// inTheirOrder finds ports whose messages do not answer in the order in which they were asked for, as with a worker
// that waits for something itself, and marks their moves as unpaired. The evidence: a request asked for something
// when it was read, or at an earlier message, but another request is answered in the turn of the message that seems
// to answer it.
func inTheirOrder(moves []Move) []Move {
	said, all := map[int64]*causality.Tally{}, causality.Tally{} // by port, and of all; odd: a response to another request
	sender, turn, port := map[int32]timeline.RequestID{}, timeline.RequestID(timeline.None), int64(0)
	for i := range moves {
		switch m := &moves[i]; {
		case m.Kind == MovePost:
			sender[m.Post] = turn
		case m.Kind == MoveRespond && port != 0 && turn != timeline.None:
			lists.Entry(said, port).Add(m.Request != turn)
			all.Add(m.Request != turn)
			port = 0
		case m.Kind == MoveFired && m.Port == 0 && m.Exec == port: // in the message's callback
		case m.Callback():
		default:
			turn, port = timeline.None, 0
			if who, sent := sender[m.Post]; sent && m.Kind == MoveFired && m.Post > 0 {
				turn, port = who, m.Port
			} else if m.Kind == MoveRead && !m.Several {
				turn = m.Request
			}
		}
	}
	disorder := func(n causality.Tally) bool { return n.Odd >= mailDisorder && !n.Holds(0, causality.Surely) }
	for i := range moves {
		if by := moves[i].Port; by != 0 && (disorder(all) || disorder(*lists.Entry(said, by))) { // a program's workers are mostly alike
			moves[i].Post = noMail
		}
	}
	return moves
}

// count counts a move that involves the port.
func (p *mail) count(m *Move) {
	switch m.Kind {
	case MovePost:
		p.sent++
	case MoveFired:
		p.came++
	case MoveAlong:
		p.taken = true
	}
	p.owed = max(p.owed, p.came-p.sent)
}

// noMail marks the moves of a port whose messages cannot be paired.
const noMail int32 = -1

// withoutRest drops those moves. It also marks what is resolved in the callbacks of the other messages: the messages
// tell more than the promises.
func withoutRest(moves []Move) []Move {
	kept, taken := moves[:0], int64(0)
	called, again := false, false // a message's callback runs; a promise was resolved in it and nothing was done since
	for i := range moves {
		m := moves[i]
		switch {
		case m.Port != 0 && m.Kind != MovePost && m.Kind != MoveAlong:
			called, again = m.Kind == MoveFired, false
		case m.Kind == MoveFired:
			m.Same, again = again, called
		case m.Port == 0:
			called, again = called && m.Callback(), false
		}
		switch {
		case m.Post == noMail && m.Kind == MoveFired:
			m = Move{At: m.At, Kind: MoveBoundary, Request: timeline.None, Call: timeline.None, Conn: NoConn, Counter: m.Counter}
		case m.Post == noMail:
			continue
		case m.Kind == MoveFired && m.Port != 0:
			taken = m.Port
		case m.Kind == MoveFired && taken != 0 && m.Exec == taken:
			m.Kind = MoveAlong
		case m.Kind != MoveFired && !m.Callback():
			taken = 0
		}
		kept = append(kept, m)
	}
	return kept
}

// InVain returns the indexes of boundaries at which no message was left to be taken: the last one each time that a
// port had some.
func InVain(all []facts.Boundary) map[int]bool {
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

// EachMail finds, for each message that is answered, the move that began the turn in which it was sent.
func EachMail(moves []Move, found func(sent, came *Move)) {
	begin, begun := (*Move)(nil), map[int32]*Move{}
	for i := range moves {
		m := &moves[i]
		switch {
		case m.Kind == MovePost:
			if m.Post != 0 && begin != nil {
				begun[m.Post] = begin
			}
			continue
		case m.Post != 0:
			if sent := begun[m.Post]; sent != nil {
				found(sent, m)
			}
		}
		if !m.Callback() {
			begin = m
		}
	}
}
