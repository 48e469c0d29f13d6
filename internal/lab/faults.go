package lab

import (
	"math/rand/v2"

	"github.com/getdwell/dwell/recording"
)

// Fault is a way to make a service slow.
type Fault struct {
	Name    string
	Runtime recording.Runtime
	// With gives what a faulty request does beyond its own, by how much the fault costs, or
	// what it does where the fault is mended. It is called once for each service played.
	With func(cost Time, mended bool) func(own []Step, draw *rand.Rand) []Step
	// First is how many requests have it, from the first on; 0: all have.
	First int
	// Around is set where the fault is outside of the service: with the share of the
	// processors that another program takes in place of With's cost, in millionths.
	Around bool
	// Lines is set where requests stand in line at a peer.
	Lines bool
	// Turns is what requests take turns at: where the fault is mended, half of what is done in
	// them need not be done; or, which is another way, there is one more to have.
	Turns *Turns
}

// Turns are those at a lock around what requests compute.
type Turns struct {
	code string             // of those who wait
	word int64              // see Resource
	is   func(s *Step) bool // what is done in turns
}

// take gives the steps of a request their turns, in which that share of each is done, and
// tells how much is not.
func (t *Turns) take(r *Resource, steps []Step, done float64) (out []Step, spared Time) {
	for _, s := range steps {
		if !t.is(&s) {
			out = append(out, s)
			continue
		}
		all := s.took
		s.took = Time(float64(all) * done)
		spared += all - s.took
		out = append(out, Enter(r, t.code), s, Leave(r))
	}
	return out, spared
}

// Where a service of each runtime is.
const (
	handle   = "com.shop.Handler.handle"
	render   = "com.shop.Prices.render < " + handle
	entering = "native ObjectMonitor::enter < com.shop.Cache.put < com.shop.Prices.get < " + handle
	digest   = "com.shop.Digest.update < com.shop.Cache.put < com.shop.Prices.get < " + handle
	tokens   = "native ObjectMonitor::enter < com.shop.Tokens.current < com.shop.Prices.get < " + handle
	borrow   = "jdk.internal.misc.Unsafe.park < java.util.concurrent.locks.LockSupport.park < com.zaxxer.hikari.pool.HikariPool.getConnection < com.shop.Prices.load < " + handle
	drawing  = "sun.security.provider.NativePRNG$RandomIO.implNextBytes < java.security.SecureRandom.nextBytes < java.util.UUID.randomUUID < com.shop.Client.newId < " + handle
	pyHandle = "shop/app.py:handle"
	gil      = "native take_gil < native PyEval_RestoreThread < " + pyHandle
)

// Faults are those that the lab knows.
func Faults() []Fault {
	nothing := func([]Step) []Step { return nil }
	elsewhere := Elsewhere(FreshCall(500*Microsecond, 200*Microsecond, "/rates"))
	return append([]Fault{
		added("slow-dns", one(func(x Time) []Step { return []Step{LookUp(x), elsewhere} }), func([]Step) []Step { return []Step{elsewhere} }),
		added("connection-churn", one(func(x Time) []Step { return []Step{FreshCall(500*Microsecond, x, "/rates")} }),
			func([]Step) []Step { return []Step{Call(500*Microsecond, "/rates")} }),
		added("n-plus-one", each, batched),
		added("serial-calls", inAnyOrder, atOnce),
		added("slow-peer", atTimes, func([]Step) []Step { return []Step{Call(Millisecond, "/stock")} }),
		added("entropy-wait", one(func(x Time) []Step { return []Step{Draw(x, drawing)} }), nothing),
		added("disk", one(func(x Time) []Step { return []Step{Sync(x)} }), nothing),
		added("page-fault", one(func(x Time) []Step { return []Step{PageFault(x)} }), nothing),
		added("sleep-retry", one(func(x Time) []Step { return []Step{Sleep(x)} }), nothing),
		added("child-process", one(func(x Time) []Step { return []Step{Start(x)} }), inProcess),
		added("cpu-bound", one(func(x Time) []Step { return []Step{Compute(x, digest)} }), nothing),
		{Name: "cold-start", Runtime: recording.RuntimeJVM, First: 60, With: func(x Time, mended bool) func([]Step, *rand.Rand) []Step {
			return func(own []Step, _ *rand.Rand) []Step {
				if mended {
					return own
				}
				return within(own, []Step{Compute(x, digest)})
			}
		}},
		inTurns("lock-convoy", digest, Turns{code: entering, is: func(s *Step) bool { return s.do == compute && s.code == digest }}),
		shared("refresh-under-lock", NewLock, tokens, func(x Time) []Step { return []Step{Call(x, "/token")} }),
		shared("pool-exhausted", func() *Resource { return NewPool(2) }, borrow, func(x Time) []Step { return []Step{Call(x, "/rows")} }),
		inTurns("interpreter-lock", pyHandle, Turns{code: gil, word: 0x7000, is: func(s *Step) bool { return s.do == compute }}),
		{Name: "run-queue", Runtime: recording.RuntimeJVM, Around: true, With: func(Time, bool) func([]Step, *rand.Rand) []Step {
			return func(own []Step, _ *rand.Rand) []Step { return own }
		}},
	}, transportFaults()...)
}

