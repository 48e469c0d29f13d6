package hypotheses

import (
	"strings"
	"testing"

	"github.com/getdwell/dwell/recording"
)

// scanStories are services that look for things.
func scanStories() []story {
	python := func(hooks string, n int, each func(t *thread, i int)) func() *recording.Recording {
		return func() *recording.Recording {
			return done(without(called(newScenario(recording.RuntimePython), n, each), hooks), 30)
		}
	}
	walking := func(of func(i int) recording.Time) func() *recording.Recording {
		return func() *recording.Recording {
			return done(without(called(newScenario(recording.RuntimeJVM), 80, func(t *thread, i int) {
				t.computeIn(of(i), "java.util.HashMap$HashIterator.nextNode < java.util.HashMap$ValueIterator.next < shop.Orders.totalOf < shop.Api.total")
				t.computeIn(of(i)/4, "shop.Orders.totalOf < shop.Api.total")
				keptCall(t, 600*us)
			}), stackHooks), 30)
		}
	}
	return []story{
		{"cpu-bound/parsing-lead", "Every request has a library parse its templates again: 1.6 ms of 1.9.",
			python(stackHooks, 80, func(t *thread, _ int) {
				t.computeIn(1600*us, "/srv/site-packages/pages/lexer.py:tokens < /srv/site-packages/pages/env.py:parse < /srv/site-packages/pages/env.py:render < /srv/app.py:page")
				t.computeIn(200*us, "/srv/app.py:page")
			})},
		{"linear-scan/supported", "Orders are looked for one by one, and each request adds some: 2 ms at first, 50 us more with every call.",
			python(stackHooks, 80, func(t *thread, i int) {
				t.computeIn(1000*us, "/srv/app.py:handle")
				t.computeIn(2000*us+recording.Time(i)*50*us, "/srv/orders.py:find < /srv/app.py:handle")
			})},
		{"linear-scan/walk-supported", "Every request walks through the orders of a shop; shops have from 1 to 8 ms worth of them.",
			walking(func(i int) recording.Time { return recording.Time(1+i*5%8) * 1000 * us })},
		{"linear-scan/refuted", "Every request computes a hash for 9 ms.",
			python(stackHooks, 80, func(t *thread, _ int) { t.computeIn(9000*us, "/srv/app.py:hash < /srv/app.py:handle") })},
		{"linear-scan/noise-refuted", "A request computes for 3 to 5 ms, as it happens.",
			python(stackHooks, 80, func(t *thread, i int) { t.computeIn(3000*us+recording.Time(i*7919%2000)*us, "/srv/app.py:handle") })},
		{"linear-scan/step-undecided", "From the middle on something else runs on the machine, and everything takes twice as long.",
			python(stackHooks, 80, func(t *thread, i int) {
				t.computeIn(recording.Time(3000+i/40*3000+i*i*7919%501)*us, "/srv/app.py:handle")
			})},
		{"linear-scan/walk-lead", "Every request walks through all orders in 3 ms, and no order is added.",
			walking(func(int) recording.Time { return 3000 * us })},
		{"linear-scan/unlocated-lead", "A request computes for 300 us at first and for 540 at the end, and nothing shows where: its code, or slower processors.",
			python(stackHooks, 80, func(t *thread, i int) { t.compute(200*us + recording.Time(i)*3*us) })},
		{"linear-scan/leg-supported", "A request computes for 2 to 2.5 ms, as it happens, asks a peer, and looks for something: 300 us at first, 8 us more with every call.",
			python(stackHooks, 80, func(t *thread, i int) {
				t.computeIn(recording.Time(2000+i*7919%500)*us, "/srv/app.py:price < /srv/app.py:handle")
				keptCall(t, 600*us)
				t.computeIn(recording.Time(300+i*8)*us, "/srv/orders.py:find < /srv/app.py:handle")
			})},
		{"linear-scan/collected-supported", "What is looked through is moved next to each other whenever garbage is collected, each 40 calls: looking for something takes 12 us more with every call, and 300 us again afterwards.",
			func() *recording.Recording {
				return done(without(called(newScenario(recording.RuntimeJVM), 120, func(t *thread, i int) {
					if i%40 == 0 {
						t.stopped(t.at + 3000*us)
					}
					t.computeIn(recording.Time(2000+i*7919%500)*us, "shop.Orders.price < shop.Api.handle")
					keptCall(t, 600*us)
					t.computeIn(recording.Time(300+i%40*12)*us, "shop.Orders.find < shop.Api.handle")
				}), stackHooks), 30)
			}},
		{"linear-scan/slower-refuted", "Processors become slower: what is computed before a peer is asked takes a fifth longer at the end, what is computed after it a third.",
			python(stackHooks, 80, func(t *thread, i int) {
				t.computeIn(recording.Time((2000+i*7919%200)*(400+i)/400)*us, "/srv/app.py:price < /srv/app.py:handle")
				keptCall(t, 600*us)
				t.computeIn(recording.Time(400+i*2)*us, "/srv/app.py:render < /srv/app.py:handle")
			})},
		{"linear-scan/moved-refuted", "A peer answers sooner from call to call, and what is computed meanwhile is computed after it.",
			python(stackHooks, 80, func(t *thread, i int) {
				t.computeIn(recording.Time(1300-i*5)*us, "/srv/app.py:price < /srv/app.py:handle")
				keptCall(t, 600*us)
				t.computeIn(recording.Time(900+i*5)*us, "/srv/app.py:price < /srv/app.py:handle")
			})},
		{"linear-scan/scatter-undecided", "A request computes for 2 to 3.5 ms, as it happens, and perhaps 12 us more with every call: too few to tell.",
			python(stackHooks, 80, func(t *thread, i int) {
				t.computeIn(2000*us+recording.Time(i*7919%1500+12*i)*us, "/srv/app.py:handle")
			})},
		{"linear-scan/few-undecided", "30 calls, 9 ms each: too few to see whether that grows.",
			python(stackHooks, 30, func(t *thread, _ int) { t.computeIn(9000*us, "/srv/app.py:handle") })},
		{"linear-scan/stackless-undecided", "80 calls, 9 ms each, and no stacks: whether they walk through something cannot be seen.",
			python(allHooks, 80, func(t *thread, _ int) { t.compute(9000 * us) })},
	}
}

