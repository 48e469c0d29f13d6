package hypotheses

import (
	"strconv"
	"strings"

	"github.com/getdwell/dwell/recording"
)

// waitStories are services that make many calls, or sleep, fault or wait for a disk.
func waitStories() []story {
	python := func(each func(t *thread, i int)) func() *recording.Recording {
		return func() *recording.Recording { return done(serve(newScenario(recording.RuntimePython), each), 30) }
	}
	lost := func(hook string) func() *recording.Recording {
		return func() *recording.Recording {
			s := healthy()
			s.add(251_000*us, &recording.Loss{Hook: hook, CPU: 1, Count: 12, From: 250_000 * us})
			return done(s, 30)
		}
	}
	return []story{
		{"n-plus-one/supported", "A request reads one item after the other, from 2 to 8 of them, 2 ms each.",
			python(func(t *thread, i int) {
				for range 2 + i%7 {
					keptCall(t, 2000*us)
				}
			})},
		{"n-plus-one/retries-refuted", "Every other request asks again until it is answered, at the third time: that is one call, tried three times.",
			python(func(t *thread, i int) {
				for range 3 * (i % 2) {
					t.answered(503, 2000*us)
				}
				t.answered(200, 2000*us)
			})},
		{"n-plus-one/tried-supported", "A request reads three items, each of which it asks for once more, as the first answer is an error: three calls, and the time of the tries stays.",
			python(func(t *thread, _ int) {
				for range 3 {
					t.answered(503, 1000*us)
					t.answered(200, 2000*us)
				}
			})},
		{"n-plus-one/polled-refuted", "A request asks four times whether its report is ready, 2 ms each, with a pause of 20 ms between: no list is read.",
			python(func(t *thread, _ int) {
				for i := range 4 {
					if i > 0 {
						t.sleep(t.at+20_000*us, 50*us, "clock_nanosleep")
					}
					t.answered(200, 2000*us)
				}
			})},
		{"n-plus-one/refuted", "A request reads one item.", python(func(t *thread, _ int) { keptCall(t, 2000*us) })},
		{"n-plus-one/sealed-undecided", "Every request makes four calls inside TLS: they may be four different ones, and their number never changes.", inTLS(4, "")},
		{"n-plus-one/sealed-many-lead", "Every request makes twelve calls inside TLS.", inTLS(12, "")},
		{"n-plus-one/sealed-unlike-undecided", "Six calls inside TLS, each made in a function of its own.", inTLS(6, "shop/app.py:item#")},
		{"n-plus-one/sealed-loop-supported", "Six calls inside TLS, all made in the same line of code.", inTLS(6, "shop/app.py:items")},
		{"n-plus-one/undecided", "Facts of reads and writes were lost while a request ran.", lost(recording.HookIO)},
		{"serial-calls/supported", "A request asks for the stock and for the price, 3 ms each; every third time in the other order.",
			python(func(t *thread, i int) {
				first, second := "/stock", "/price"
				if i%3 == 2 {
					first, second = second, first
				}
				t.ask(first, 3000*us)
				t.ask(second, 3000*us)
			})},
		{"serial-calls/refuted", "A request makes one call.", python(func(t *thread, _ int) { keptCall(t, 2000*us) })},
		{"connection-churn/cheap-supported", "Every request opens a connection to a host nearby, in 90 us, and asks for 900 us: a round trip that costs little here, and more on a real network.",
			func() *recording.Recording {
				return done(serve(newScenario(recording.RuntimePython), func(t *thread, _ int) {
					o := t.dial(90 * us)
					t.call(o, 900*us, "/items/{}")
					t.hangUp(o, recording.ClosedByUs)
				}), 30)
			}},
		{"serial-calls/undecided", "Calls were not recorded.",
			func() *recording.Recording {
				return done(without(healthy(), "arrivals dns host io processes sched tls"), 30)
			}},
		{"serial-calls/four-lead", "A request asks for four things, 3 ms each, always in the same order, and does next to nothing itself.",
			python(func(t *thread, _ int) {
				for _, of := range []string{"/user", "/orders", "/stock", "/price"} {
					t.ask(of, 3000*us)
				}
			})},
		{"serial-calls/in-order-lead", "A request asks for a user and then for its orders, always in this order.",
			python(func(t *thread, _ int) {
				t.ask("/user", 3000*us)
				t.ask("/orders", 3000*us)
			})},
		{"serial-calls/tried-supported", "A pool asks before each use whether the connection still works, which takes 900 us, before the request asks for 3 ms.",
			python(func(t *thread, _ int) {
				t.command("PING", 900*us)
				t.command("GET", 3000*us)
			})},
		{"serial-calls/ping-refuted", "A request only asks whether the database is there, as a health check does.",
			python(func(t *thread, _ int) { t.command("PING", 900*us) })},
		{"delayed-ack/supported", "The body of each answer leaves 40 ms after it was written, once the client has acknowledged the head.",
			python(keptBack(40_000 * us))},
		{"delayed-ack/small-supported", "The body of each answer leaves 300 us after it was written: the client acknowledges at once.",
			python(keptBack(300 * us))},
		{"delayed-ack/undecided", "The recording is of an older dwell, which did not see when the end of an answer left.",
			func() *recording.Recording {
				return done(without(serve(newScenario(recording.RuntimePython), func(*thread, int) {}), "arrivals async dns host io processes sched sockets tls"), 30)
			}},
		{"disk/supported", "Every fifth request waits 30 ms for its log to be on disk.",
			python(func(t *thread, i int) {
				if i%5 == 4 {
					t.sleep(t.at+30_000*us, 10*us, "fsync")
				}
			})},
		{"disk/small-lead", "Every fifth request syncs a file in 200 us.",
			python(func(t *thread, i int) {
				if i%5 == 4 {
					t.sleep(t.at+200*us, 10*us, "fsync")
				}
			})},
		{"disk/undecided", "Scheduling was not recorded.",
			func() *recording.Recording { return done(without(healthy(), "arrivals dns host io sockets tls"), 30) }},
		{"page-fault/supported", "Every request touches pages of a mapped file that are not in memory: 4 ms asleep outside of any system call.",
			python(func(t *thread, _ int) { t.sleep(t.at+4000*us, 10*us, "") })},
		{"page-fault/refuted", "No request sleeps outside of a system call.", python(func(t *thread, _ int) { keptCall(t, 600*us) })},
		{"page-fault/undecided", "Scheduling was not recorded.",
			func() *recording.Recording { return done(without(healthy(), "arrivals dns host io sockets tls"), 30) }},
		{"sleep-retry/supported", "The database answers with status 503 first; the client pauses 10 ms and asks again.",
			python(func(t *thread, _ int) {
				t.answered(503, 600*us)
				t.sleep(t.at+10_000*us, 10*us, "clock_nanosleep")
				keptCall(t, 600*us)
			})},
		{"sleep-retry/polling-supported", "A request looks every 5 ms whether a job is done, three times.",
			python(func(t *thread, _ int) {
				for range 3 {
					t.sleep(t.at+5000*us, 10*us, "clock_nanosleep")
					t.compute(50 * us)
				}
			})},
		{"sleep-retry/refuted", "No request sleeps but for its peer.", python(func(t *thread, _ int) { keptCall(t, 600*us) })},
		{"sleep-retry/undecided", "A request waits 6 ms in a system call of which it is not known what ends it.",
			python(func(t *thread, _ int) { t.sleep(t.at+6000*us, 10*us, "io_getevents") })},
	}
}

