package timeline

import (
	"slices"
	"testing"
)

// napPlay writes down what a loop does whose timers are seen to run. Times are in us.
type napPlay struct {
	loopPlay
	calls []CallID // by request: under way
}

func (p *napPlay) at(us int) {
	p.moves[len(p.moves)-1].at = Time(us) * 1000
}

// read reads a request, which makes a call.
func (p *napPlay) read(us int) RequestID {
	r := p.loopPlay.read()
	p.at(us)
	p.t.Requests[r].FirstRead = Time(us) * 1000
	p.calls = append(p.calls, None)
	p.send(us+100, r, r)
	p.sleep(us + 200)
	return r
}

func (p *napPlay) send(us int, r, told RequestID) {
	p.calls[r] = p.loopPlay.send(told)
	p.at(us)
	p.moves[len(p.moves)-1].exec = 0
	p.t.Calls[p.calls[r]].SendFrom = Time(us) * 1000
}

func (p *napPlay) sleep(us int) { p.loopPlay.sleep(); p.at(us) }

func (p *napPlay) answer(us int, r RequestID) {
	p.loopPlay.answer(p.calls[r])
	p.at(us)
	p.t.Calls[p.calls[r]].End = Time(us) * 1000
}

func (p *napPlay) timers(us int) {
	p.move(move{kind: moveBoundary, request: None, call: None, trigger: 1})
	p.at(us)
}

// respond answers a request in the turn of its call's answer.
func (p *napPlay) respond(us int, r RequestID) {
	p.answer(us, r)
	p.loopPlay.respond(r)
	p.at(us + 50)
	p.t.Requests[r].FirstWrite = Time(us+50) * 1000
	p.sleep(us + 100)
}

func (p *napPlay) associate() bool {
	p.t.End = 1 << 40
	return associateNaps(&p.t, asyncInput{loop: loopMoves{moves: p.moves}, chains: newChains(len(p.t.Calls))})
}

// Requests make three calls each, and sleep for 5 ms between them, or for 20. Two sleep at a
// time, and the one that slept last wakes first.
func TestNapsOfTwoLengths(t *testing.T) {
	var p napPlay
	var want []RequestID
	for i := range 20 {
		us := i * 100_000
		a, b := p.read(us), p.read(us+1000)
		p.answer(us+3000, a) // sleeps for 20 ms
		p.sleep(us + 3100)
		p.answer(us+10_000, b) // for 5
		p.sleep(us + 10_100)
		p.timers(us + 15_200)
		p.send(us+15_300, b, None)
		p.sleep(us + 15_400)
		p.answer(us+18_000, b)
		p.sleep(us + 18_100)
		p.timers(us + 23_200) // both
		p.send(us+23_300, a, None)
		p.send(us+23_400, b, None)
		p.sleep(us + 23_500)
		p.respond(us+30_000, b)
		p.respond(us+32_000, a)
		want = append(want, a, b, b, a, b)
	}
	if !p.associate() {
		t.Fatal("nothing found")
	}
	for i, c := range p.t.Calls {
		if c.Request != want[i] && c.Request != None {
			t.Errorf("call %d is of request %d, want %d", i, c.Request, want[i])
		}
	}
	for _, first := range []int{0, 1, 2} { // of the last two in each round it is not clear which waited for which
		if p.t.Calls[first].Request == None {
			t.Errorf("call %d is of no request", first)
		}
	}
}

