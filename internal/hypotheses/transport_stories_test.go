package hypotheses

import (
	"fmt"
	"testing"

	"github.com/getdwell/dwell/recording"
)

// transportStories are services whose messages wait: in sockets, in line behind others on a connection, for processes
// to begin, or for helpers.
func transportStories() []story {
	python := func(each func(t *thread, i int)) func() *recording.Recording {
		return func() *recording.Recording { return done(serve(newScenario(recording.RuntimePython), each), 30) }
	}
	lostIO := func() *recording.Recording {
		s := healthy()
		s.add(251_000*us, &recording.Loss{Hook: recording.HookIO, CPU: 1, Count: 12, From: 250_000 * us})
		return done(s, 30)
	}
	return []story{
		{"delayed-ack/call-supported", "The end of each call's request leaves 40 ms after it was written; the answer comes 600 us later.",
			python(func(t *thread, _ int) { t.keptLate(40_000*us, 600*us, 0) })},
		{"send-window/supported", "The peer has room for the end of each call's request 30 ms after it was written.",
			python(func(t *thread, _ int) { t.keptLate(30_000*us, 600*us, 1) })},
		{"send-window/refuted", "Requests of calls leave at once.", python(func(t *thread, _ int) { keptCall(t, 600*us) })},
		{"send-window/undecided", "Facts of reads and writes were lost while a request ran.", lostIO},
		{"retransmit/supported", "24 requests come at once, each needs its first connection; of every fourth the first segment is dropped and sent again after a second.",
			func() *recording.Recording {
				return done(without(burst(func(t *thread) { t.dropped(t.id%4 == 0) }), allHooks+" retransmits"), 30)
			}},
		{"retransmit/refused-supported", "This host drops the request of every call on its way out; the kernel tries again after 200 ms.",
			func() *recording.Recording {
				return done(without(serve(newScenario(recording.RuntimePython), func(t *thread, _ int) { t.keptLate(200_000*us, 600*us, 2) }), allHooks+" retransmits"), 30)
			}},
		{"retransmit/refuted", "Every request opens a connection; none of their segments is sent again.",
			func() *recording.Recording {
				return done(without(serve(newScenario(recording.RuntimePython), func(t *thread, _ int) { t.dropped(false) }), allHooks+" retransmits"), 30)
			}},
		{"retransmit/open-refuted", "Requests ask on a connection that was open before the recording; the kernel has measured 300 us to the peer and back.",
			func() *recording.Recording {
				return done(without(serve(newScenario(recording.RuntimePython), func(t *thread, _ int) {
					if t.kept == nil {
						t.kept = t.inherit(300 * us)
					}
					keptCall(t, 600*us)
				}), allHooks+" retransmits"), 30)
			}},
		{"retransmit/undecided", "The recording is of an older dwell, which did not see what is sent again.",
			python(func(t *thread, _ int) { keptCall(t, 600*us) })},
		{"head-of-line/supported", "Work of no request waits for jobs at Redis, 20 ms each time, on the connection that requests ask on: the peer answers that first.",
			python(func(t *thread, _ int) { t.behind("BRPOP", 20_000*us) })},
		{"head-of-line/busy-supported", "Work of no request asks Redis for KEYS, 20 ms each time, on the connection that requests ask on: those would wait on any other, too.",
			python(func(t *thread, _ int) { t.behind("KEYS", 20_000*us) })},
		{"head-of-line/refuted", "Requests ask on a connection that nobody else uses.", python(func(t *thread, _ int) { t.behind("", 0) })},
		{"head-of-line/undecided", "Facts of reads and writes were lost while a request ran.", lostIO},
		{"slow-peer/rush-supported", "What the database says is kept for 150 ms; whoever comes after that, and until the new answer is there 20 ms later, asks for it.",
			func() *recording.Recording { return done(rushing(), 30) }},
		{"slow-peer/few-lead", "7 requests in 10 s, 1.9 s each: the database needs 1.5 s of that, and they compute for the rest.",
			func() *recording.Recording { return done(fewRequests(), 30) }},
		{"connection-churn/refused-refuted", "Every request tries one address of the database, which refuses it, and then asks at another, on a connection that is kept.",
			python(func(t *thread, _ int) { t.turnedAway(60 * us); keptCall(t, 600*us) })},
		{"sleep-retry/refused-supported", "Every request tries one address of the database, which refuses it, pauses for 10 ms, and then asks at another.",
			python(func(t *thread, _ int) {
				t.turnedAway(60 * us)
				t.sleep(t.at+10_000*us, 10*us, "clock_nanosleep")
				keptCall(t, 600*us)
			})},
		{"slow-dns/alone-supported", "Every request looks a name up, 12 ms, and connects to nothing.",
			python(func(t *thread, _ int) { t.lookup(12_000 * us) })},
		{"child-process/helper-supported", "Every request starts a program and waits for a helper thread, which waits 100 ms for what that writes.",
			func() *recording.Recording { return done(helperScenario(), 30) }},
		{"cold-start/recycled-supported", "A worker ends after 6 requests, and the next computes for 300 ms before it accepts: requests wait for it in the listening socket.",
			func() *recording.Recording { return done(recycledScenario(0), 30) }},
		{"cold-start/listener-gone-supported", "The same; connections that come while no worker is there are first taken for those of one that listened, and is gone: who reads them serves them.",
			func() *recording.Recording { return done(recycledScenario(9), 30) }},
	}
}

