package loopcalls

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// loopPlay records what a loop does: each step takes a tick, and gives out ten async ids.
type loopPlay struct {
	t     timeline.Timeline
	moves []loops.Move
}

func (p *loopPlay) move(m loops.Move) recording.Time {
	m.At, m.Counter = recording.Time(len(p.moves)+1), int64(10*len(p.moves)+10)
	p.moves = append(p.moves, m)
	return m.At
}

func (p *loopPlay) read() timeline.RequestID {
	r := timeline.RequestID(len(p.t.Requests))
	at := p.move(loops.Move{Kind: loops.MoveRead, Request: r, Call: timeline.None})
	p.t.Requests = append(p.t.Requests, timeline.Request{RequestBy: &timeline.RequestBy{}, RequestMore: &timeline.RequestMore{}, ID: r, FirstRead: at, End: 1 << 40})
	return r
}

// send sends a call with an id that was given out since the move before. Ids show that it belongs to a request, or to
// None.
func (p *loopPlay) send(told timeline.RequestID) timeline.CallID {
	c := timeline.CallID(len(p.t.Calls))
	at := p.move(loops.Move{Kind: loops.MoveSend, Request: timeline.None, Call: c, Exec: int64(10*len(p.moves) + 5)})
	why := timeline.WhyNoAsync
	if told != timeline.None {
		why = timeline.WhyAsync
	}
	p.t.Calls = append(p.t.Calls, timeline.Call{ID: c, SendFrom: at, ConnectFrom: recording.NoTime, Request: told, Why: why})
	return c
}

func (p *loopPlay) answer(c timeline.CallID) {
	p.move(loops.Move{Kind: loops.MoveAnswer, Request: timeline.None, Call: c})
}
func (p *loopPlay) sleep() {
	p.move(loops.Move{Kind: loops.MoveBlock, Request: timeline.None, Call: timeline.None})
}
func (p *loopPlay) respond(r timeline.RequestID) {
	p.t.Requests[r].FirstWrite = p.move(loops.Move{Kind: loops.MoveRespond, Request: r, Call: timeline.None})
}

func (p *loopPlay) associate() {
	associateInTurns(&p.t, asyncInput{loop: loops.Loop{Moves: p.moves}, chains: newChains(len(p.t.Calls))})
}

// A request makes three calls. After the second it waits for a timer, and another request is served.
//
//	loop  read 0  call 0 | answer 0  call 1 | answer 1 | read 1  call 2 | answer 2  respond 1  timer: call 3 | answer 3  respond 0
func TestNobodyWaitsThoughTimersRun(t *testing.T) {
	var p loopPlay
	first := p.read()
	calls := []timeline.CallID{p.send(timeline.None)}
	p.sleep()
	p.answer(calls[0])
	calls = append(calls, p.send(timeline.None))
	p.sleep()
	p.answer(calls[1])
	p.sleep()
	second := p.read()
	calls = append(calls, p.send(timeline.None))
	p.sleep()
	p.answer(calls[2])
	p.respond(second)
	calls = append(calls, p.send(timeline.None)) // by the timer, which is not seen to begin
	p.sleep()
	p.answer(calls[3])
	p.respond(first)
	p.associate()
	want := []timeline.RequestID{first, first, second, first} // the last, by its answer
	for i, c := range calls {
		if got := p.t.Calls[c].Request; got != want[i] {
			t.Errorf("call %d is of request %d, want %d", i, got, want[i])
		}
	}
}

// Two requests share one connection. What the second asked for is sent in the turn of the first one's answer. Then
// turns show nothing about the calls of a third request either. If timers also send calls, what ids show is ignored
// for calls that turns contradict.
func TestSomebodyWaits(t *testing.T) {
	for _, timers := range []bool{false, true} {
		var p loopPlay
		first := p.read()
		one := p.send(timeline.None)
		second := p.read()
		p.sleep()
		p.answer(one)
		two := p.send(second) // ids show it
		p.respond(first)
		p.sleep()
		third := p.read()
		three := p.send(timeline.None)
		p.sleep()
		p.answer(three)
		p.respond(third)
		p.sleep()
		if timers {
			p.send(timeline.None)
			p.sleep()
		}
		p.answer(two)
		p.respond(second)
		p.associate()
		want := second
		if timers {
			want = timeline.None
		}
		if got := p.t.Calls[two].Request; got != want || p.t.Calls[one].Request != timeline.None || p.t.Calls[three].Request != timeline.None {
			t.Errorf("timers %v: the call is of request %d, want %d; the others of %d and %d", timers, got, want, p.t.Calls[one].Request, p.t.Calls[three].Request)
		}
	}
}

// Among timers that resolve promises, one calls back instead, and sends: with the timer's id as trigger, in what
// seems to be the turn of the timer before.
func TestACallbackAmongTimersThatFire(t *testing.T) {
	var p loopPlay
	a := p.read()
	calls := []timeline.CallID{p.send(timeline.None)}
	p.sleep()
	b := p.read()
	calls = append(calls, p.send(timeline.None))
	p.sleep()
	p.answer(calls[0])
	p.sleep()
	p.answer(calls[1])
	p.sleep()
	p.move(loops.Move{Kind: loops.MoveFired, Request: timeline.None, Call: timeline.None, By: loops.OfCall(calls[0])})
	calls = append(calls, p.send(timeline.None), p.send(timeline.None))
	p.moves[len(p.moves)-1].Trigger = 5
	p.sleep()
	p.answer(calls[2])
	p.respond(a)
	p.sleep()
	p.answer(calls[3])
	p.respond(b)
	p.associate()
	for i, want := range []timeline.RequestID{a, b, a, b} {
		if got := p.t.Calls[calls[i]].Request; got != want {
			t.Errorf("call %d is of request %d, want %d", i, got, want)
		}
	}
}
