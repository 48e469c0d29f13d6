package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"
)

// kind is a fault: what has to be said of it, where it can be played, and how strong it is drawn.
type kind struct {
	fault    string
	names    []string // of the hypotheses that are right to be first; the fault's own name if empty
	lead     bool     // it says where and not why: a lead is as right as a finding
	runtimes []string
	draw     func(p *plan, draw *rand.Rand)
	outside  bool // it is not where services log what it takes
	another  bool // the fix that a finding names is another one than the twin's: savings are not compared
}

const (
	golang = "go"
	node   = "node"
	python = "python"
	ruby   = "ruby"
	jvm    = "jvm"
)

// plan is one run: a service with a fault, and its twin without.
type plan struct {
	Seed    uint64
	Fault   string
	Runtime string
	Beside  string        // the competitor for the processors that both are played beside
	Rate    float64       // requests a second
	OwnCPU  time.Duration // what a request computes
	OwnCall time.Duration // what its call takes
	Cost    time.Duration // of the fault
	Many    int
	Noun    string   // what things are called
	Routes  []string // of the upstream
	Against string   // the competitor that is the fault itself
	Lazier  float64  // the twin gets this share of the requests; 0: all
	Close   bool     // clients open a connection for each request
	Early   bool     // recorded from the service's start on
	Workers int      // processes that serve
	Longer  int      // so many times as long is recorded; 0: once
}

func (p *plan) name() string { return fmt.Sprintf("%s/%s/%d", p.Fault, p.Runtime, p.Seed) }

func all() []string { return []string{golang, node, python, ruby, jvm} }
func but(no ...string) []string {
	return slices.DeleteFunc(all(), func(rt string) bool { return slices.Contains(no, rt) })
}

// kinds are all faults that are played, and the healthy services.
func kinds() []kind {
	return []kind{
		{fault: "connection-churn", names: []string{"connection-churn", "client-per-request"}, runtimes: all(), draw: calls(0.1, 0.5)},
		{fault: "n-plus-one", runtimes: all(), draw: each},
		{fault: "serial-calls", runtimes: all(), draw: calls(0.3, 1)},
		{fault: "slow-peer", lead: true, runtimes: all(), draw: calls(0.5, 3)},
		{fault: "credential-fetch", runtimes: all(), draw: calls(0.4, 2)},
		{fault: "sleep-retry", runtimes: all(), draw: calls(0.4, 2)},
		{fault: "child-process", runtimes: all()},
		{fault: "sync-telemetry", runtimes: all(), draw: sends},
		{fault: "disk", lead: true, runtimes: all()},
		{fault: "slow-dns", runtimes: all(), draw: calls(0.4, 2)},
		{fault: "tls-handshake", names: []string{"tls-handshake", "connection-churn"}, runtimes: but(ruby)},
		{fault: "cpu-bound", lead: true, runtimes: all(), draw: computing},
		{fault: "linear-scan", runtimes: all(), draw: grows},
		{fault: "pool-exhausted", runtimes: all(), draw: turns(2, 0.6, 0.8)},
		{fault: "refresh-under-lock", runtimes: but(node), draw: turns(1, 0.5, 0.75)},
		{fault: "lock-convoy", runtimes: but(node), draw: turns(1, 0.45, 0.65), another: true},
		{fault: "interpreter-lock", runtimes: []string{python, ruby}, draw: turns(1, 0.4, 0.55), another: true},
		{fault: "event-loop-blocked", runtimes: []string{node}, draw: turns(1, 0.15, 0.35), outside: true}, // it is others that wait
		{fault: "gc-pause", runtimes: []string{golang, jvm}, draw: garbage, another: true},
		{fault: "page-fault", runtimes: []string{python}, draw: func(p *plan, _ *rand.Rand) { p.Many = 12 }},
		{fault: "delayed-ack", runtimes: []string{python, jvm}, outside: true},
		{fault: "cold-start", lead: true, runtimes: []string{python}, draw: early},
		{fault: "accept-queue", names: []string{"accept-queue", "load"}, lead: true, runtimes: []string{python}, draw: oneWorker},
		{fault: "run-queue", lead: true, runtimes: all(), draw: against},
		{fault: "load", lead: true, runtimes: []string{golang, jvm}, draw: overload},
		{fault: "none", runtimes: all(), draw: func(*plan, *rand.Rand) {}},
		{fault: "none-busy", runtimes: but(node), draw: busy},
		{fault: "none-peer", runtimes: all(), draw: func(p *plan, _ *rand.Rand) { p.OwnCall = 50 * time.Millisecond }},
		{fault: "entropy-wait", runtimes: []string{python}, draw: turns(1, 0.5, 0.75)},
		{fault: "held-while-waiting", runtimes: []string{python}, draw: turns(2, 0.4, 0.6), outside: true},
		{fault: "send-window", runtimes: []string{python}, draw: pieces},
		{fault: "retransmit", runtimes: []string{python}, draw: turns(1, 0.5, 0.75)},
		{fault: "head-of-line", runtimes: []string{python}, draw: turns(1, 0.15, 0.35)},
		{fault: "release", runtimes: []string{python}, draw: deploy, outside: true},
	}
}