// called plays n requests, 50 ms apart, on one thread.
func called(s *scenario, n int, each func(t *thread, i int)) *scenario {
	t := s.worker(1, 1000*us)
	for i := range n {
		t.request(recording.Time(i+1)*50_000*us, 10*us, "/orders/{}")
		t.compute(100 * us)
		each(t, i)
		t.respond()
	}
	return s
}

// A walk that is no news: it goes through everything that is answered, and that is little.
func TestShortWalksAreNoScan(t *testing.T) {
	s := called(newScenario(recording.RuntimeJVM), 80, func(t *thread, i int) {
		for range 10 {
			t.computeIn(600*us, "java.util.HashMap$HashIterator.<init> < shop.Orders.totalOf < shop.Api.total")
			t.computeIn(600*us, "java.util.HashMap$HashIterator.nextNode < shop.Orders.totalOf < shop.Api.total")
		}
	})
	s.hooks = stackHooks
	for _, f := range diagnosed(t, s).Findings {
		if f.ID == "linear-scan" {
			t.Errorf("%s", f.Title)
		}
	}
}

// Of two endpoints the rarer one computes most: 20 ms a call, in which stacks show no walk. The computing of the other
// one, about which nothing is known, decides nothing.
func TestTheEndpointThatComputesMostDecides(t *testing.T) {
	s := newScenario(recording.RuntimePython)
	w := s.worker(1, 1000*us)
	for i := range 170 {
		at := recording.Time(i+1) * 50_000 * us
		if i%17 < 7 {
			w.request(at, 10*us, "/reports/{}")
			w.computeIn(20_000*us, "/srv/app.py:hash < /srv/app.py:report")
		} else {
			w.request(at, 10*us, "/prices/{}")
			w.compute(9000 * us)
		}
		w.respond()
	}
	s.hooks = stackHooks
	for _, o := range diagnosed(t, s).Undecided {
		if o.ID == "linear-scan" {
			t.Error(o.Missing)
		}
	}
}

// No endpoint has enough calls for quantiles of its own: the statement is about all endpoints.
func TestFewCallsOfManyEndpointsAreNamed(t *testing.T) {
	s := newScenario(recording.RuntimePython)
	w := s.worker(1, 1000*us)
	for i := range 24 {
		w.request(recording.Time(i+1)*50_000*us, 10*us, "/"+strings.Repeat("a", 2+i%6))
		w.compute(9000 * us)
		w.respond()
	}
	s.hooks = stackHooks
	for _, o := range diagnosed(t, s).Undecided {
		if o.ID == "linear-scan" && strings.Contains(o.Missing, "24 requests of all endpoints") {
			return
		}
	}
	t.Error("linear-scan does not say which requests are too few")
}