// keptLate makes a call on the kept connection; the end of its request leaves late.
func (t *thread) keptLate(late, remote recording.Time, window int64) {
	if t.kept == nil {
		t.kept = t.dial(200 * us)
	}
	written := t.at + 20*us
	t.call(t.kept, late+remote, "/items/{}")
	t.add(written+late+remote, &recording.Late{Conn: t.kept.id, Offset: t.kept.bytes[recording.Write], Left: written + late, Window: window})
}

// turnedAway tries to connect to an address at which nothing listens.
func (t *thread) turnedAway(rtt recording.Time) {
	t.conns++
	t.port++
	t.add(t.at, &recording.Conn{ID: t.conns, Side: recording.Outbound, Process: 1, Thread: t.id, Local: fmt.Sprintf("10.0.0.1:%d", t.port), Peer: "10.0.0.3:443"})
	t.sleep(t.at+rtt, 5*us, "connect")
	t.add(t.at-5*us, &recording.Closed{Conn: t.conns, By: recording.ClosedRefused})
}

// dropped makes a call on a connection of its own. If its first segment is lost, that is sent again after a second.
func (t *thread) dropped(lost bool) {
	began, way := t.at, 200*us
	if lost {
		way += 1_000_000 * us
	}
	o := t.dial(way)
	if lost {
		t.add(began+1_000_000*us, &recording.Retransmit{Conn: o.id})
	}
	t.call(o, 600*us, "/items/{}")
	t.hangUp(o, recording.ClosedByUs)
}

// behind sends Redis a command on a connection. Just before the request came, work of no request had sent another
// command on it ("": none), which takes so long from now on.
func (t *thread) behind(ahead string, takes recording.Time) {
	o := t.kept
	if o == nil {
		o, ahead, takes = t.dial(200*us), "", 0
		t.kept = o
		t.add(t.at, &recording.ConnProtocol{Conn: o.id, Protocol: recording.ProtocolRedis})
	}
	command := func(at recording.Time, operation string) {
		off := o.bytes[recording.Write]
		o.bytes[recording.Write] += 20
		t.add(at, &recording.Chunk{Conn: o.id, Thread: t.id, Dir: recording.Write, Offset: off, Bytes: 20, First: at})
		t.add(at, &recording.Command{Conn: o.id, Offset: off, Length: 20, Operation: operation})
	}
	reply := func(arrives recording.Time) {
		t.sleep(arrives, 10*us, "recvfrom")
		t.compute(10 * us)
		at := t.chunk(o.id, &o.bytes, recording.Read, 10, arrives)
		t.add(t.at, &recording.Reply{Conn: o.id, Offset: at, Length: 10})
	}
	if ahead != "" {
		command(t.at-2000*us, ahead)
	}
	t.compute(20 * us)
	command(t.at, "GET")
	asked := t.at
	if ahead != "" {
		reply(asked + takes)
	}
	reply(asked + takes + 200*us)
}

// helperScenario is a service whose requests start a program and wait for a helper thread that reads the program's
// output.
func helperScenario() *scenario {
	s := newScenario(recording.RuntimeRuby)
	const helper = 50
	s.add(us, &recording.Thread{ID: helper, TID: 150, Process: 1, Name: "reader"})
	s.add(us, &recording.ThreadState{Thread: helper, State: recording.OffSleep, Syscall: "futex"})
	h := &thread{scenario: s, id: helper, at: us}
	t := s.worker(1, 1000*us)
	for i := range requestsPlayed {
		t.request(recording.Time(i+1)*200_000*us, 10*us, "/pages/{}")
		t.compute(300 * us)
		p := recording.ProcessID(2 + i)
		child := recording.ThreadID(100 + i)
		s.add(t.at, &recording.Process{ID: p, PID: 200 + int64(i), Comm: "convert", Exe: "convert", Start: int64(t.at), Parent: 1})
		s.add(t.at, &recording.Thread{ID: child, TID: 200 + int64(i), Process: p, Start: int64(t.at), Creator: 1, Name: "convert"})
		t.compute(50 * us)
		h.sleep(t.at, 10*us, "futex")
		h.wokenBy(t.id)
		wrote := t.at + 100_000*us
		h.sleep(wrote, 10*us, "poll")
		h.wokenBy(child)
		h.compute(20 * us)
		t.sleep(h.at, 10*us, "futex")
		t.wokenBy(helper)
		s.add(wrote+us, &recording.ThreadExit{Thread: child})
		s.add(wrote+us, &recording.ProcessExit{Process: p})
		t.respond()
	}
	return s
}

