package loopcalls

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// timerPlay records what a loop does whose timers are seen to run. Times are in us.
type timerPlay struct {
	loopPlay
	calls []timeline.CallID // by request: its call that is under way
}

func (p *timerPlay) at(us int) {
	p.moves[len(p.moves)-1].At = recording.Time(us) * 1000
}

// read reads a request, which makes a call.
func (p *timerPlay) read(us int) timeline.RequestID {
	r := p.loopPlay.read()
	p.at(us)
	p.t.Requests[r].FirstRead = recording.Time(us) * 1000
	p.calls = append(p.calls, timeline.None)
	p.send(us+100, r, r)
	p.sleep(us + 200)
	return r
}

func (p *timerPlay) send(us int, r, told timeline.RequestID) {
	p.calls[r] = p.loopPlay.send(told)
	p.at(us)
	p.moves[len(p.moves)-1].Exec = 0
	p.t.Calls[p.calls[r]].SendFrom = recording.Time(us) * 1000
}

func (p *timerPlay) sleep(us int) { p.loopPlay.sleep(); p.at(us) }

func (p *timerPlay) answer(us int, r timeline.RequestID) {
	p.loopPlay.answer(p.calls[r])
	p.at(us)
	p.t.Calls[p.calls[r]].End = recording.Time(us) * 1000
}

func (p *timerPlay) timers(us int) {
	p.move(loops.Move{Kind: loops.MoveBoundary, Request: timeline.None, Call: timeline.None, Trigger: 1})
	p.at(us)
}

// respond answers a request in the turn of its call's answer.
func (p *timerPlay) respond(us int, r timeline.RequestID) {
	p.answer(us, r)
	p.loopPlay.respond(r)
	p.at(us + 50)
	p.t.Requests[r].FirstWrite = recording.Time(us+50) * 1000
	p.sleep(us + 100)
}

func (p *timerPlay) associate() bool {
	p.t.End = 1 << 40
	return associateBesideTimers(&p.t, asyncInput{loop: loops.Loop{Moves: p.moves}, chains: newChains(len(p.t.Calls))})
}

// A client sends in an immediate what was asked for while timers ran. By then another request's call was answered,
// but the call does not belong to that turn.
func TestSentAfterTimersRan(t *testing.T) {
	var p timerPlay
	var want []timeline.RequestID
	for i := range 20 {
		us := i * 100_000
		a, b := p.read(us), p.read(us+4000)
		p.answer(us+6000, a)
		p.sleep(us + 6100)
		p.timers(us + 11_200)
		asked := p.moves[len(p.moves)-1].Counter + 3
		p.answer(us+11_300, b)
		p.send(us+11_400, a, timeline.None)
		p.moves[len(p.moves)-1].Exec = asked
		p.loopPlay.respond(b)
		p.at(us + 11_450)
		p.t.Requests[b].FirstWrite = recording.Time(us+11_450) * 1000
		p.sleep(us + 11_500)
		p.respond(us+20_000, a)
		want = append(want, a, b, a)
	}
	if !p.associate() {
		t.Fatal("nothing found")
	}
	for i, c := range p.t.Calls {
		if c.Request != want[i] {
			t.Errorf("call %d is of request %d, want %d", i, c.Request, want[i])
		}
	}
}

// The calls are not sent by timers.
func TestNoTimersSend(t *testing.T) {
	var p timerPlay
	for i := range 2 * minConfirmed {
		us := i * 100_000
		r := p.read(us)
		p.timers(us + 9000) // of another request
		p.sleep(us + 9100)
		p.respond(us+15_000, r)
	}
	if p.associate() {
		t.Error("timers that send nothing are said to")
	}
}

// In every third turn of an answer another request is responded to, as with a full pool: nothing is believed.
func TestTimersBesideAFullPool(t *testing.T) {
	var p timerPlay
	for i := range 40 {
		us := i * 100_000
		a, b := p.read(us), p.read(us+4000)
		p.timers(us + 5000)
		p.send(us+5100, b, timeline.None)
		p.sleep(us + 5200)
		p.answer(us+6000, a)
		if i%3 == 0 {
			p.loopPlay.respond(b)
			p.at(us + 6050)
		} else {
			p.loopPlay.respond(a)
			p.at(us + 6050)
		}
		p.t.Requests[p.moves[len(p.moves)-1].Request].FirstWrite = recording.Time(us+6050) * 1000
		p.sleep(us + 6100)
	}
	if p.associate() {
		t.Error("turns are believed that responses refute")
	}
}