// healthy are the kinds without a fault: their twins are not played.
func healthy(fault string) bool {
	return fault == "none" || fault == "none-busy" || fault == "none-peer"
}

func kindOf(fault string) *kind {
	list := kinds()
	for i := range list {
		if list[i].fault == fault {
			k := &list[i]
			if len(k.names) == 0 {
				k.names = []string{fault}
			}
			return k
		}
	}
	return nil
}

// drawAll draws the runs of a seed, in an order of its own.
func drawAll(seed uint64) (list []plan) {
	order := rand.New(rand.NewPCG(seed, 0))
	noun := nouns()[order.IntN(len(nouns()))]
	for k, one := range kinds() {
		for i, runtime := range all() {
			if slices.Contains(one.runtimes, runtime) {
				list = append(list, drawPlan(&one, runtime, rand.New(rand.NewPCG(seed, uint64(100*k+i+1)))))
				list[len(list)-1].Seed, list[len(list)-1].Noun = seed, noun
			}
		}
	}
	order.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// oneOfEach keeps of each fault the first runtime that was drawn.
func oneOfEach(all []plan) (some []plan) {
	for _, p := range all {
		if !slices.ContainsFunc(some, func(have plan) bool { return have.Fault == p.Fault }) {
			some = append(some, p)
		}
	}
	return some
}

// drawPlan draws a service of a runtime, and how strong its fault is.
func drawPlan(k *kind, runtime string, draw *rand.Rand) plan {
	p := plan{Fault: k.fault, Runtime: runtime, Many: 6}
	p.Rate = 40 + 50*draw.Float64()
	p.OwnCPU = time.Duration(200+600*draw.Float64()) * time.Microsecond
	p.OwnCall = time.Duration(1000+4000*draw.Float64()) * time.Microsecond
	routes := []string{"quotes", "rates", "stock", "orders", "users", "offers", "carts", "taxes", "labels", "parcels"}
	draw.Shuffle(len(routes), func(i, j int) { routes[i], routes[j] = routes[j], routes[i] })
	p.Routes = routes[:4]
	if draw.IntN(3) == 0 {
		p.Beside = []string{"half", "bursts"}[draw.IntN(2)]
	}
	if k.draw != nil {
		k.draw(&p, draw)
	}
	return p
}

func nouns() []string {
	return []string{"Basket", "Ledger", "Ticket", "Fare", "Menu", "Parcel", "Quote", "Badge"}
}

func between(low, high float64, draw *rand.Rand) float64 { return low + (high-low)*draw.Float64() }

// calls costs so many times what a request does by itself.
func calls(low, high float64) func(*plan, *rand.Rand) {
	return func(p *plan, draw *rand.Rand) {
		p.Cost = time.Duration(float64(p.OwnCPU+p.OwnCall) * between(low, high, draw))
	}
}

// each makes 2 calls to so many more, each a part of what a request takes.
func each(p *plan, draw *rand.Rand) {
	p.Many = 3 + draw.IntN(10)
	p.Cost = time.Duration(float64(p.OwnCPU+p.OwnCall) * between(0.1, 0.5, draw))
}

// turns are of so many at a time, which are used for that share of the time.
func turns(size int, low, high float64) func(*plan, *rand.Rand) {
	return func(p *plan, draw *rand.Rand) {
		p.Cost = time.Duration(between(low, high, draw) * float64(size) / p.Rate * float64(time.Second))
		if p.Fault == "event-loop-blocked" { // a twentieth of the requests, ten times as long
			p.Cost *= 2
		}
	}
}

// computing is of every fifth request, five times as much. Where one thread of a process computes at
// a time, those would keep the others waiting for it, which is another fault: there each computes
// alike, for a fifth of the time at most.
func computing(p *plan, draw *rand.Rand) {
	calls(0.3, 1)(p, draw)
	if p.Runtime == node || p.Runtime == python || p.Runtime == ruby {
		p.Cost = min(p.Cost, time.Duration(0.2/p.Rate*float64(time.Second)))
	}
}

func sends(p *plan, draw *rand.Rand) { p.Many = 150 + draw.IntN(250) }

// grows adds to what is looked through with each request.
func grows(p *plan, draw *rand.Rand) {
	p.Many = 40 + draw.IntN(80)
	if p.Runtime == golang || p.Runtime == jvm || p.Runtime == node {
		p.Many *= 8
	}
}

// garbage of Go is four times as much: its collector works beside requests, and of what Java's
// service makes it took 3 % of what they took, by their own log.
func garbage(p *plan, draw *rand.Rand) {
	p.Many = 500 + draw.IntN(500)
	if p.Runtime == golang {
		p.Many *= 4
	}
}

// pieces are what a peer reads at a time.
func pieces(p *plan, draw *rand.Rand) {
	p.Many = 16
	p.Cost = time.Duration(float64(p.OwnCPU+p.OwnCall) * between(1, 3, draw) / 16)
}

// deploy is after 12 s, which goes on for long enough to tell what is of the release.
func deploy(p *plan, draw *rand.Rand) {
	calls(0.5, 2)(p, draw)
	p.Early, p.Close, p.Workers, p.Longer = true, true, 2, 5
}

func early(p *plan, draw *rand.Rand) {
	p.Early, p.Cost = true, time.Duration(between(3, 6, draw)*float64(time.Millisecond))
}

func oneWorker(p *plan, draw *rand.Rand) {
	p.Close = true
	own := float64(p.OwnCPU+p.OwnCall) + 2e6
	p.Cost = time.Duration(max(1e6, between(0.6, 0.75, draw)/p.Rate*1e9-own))
}

func against(p *plan, draw *rand.Rand) {
	p.Beside, p.Against = "", []string{"half", "bursts"}[draw.IntN(2)]
	p.OwnCPU *= 6
}

// overload is more than all processors can do; the twin gets two fifths of it.
func overload(p *plan, draw *rand.Rand) {
	p.Beside, p.Lazier = "", 0.4
	p.OwnCPU = time.Duration(2 * between(1.05, 1.2, draw) / p.Rate * float64(time.Second))
}

// busy uses 70 % of two processors: what a request computes is a half, the rest what servers, the
// peer and the clients do besides. Where one thread of a process runs at a time, eight processes
// serve: at two, requests would queue for their interpreter, which is a fault and not health.
func busy(p *plan, _ *rand.Rand) {
	p.Beside = ""
	p.OwnCPU = time.Duration(0.5 * 2 / p.Rate * float64(time.Second))
	if p.Runtime == python || p.Runtime == ruby {
		p.Workers = 8
	}
}

func (p *plan) env(fixed bool) []string {
	us := func(d time.Duration) string { return strconv.FormatInt(d.Microseconds(), 10) }
	workers := max(1, p.Workers)
	fault := p.Fault
	switch {
	case healthy(fault), fault == "run-queue", fault == "load":
		fault = "none"
	}
	env := []string{"FAULT=" + fault, "OWN_CPU=" + us(p.OwnCPU), "OWN_CALL=" + us(p.OwnCall), "COST=" + us(p.Cost), "MANY=" + strconv.Itoa(p.Many), "THREADS=32",
		"ROUTES=" + p.Routes[0] + "," + p.Routes[1] + "," + p.Routes[2] + "," + p.Routes[3], "PROCESSES=" + strconv.Itoa(workers)}
	if p.Runtime == ruby && workers > 1 {
		env = append(env, "WORKERS="+strconv.Itoa(workers))
	}
	if fixed {
		env = append(env, "FIXED=1")
	}
	return env
}