// Timers of one length run out in the order in which they were set.
func TestNapsOfOneLength(t *testing.T) {
	var p napPlay
	var want []RequestID
	for i := range 20 {
		us := i * 100_000
		a, b := p.read(us), p.read(us+1000)
		p.answer(us+3000, b)
		p.answer(us+3100, a)
		p.sleep(us + 3200)
		p.timers(us + 8300)
		p.send(us+8400, b, None)
		p.send(us+8500, a, None)
		p.sleep(us + 8600)
		p.answer(us+10_000, a)
		p.answer(us+10_100, b)
		p.sleep(us + 10_200)
		p.timers(us + 15_300)
		p.send(us+15_400, a, None)
		p.send(us+15_500, b, None)
		p.sleep(us + 15_600)
		p.respond(us+20_000, b)
		p.respond(us+21_000, a)
		want = append(want, a, b, b, a, a, b)
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

// A client sends in an immediate what was asked for while timers ran. By then another's call
// was answered.
func TestSentAfterTimersRan(t *testing.T) {
	var p napPlay
	var want []RequestID
	for i := range 20 {
		us := i * 100_000
		a, b := p.read(us), p.read(us+4000)
		p.answer(us+6000, a)
		p.sleep(us + 6100)
		p.timers(us + 11_200)
		asked := p.moves[len(p.moves)-1].counter + 3
		p.answer(us+11_300, b)
		p.send(us+11_400, a, None)
		p.moves[len(p.moves)-1].exec = asked
		p.loopPlay.respond(b)
		p.at(us + 11_450)
		p.t.Requests[b].FirstWrite = Time(us+11_450) * 1000
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

// One request makes two calls at once after it slept: a promise's have no ids that tell.
func TestSeveralAfterOneNap(t *testing.T) {
	var p napPlay
	for i := range 20 {
		us := i * 100_000
		r := p.read(us)
		p.answer(us+6000, r)
		p.sleep(us + 6100)
		p.timers(us + 11_200)
		p.send(us+11_300, r, None)
		one := p.calls[r]
		p.send(us+11_400, r, None)
		p.sleep(us + 11_500)
		two := p.calls[r]
		p.calls[r] = one
		p.answer(us+14_000, r)
		p.sleep(us + 14_100)
		p.calls[r] = two
		p.respond(us+16_000, r)
	}
	if !p.associate() {
		t.Fatal("nothing found")
	}
	for i, c := range p.t.Calls {
		if want := RequestID(i / 3); c.Request != want {
			t.Errorf("call %d is of request %d, want %d", i, c.Request, want)
		}
	}
}

// What sends is no timer: no naps are looked for.
func TestNoTimersSend(t *testing.T) {
	var p napPlay
	r := p.read(1000)
	p.answer(3000, r)
	p.sleep(3100)
	p.timers(9000) // of somebody else
	p.sleep(9100)
	p.send(12_000, r, None)
	p.sleep(12_100)
	p.respond(15_000, r)
	if p.associate() {
		t.Error("naps without timers")
	}
}

// A loop that slept for a timer slept for whole milliseconds from the one that its clock
// showed: so which one the timer fell due at is known.
func TestTimerClock(t *testing.T) {
	var got [][2]int64
	for _, c := range []struct {
		slept, woken int
		phase        bool
	}{
		{10_400, 15_450, false}, // 5 ms from 10
		{10_050, 15_100, false}, // its clock may have shown 9
		{10_400, 15_450, true},  // and here, if what timers did took so long
	} {
		k := timerClock{phase: c.phase}
		k.note(&move{kind: moveBlock, at: Time(c.slept) * 1000, ready: Time(c.woken) * 1000, exec: 1})
		k.note(&move{kind: moveBoundary, at: Time(c.woken+50) * 1000, trigger: 1})
		lo, hi := k.due(Time(c.woken+100) * 1000)
		got = append(got, [2]int64{lo, hi})
	}
	if want := [][2]int64{{15, 15}, {14, 15}, {14, 15}}; !slices.Equal(got, want) {
		t.Errorf("due between %v, want %v", got, want)
	}
}

// A wake is shared out among the lengths that it may have by their weights: that of 5 ms alone
// makes 5 weigh more, also for one that may have had any, after a loop was blocked.
func TestWakesAreSharedOutAmongLengths(t *testing.T) {
	all := [][]naplen{{{5, 5}}, {{5, 5}, {20, 21}}, {{1, 1000}}, {{4, longestNap}, {5, 6}}}
	weight := make([]int64, longestNap+1)
	for k := range weight[1:] {
		weight[k+1] = 1
	}
	for range 3 {
		next := make([]int64, len(weight))
		for _, spans := range all {
			var lengths []int64
			total := int64(0)
			for _, s := range spans {
				for k := s.from; k <= s.to; k++ {
					lengths, total = append(lengths, k), total+weight[k]
				}
			}
			for _, k := range lengths {
				next[k] += napShare * weight[k] / total
			}
		}
		got := shareOut(all, weight)
		for k, want := range next {
			if d := got[k] - want; d < -1 || d > int64(2*len(all)) { // each share is rounded down, here the sum
				t.Fatalf("%d ms weighs %d, want %d", k, got[k], want)
			}
		}
		weight = got
	}
	if weight[5] <= weight[4] || weight[5] <= weight[20] {
		t.Errorf("5 ms weighs %d, 4 ms %d, 20 ms %d", weight[5], weight[4], weight[20])
	}
}