// wokenBy sets the thread that ended the sleep that is over.
func (t *thread) wokenBy(by recording.ThreadID) {
	off := t.events[len(t.events)-1].Fact.(*recording.Off)
	off.WakerKind, off.Waker, off.Release, off.Arg = recording.WakerThread, by, 1, 0x100*int64(t.id)
}

// recycledScenario is a service with one worker process at a time, each of which ends after six requests; requests come
// 40 ms apart. Connections that come before a worker is there are declared to belong to another process, if there is
// one that listened.
func recycledScenario(listened recording.ProcessID) *scenario {
	s := newScenario(recording.RuntimePython)
	const each, apart, start = 6, 40_000 * us, 300_000 * us
	begun := us
	if listened != recording.NoProcess {
		s.add(us, &recording.Process{ID: listened, PID: 299}) // nothing else is known of it
	}
	for w := range 4 {
		p, id := recording.ProcessID(10+w), recording.ThreadID(10+w)
		s.add(begun, &recording.Process{ID: p, PID: 300 + int64(w), Comm: "worker", Exe: "python3", Runtime: recording.RuntimePython, Start: int64(begun), Parent: 1})
		s.add(begun, &recording.Thread{ID: id, TID: 300 + int64(w), Process: p, Start: int64(begun), Name: "worker"})
		t := &thread{scenario: s, id: id, at: begun}
		t.compute(start)
		for k := range each {
			arrives := recording.Time(w*each+k+1) * apart
			of := p
			if listened != recording.NoProcess && arrives < t.at {
				of = listened
			}
			t.acceptFor(of, arrives)
			t.request(arrives, 10*us, "/x")
			t.compute(2000 * us)
			t.respond()
			t.add(t.at, &recording.Closed{Conn: t.in, By: recording.ClosedByUs, Thread: t.id})
		}
		s.add(t.at+100*us, &recording.ThreadExit{Thread: id})
		s.add(t.at+100*us, &recording.ProcessExit{Process: p})
		begun = t.at + 200*us
	}
	return s
}

// acceptFor accepts a connection, on which a request comes at a time, for a process.
func (t *thread) acceptFor(p recording.ProcessID, arrives recording.Time) {
	t.accept(max(arrives, t.at))
	t.events[len(t.events)-1].Fact.(*recording.Conn).Process = p
}

// fewRequests plays 7 long requests, on two threads.
func fewRequests() *scenario {
	s := newScenario(recording.RuntimePython)
	on := []*thread{s.worker(1, 1000*us), s.worker(2, 1000*us)}
	for i := range 7 {
		t := on[i%2]
		t.request(recording.Time(50+1400*i)*1000*us, 10*us, "/reports/{}")
		keptCall(t, recording.Time(1500+i)*1000*us)
		t.compute(400_000 * us)
		t.respond()
	}
	return s
}

// Few requests decide nothing, but what they show is reported.
func TestFewRequestsHaveLeads(t *testing.T) {
	d := diagnosed(t, fewRequests())
	leads := map[string]bool{}
	for _, f := range d.Leads {
		leads[f.ID] = true
	}
	if len(d.Findings)+len(d.Minor)+len(d.Refuted) > 0 || !leads["slow-peer"] || !leads["cpu-bound"] {
		t.Errorf("leads %v, %d findings, %d minor, %d ruled out", leads, len(d.Findings), len(d.Minor), len(d.Refuted))
	}
	for _, o := range d.Undecided {
		if o.Missing == "" {
			t.Errorf("%s is undecided, and it is not said why", o.ID)
		}
	}
}

// rushing plays requests that fill a cache; all that miss it do so.
func rushing() *scenario {
	s := newScenario(recording.RuntimePython)
	pool := crew(s, 8, "exec")
	filled, expires := recording.Time(0), recording.Time(0)
	for i := range 200 {
		at := 100_000*us + recording.Time(i)*4000*us
		t := pool.free(at)
		t.request(at, 10*us, "/prices/{}")
		t.compute(100 * us)
		switch {
		case t.at >= expires:
			keptCall(t, 20_000*us)
			filled, expires = t.at, t.at+150_000*us
		case t.at < filled:
			keptCall(t, 20_000*us)
		}
		t.respond()
	}
	return s
}
