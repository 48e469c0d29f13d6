package truth

import (
	"cmp"
	"fmt"
	"math/rand/v2"
)

// runtimeKind is how a truth service is started, and what it can tell.
type runtimeKind struct {
	name string
	args func(bin string) []string
}

func python() runtimeKind {
	return runtimeKind{"python", func(string) []string { return []string{"python3", "services/service.py"} }}
}

// puma is Ruby's server of that name.
func puma() runtimeKind {
	return runtimeKind{"ruby", func(string) []string { return []string{"ruby", "services/service.rb"} }}
}

func node() runtimeKind {
	return runtimeKind{"node", func(string) []string { return []string{"node", "services/service.js"} }}
}

// oneThread is Node with all of V8 on its one thread, so that the process's CPU time is
// that of the loop.
func oneThread() runtimeKind {
	return runtimeKind{"node", func(string) []string { return []string{"node", "--single-threaded", "services/service.js"} }}
}

func golang() runtimeKind {
	return runtimeKind{"go", func(bin string) []string { return []string{bin + "/service"} }}
}

// plan is what each request asks of a service, varied between half and one and a half
// times, so that answers overtake each other; us.
type plan struct {
	sleep, cpu, calls, delay int
	flow                     string // Node's; "" is direct
}

// path draws the plan of request i; the same request asks for the same every time.
func (p plan) path(i int) string {
	r := rand.New(rand.NewPCG(uint64(i), 3))
	vary := func(us int) int {
		if us == 0 {
			return 0
		}
		return us/2 + r.IntN(us)
	}
	flow := cmp.Or(p.flow, "direct")
	return fmt.Sprintf("/work?sleep=%d&cpu=%d&calls=%d&delay=%d&flow=%s", vary(p.sleep), vary(p.cpu), p.calls, vary(p.delay), flow)
}

// scenario is a service, a load, and what must hold.
type scenario struct {
	name    string
	runtime runtimeKind
	env     []string
	plan    plan
	rate    float64 // open loop
	workers int     // or closed
	conns   int     // most connections at once in the open loop; 0: as many as it takes
	close   bool    // a connection per request
	tls     bool    // to the upstream; Node and Go only
	peer    string  // the upstream's name; "" its address
	refuse  string  // programs that the kernel is to refuse the recorder

	recall    float64 // least share of calls attributed rightly; 0 is not asserted
	causes    bool    // each cause must agree with the service's own numbers
	alone     bool    // it wants the processors for itself, however little its plan does
	broadcast bool    // whoever gives back what others wait for wakes them all
	shown     bool    // it is only shown: the service cannot tell its waits from its own work
}

func (sc scenario) path(i int) string { return sc.plan.path(i) }

// What a scenario may want of the processors to be played beside another: the share of one that
// it computes, and exchanges a second.
const (
	quietShare     = 0.25
	quietExchanges = 800
)

// quiet reports whether others may be played at the same time: it takes little of the processors, and
// no cause is timed in it.
func (sc scenario) quiet() bool {
	p, rate := sc.plan, sc.rate
	if sc.workers > 0 {
		rate = float64(sc.workers) * 1e6 / float64(p.sleep+p.cpu+max(1, p.calls)*p.delay)
	}
	return !sc.alone && !sc.causes && !sc.shown && rate > 0 && rate*float64(p.cpu) <= quietShare*1e6 && rate*float64(1+p.calls) <= quietExchanges
}

// pool is a full one.
func pool() []string {
	return []string{"MAX_SOCKETS=4"}
}

// overTLS speaks TLS to the upstream.
func overTLS(keep string) []string {
	return []string{"SCHEME=https", keep}
}