// one costs a request always the same steps.
func one(step func(x Time) []Step) func(Time, *rand.Rand) []Step {
	return func(x Time, _ *rand.Rand) []Step { return step(x) }
}

// each asks for one thing after the other, for 2 to 8 of them.
func each(x Time, draw *rand.Rand) (list []Step) {
	for range 2 + draw.IntN(7) {
		list = append(list, Call(x, "/items/{}"))
	}
	return list
}

// batched is one call in place of several, which the peer works on at once: it takes as long as
// the longest of them.
func batched(calls []Step) []Step { return side(calls, inOne) }

// inAnyOrder asks for two things of which none needs the other, one after the other.
func inAnyOrder(x Time, draw *rand.Rand) []Step {
	first, second := Call(x, "/stock"), Call(x, "/price")
	if draw.IntN(3) == 0 {
		first, second = second, first
	}
	return []Step{first, second}
}

// atOnce makes calls side by side.
func atOnce(calls []Step) []Step { return side(calls, alongside) }

// side makes all calls but the first go with that.
func side(calls []Step, as company) []Step {
	for i := 1; i < len(calls); i++ {
		calls[i].with = as
	}
	return calls
}

// inProcess does what programs are started for in the service itself, with a library: most of what
// a program takes is to begin.
func inProcess(programs []Step) []Step { return []Step{Compute(programs[0].took/20, render)} }

// atTimes asks a peer that takes long every fifth time or so.
func atTimes(x Time, draw *rand.Rand) []Step {
	if draw.IntN(5) > 0 {
		return []Step{Call(Millisecond, "/stock")}
	}
	return []Step{Call(Millisecond+5*x, "/stock")}
}

// added is a fault that costs a request something of its own, in place of which it does
// something else where that is mended.
func added(name string, costs func(x Time, draw *rand.Rand) []Step, instead func(costs []Step) []Step) Fault {
	return Fault{Name: name, Runtime: recording.RuntimeJVM, With: func(x Time, mended bool) func([]Step, *rand.Rand) []Step {
		return func(own []Step, draw *rand.Rand) []Step {
			extra := costs(x, draw)
			if mended {
				extra = instead(extra)
			}
			return within(own, extra)
		}
	}}
}

// shared is work with something in hand that others wait for; where it is mended they need not.
func shared(name string, made func() *Resource, code string, work func(x Time) []Step) Fault {
	return Fault{Name: name, Runtime: recording.RuntimeJVM, With: func(x Time, mended bool) func([]Step, *rand.Rand) []Step {
		r := made()
		return func(own []Step, _ *rand.Rand) []Step {
			if mended {
				return within(own, work(x))
			}
			return within(own, append(append([]Step{Enter(r, code)}, work(x)...), Leave(r)))
		}
	}}
}

// inTurns is work in some code, and turns that are taken for it.
func inTurns(name, code string, turns Turns) Fault {
	rt := recording.RuntimeJVM
	if code == pyHandle {
		rt = recording.RuntimePython
	}
	return Fault{Name: name, Runtime: rt, Turns: &turns, With: func(x Time, _ bool) func([]Step, *rand.Rand) []Step {
		return func(own []Step, _ *rand.Rand) []Step { return within(own, []Step{Compute(x, code)}) }
	}}
}

// within puts steps after a request's first.
func within(own, extra []Step) []Step {
	return append(append(append([]Step{}, own[:1]...), extra...), own[1:]...)
}
