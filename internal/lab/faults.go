package lab

import (
	"math/rand/v2"

	"github.com/getdwell/dwell/recording"
)

// Fault is a way to make a service slow.
type Fault struct {
	Name    string
	Runtime recording.Runtime
	// With returns what a faulty request does in addition to its own steps, given what the fault costs, or what it does
	// if the fault is mended. With is called once for each service played.
	With func(cost Time, mended bool) func(own []Step, draw *rand.Rand) []Step
	// First is the number of requests that have the fault, from the first on; 0: all have it.
	First int
	// Around is true if the fault is outside the service. Then With's cost is instead the share of the processors that
	// another program takes, in millionths.
	Around bool
	// Lines is true if requests queue at a peer.
	Lines bool
	// Turns is what requests take turns at. The fault can be mended in two ways: half of the work done in turns is not
	// needed, or one more request may have a turn.
	Turns *Turns
}

// Turns are turns at a lock around what requests compute.
type Turns struct {
	code string             // the code in which others wait
	word int64              // see Resource
	is   func(s *Step) bool // whether a step is done in turns
}

// take gives the steps of a request their turns, in which only the share done of each step is done. It also returns how
// much is spared.
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

// The code of a service, by runtime.
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

// Faults returns the faults that the lab knows.
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

// one costs every request the same steps.
func one(step func(x Time) []Step) func(Time, *rand.Rand) []Step {
	return func(x Time, _ *rand.Rand) []Step { return step(x) }
}

// each makes 2 to 8 calls, one after the other.
func each(x Time, draw *rand.Rand) (list []Step) {
	for range 2 + draw.IntN(7) {
		list = append(list, Call(x, "/items/{}"))
	}
	return list
}

// batched makes one call instead of several, which the peer works on at once: it takes as long as the longest of them.
func batched(calls []Step) []Step { return side(calls, inOne) }

// inAnyOrder makes two calls one after the other, although neither needs the other.
func inAnyOrder(x Time, draw *rand.Rand) []Step {
	first, second := Call(x, "/stock"), Call(x, "/price")
	if draw.IntN(3) == 0 {
		first, second = second, first
	}
	return []Step{first, second}
}

// atOnce makes calls concurrently.
func atOnce(calls []Step) []Step { return side(calls, alongside) }

// side makes all calls except the first accompany that one.
func side(calls []Step, as company) []Step {
	for i := 1; i < len(calls); i++ {
		calls[i].with = as
	}
	return calls
}

// inProcess does in the service itself, with a library, what programs were started for: most of the time of such a
// program is its start.
func inProcess(programs []Step) []Step { return []Step{Compute(programs[0].took/20, render)} }

// atTimes calls a peer that takes long about every fifth time.
func atTimes(x Time, draw *rand.Rand) []Step {
	if draw.IntN(5) > 0 {
		return []Step{Call(Millisecond, "/stock")}
	}
	return []Step{Call(Millisecond+5*x, "/stock")}
}

// added returns a fault that costs a request additional steps. If the fault is mended, the request does something else
// instead.
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

// shared returns a fault in which work is done while holding something that others wait for. If it is mended, they need
// not wait.
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

// inTurns returns a fault that is work in some code, done in turns.
func inTurns(name, code string, turns Turns) Fault {
	rt := recording.RuntimeJVM
	if code == pyHandle {
		rt = recording.RuntimePython
	}
	return Fault{Name: name, Runtime: rt, Turns: &turns, With: func(x Time, _ bool) func([]Step, *rand.Rand) []Step {
		return func(own []Step, _ *rand.Rand) []Step { return within(own, []Step{Compute(x, code)}) }
	}}
}

// within inserts steps after a request's first.
func within(own, extra []Step) []Step {
	return append(append(append([]Step{}, own[:1]...), extra...), own[1:]...)
}
