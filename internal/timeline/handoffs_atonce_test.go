package timeline

import (
	"testing"

	"github.com/getdwell/dwell/recording"
)

const us Time = 1000

// A request's strand 0 runs from 0 to 100 us, sleeps until 300, and waits for a result from
// 400 on: it put its tasks in after 300, and as it woke a worker at 360, about then.
func TestTasksArePutInAtOnce(t *testing.T) {
	ran := func(from, to Time) Interval { return Interval{From: from * us, To: to * us, State: StateRunning} }
	h := &handOffs{
		t: &Timeline{
			Strands:  []Strand{{Intervals: []Interval{ran(0, 100), {From: 100 * us, To: 300 * us, State: StateSleeping}, ran(300, 400)}}, {}},
			Requests: []Request{{Strand: 0, FirstRead: 0, End: 1000 * us}},
		},
		f: &facts{}, o: owners{{{0, 1000 * us, 0}}, nil}, serving: make(owners, 2),
		begins: []Time{0}, bursts: []Time{400 * us}, jobs: make([][]job, 2),
	}
	for _, c := range []struct {
		name       string
		woken      []job
		begin, end Time
	}{
		{"nobody was woken", nil, 300, 400},
		{"a worker was woken", []job{{strand: 1, from: 360 * us, by: 0, calls: []CallID{0}}}, 310, 360},
		{"a thread was made", []job{{strand: 1, from: 360 * us, by: 0, made: true, calls: []CallID{0}}}, 300, 400},
	} {
		h.jobs[1] = c.woken
		got := h.putAtOnce(burstOrder{reqs: []RequestID{0}, begins: h.begins, bursts: h.bursts})
		if got.begins[0] != c.begin*us || got.bursts[0] != c.end*us || !got.atOnce {
			t.Errorf("%s: put in from %d to %d us, want %d to %d", c.name, got.begins[0]/us, got.bursts[0]/us, c.begin, c.end)
		}
	}
}

// A worker is woken at 0. It runs for 5 us, too short to have had the interpreter's lock, waits
// for that, runs for 60 us, waits, runs for 100, waits for the network, and sends at 900.
func TestTasksAreTakenInTurn(t *testing.T) {
	ran := func(from, to Time) Interval { return Interval{From: from * us, To: to * us, State: StateRunning} }
	slept := func(from, to Time) Interval { return Interval{From: from * us, To: to * us, State: StateSleeping} }
	for name, c := range map[string]struct {
		second             Cause // of its second sleep
		from, until, again Time  // its turn; where it ran last
	}{
		"the second sleep is for the lock too": {CauseInterpreterLock, 200, 500, 800},
		"the second is for something else":     {CauseLock, 200, 260, 800},
	} {
		h := &handOffs{f: &facts{}, t: &Timeline{
			Calls: []Call{{Strand: 0}},
			Waits: []Wait{{From: 5 * us, To: 200 * us, Cause: CauseInterpreterLock}, {From: 260 * us, To: 400 * us, Cause: c.second}},
			Strands: []Strand{{Waits: []WaitID{0, 1}, Intervals: []Interval{
				ran(0, 5), slept(5, 200), ran(200, 260), slept(260, 400), ran(400, 500), slept(500, 800), ran(800, 1000),
			}}},
		}}
		pool := []task{{call: 0, begun: 0, sent: 900 * us}}
		if got := h.takenFirst(pool)[0]; got.begun != c.from*us || got.sent != c.until*us {
			t.Errorf("%s: its turn is from %d to %d us, want %d to %d", name, got.begun/us, got.sent/us, c.from, c.until)
		}
		if got := h.takenAtOnce(pool)[0]; got.begun != c.again*us || got.sent != 900*us {
			t.Errorf("%s: taken as it ran last: from %d to %d us", name, got.begun/us, got.sent/us)
		}
	}
}