func scenarios() []scenario {
	// One request at a time: with more, a thread's wait for the interpreter lock would
	// lie in what the service believes it slept.
	calm := plan{sleep: 10_000, cpu: 3000, calls: 1, delay: 10_000}
	two := plan{cpu: 200, calls: 2, delay: 2000}
	flow := func(name string) plan { return plan{cpu: 100, calls: 2, delay: 4000, flow: name} }
	return []scenario{
		{name: "calm", runtime: python(), plan: calm, workers: 1, recall: 0.99, causes: true},
		{name: "busy", runtime: python(), plan: two, rate: 120, recall: 0.99},
		{name: "connection per call", runtime: python(), env: []string{"KEEP_ALIVE=0"}, plan: two, rate: 100, recall: 0.99},
		{name: "connection per request", runtime: python(), plan: two, rate: 100, close: true, recall: 0.99},
		{name: "64 at once", runtime: python(), plan: plan{calls: 1, delay: 20_000}, workers: 64, recall: 0.99},
		{name: "over UDP", runtime: python(), env: []string{"UDP_TIMEOUT=1000000"}, plan: calm, workers: 1, recall: 0.99, causes: true},
		{name: "over UDP, a socket per call", runtime: python(), env: []string{"UDP_TIMEOUT=1000000", "KEEP_ALIVE=0"}, plan: two, rate: 100, recall: 0.99},
		{name: "over UDP, every third lost", runtime: python(), env: []string{"UDP_TIMEOUT=40000", "LOSE=3"}, plan: calm, workers: 1, recall: 0.99, causes: true},
		{name: "over UDP, asked again too early", runtime: python(), env: []string{"UDP_TIMEOUT=6000"}, plan: calm, workers: 1, recall: 0.99, causes: true},
		{name: "busy", runtime: puma(), plan: two, rate: 60, recall: 0.99},
		{name: "connection per request", runtime: puma(), plan: two, rate: 60, close: true, recall: 0.99},
		{name: "64 at once for 16 threads", runtime: puma(), plan: plan{calls: 1, delay: 40_000}, workers: 64, recall: 0.99},
		{name: "two processes", runtime: puma(), env: []string{"WORKERS=2"}, plan: two, rate: 60, recall: 0.99},
		// Its clock counts what the loop does while the call is out, which is not the
		// request's: 0.1-0.3 ms. The CPU time is such that the tolerance is well above that.
		{name: "calm", runtime: oneThread(), env: []string{"CLOCKS=1"}, plan: plan{cpu: 10_000, calls: 1, delay: 15_000}, workers: 1, recall: 0.99, causes: true},
		{name: "calm, first a timer", runtime: node(), plan: calm, workers: 1},
		{name: "direct, full pool", runtime: node(), env: pool(), peer: "localhost", plan: plan{calls: 1, delay: 4000, flow: "direct"}, rate: 400, recall: 0.9},
		{name: "await, full pool", runtime: node(), env: pool(), peer: "localhost", plan: flow("await"), rate: 250, recall: 0.5},
		{name: "call after call, full pool", runtime: node(), env: pool(), peer: "localhost", plan: flow("seq"), rate: 250, recall: 0.5},
		{name: "Promise.all, full pool", runtime: node(), env: pool(), peer: "localhost", plan: flow("all"), rate: 250, recall: 0.5},
		{name: "connection per call", runtime: node(), env: []string{"KEEP_ALIVE=0"}, plan: flow("await"), rate: 150, recall: 0.5},
		{name: "64 at once, direct", runtime: node(), env: pool(), peer: "localhost", plan: plan{calls: 1, delay: 2000, flow: "direct"}, workers: 64, recall: 0.5},
		{name: "TLS, kept", runtime: node(), env: overTLS("KEEP_ALIVE=1"), tls: true, peer: "localhost", plan: flow("await"), rate: 150, recall: 0.5},
		{name: "TLS, connection per call", runtime: node(), env: overTLS("KEEP_ALIVE=0"), tls: true, peer: "localhost", plan: flow("await"), rate: 60, recall: 0.5},
		{name: "behind timers", runtime: node(), plan: flow("timer"), rate: 150},
		{name: "fetch", runtime: node(), plan: flow("fetch"), rate: 150},
		{name: "worker threads", runtime: node(), plan: flow("worker"), rate: 60, recall: 0.99},
		{name: "calm", runtime: golang(), plan: calm, workers: 1, shown: true},
		{name: "busy", runtime: golang(), plan: two, rate: 400, recall: 0.99},
		{name: "connection per request", runtime: golang(), plan: two, rate: 200, close: true, recall: 0.99},
		{name: "bodies", runtime: golang(), plan: flow("post"), rate: 200, recall: 0.99},
		{name: "goroutine per call", runtime: golang(), plan: plan{cpu: 100, calls: 4, delay: 3000, flow: "all"}, rate: 150, recall: 0.99},
		{name: "workers that select", runtime: golang(), plan: plan{cpu: 100, calls: 2, delay: 2000, flow: "pool"}, rate: 60, recall: 0.99},
		{name: "goroutine per call, full pool", runtime: golang(), env: []string{"MAX_CONNS=4"}, plan: plan{cpu: 100, calls: 3, delay: 2000, flow: "all"}, rate: 300, recall: 0.99},
		{name: "TLS, kept", runtime: golang(), env: []string{"SCHEME=https"}, tls: true, plan: two, rate: 150, recall: 0.99},
		{name: "2,000 calls/s", runtime: golang(), plan: plan{calls: 4, delay: 4000}, rate: 500, recall: 0.99},
		{name: "over UDP, every third lost", runtime: golang(), env: []string{"UDP_TIMEOUT=40000", "LOSE=3"}, plan: flow("udp"), rate: 60, recall: 0.99},
		{name: "64 at once", runtime: golang(), plan: plan{calls: 1, delay: 20_000}, workers: 64, shown: true},
	}
}