// ask makes a call to a path on the kept connection.
func (t *thread) ask(path string, remote recording.Time) {
	if t.kept == nil {
		t.kept = t.dial(200 * us)
	}
	t.call(t.kept, remote, path)
}

// answered makes a call that is answered with a status.
func (t *thread) answered(status int64, remote recording.Time) {
	keptCall(t, remote)
	for i := len(t.events) - 1; ; i-- {
		if r, ok := t.events[i].Fact.(*recording.HTTPResponse); ok {
			r.Status = status
			return
		}
	}
}

// keptBack makes the socket keep the end of each answer for a while. That is known when the next request arrives.
func keptBack(d recording.Time) func(t *thread, i int) {
	var wrote recording.Time
	return func(t *thread, i int) {
		if i > 0 {
			t.add(recording.Time(i+1)*50_000*us, &recording.Late{Conn: t.in, Offset: t.bytes[recording.Write], Left: wrote + d})
		}
		wrote = t.at + 20*us // what respond takes
	}
}

// inTLS is a service whose requests make calls inside TLS in some code; # in its path stands for the number of the
// call.
func inTLS(calls int, path string) func() *recording.Recording {
	return func() *recording.Recording {
		s := newScenario(recording.RuntimePython)
		s.hooks = stackHooks
		return done(serve(s, func(t *thread, _ int) {
			if t.kept == nil {
				t.kept = t.dial(200 * us)
				t.handshake(t.kept, 300*us, 900*us)
			}
			for n := range calls {
				t.sealedIn(t.kept, 2000*us, strings.ReplaceAll(path, "#", strconv.Itoa(n)))
			}
		}), 30)
	}
}