// Forty requests put in a task each, every 1000 us, and it is taken at once. Of every other
// one it shows only in the first or the last run of its worker that it was so: in the other it
// was before that was put in, or after the next was taken. What contradicts the order is not
// believed.
func TestTasksAreTakenAtOnceWhereTheOrderIsKept(t *testing.T) {
	ran := func(from, to Time) Interval { return Interval{From: from, To: to, State: StateRunning} }
	slept := func(from, to Time) Interval { return Interval{From: from, To: to, State: StateSleeping} }
	for _, c := range []struct {
		name                string
		begun, run1, run2   Time // of every other one, since it was put in; its worker runs for 60 us each
		sent                Time
		wantBegun, wantSent Time
	}{
		{"in the run in which it is sent", -5000, -5000, 50, 100, 50, 100},
		{"in the first run", -100, 0, 1400, 1440, 0, 60},
		{"in neither", -5000, -5000, 1400, 1440, -5000, 1440},
	} {
		h := &handOffs{f: &facts{}, t: &Timeline{}}
		var pool []task
		order := burstOrder{}
		for i := range Time(40) {
			put := i * 1000 * us
			x := task{call: CallID(i), begun: put, sent: put + 40*us}
			s := Strand{Intervals: []Interval{slept(put-100*us, put), ran(put, put+60*us)}}
			if i%2 == 0 {
				x.begun, x.sent = put+c.begun*us, put+c.sent*us
				s.Intervals = []Interval{
					slept(put-6000*us, put+c.run1*us), ran(put+c.run1*us, put+(c.run1+60)*us),
					slept(put+(c.run1+60)*us, put+c.run2*us), ran(put+c.run2*us, put+(c.run2+60)*us),
				}
			}
			h.t.Strands, pool = append(h.t.Strands, s), append(pool, x)
			h.t.Calls = append(h.t.Calls, Call{Strand: StrandID(i), Request: RequestID(i), Why: WhyHandOffEnd})
			order.reqs = append(order.reqs, RequestID(i))
			order.begins, order.bursts = append(order.begins, put-10*us), append(order.bursts, put)
		}
		all, _ := h.atOnce(pool, sorted(order), sorted(order))
		if got, put := all[20], 20*1000*us; got.begun-put != c.wantBegun*us || got.sent-put != c.wantSent*us {
			t.Errorf("%s: taken from %d to %d us after it was put in, want %d to %d", c.name, (got.begun-put)/us, (got.sent-put)/us, c.wantBegun, c.wantSent)
		}
	}
}

// The bursts of two requests overlap. A task of request 1 was taken before one of request 0,
// and so all of it was put in before, if nobody else puts in anything during a burst.
func TestTasksOfOneBurstFollowEachOther(t *testing.T) {
	h := &handOffs{t: &Timeline{Calls: []Call{{Request: 1}, {Request: 0}, {Request: None}}}}
	pool := []task{{call: 0, begun: 110, sent: 120}, {call: 1, begun: 130, sent: 140}, {call: 2, begun: 150, sent: 160}}
	order := sorted(burstOrder{reqs: []RequestID{0, 1}, begins: []Time{10, 50}, bursts: []Time{90, 100}})
	if got := h.apart(pool, order); got.bursts[1] != 100 {
		t.Error("bursts are cut although others may put in work meanwhile")
	}
	order.atOnce = true
	if got := h.apart(pool, order); got.bursts[1] > got.begins[0] || order.bursts[1] != 100 {
		t.Errorf("request 1 put in until %d, request 0 since %d", got.bursts[1], got.begins[0])
	}
}

// Only threads that share an interpreter's lock put work in one at a time.
func TestWhoseThreadsTakeTurns(t *testing.T) {
	for rt, want := range map[recording.Runtime]bool{recording.RuntimePython: true, recording.RuntimeRuby: true, recording.RuntimeJVM: false, recording.RuntimeNative: false} {
		h := &handOffs{f: &facts{processes: []Process{{Runtime: rt}}, procIndex: map[recording.ProcessID]int{3: 0}}}
		if got := h.oneAtATime(3); got != want {
			t.Errorf("%v: %v, want %v", rt, got, want)
		}
	}
}
