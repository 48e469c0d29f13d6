// Package load sends HTTP/1.1 requests to one server and logs each of them: when it
// was meant to be sent, when it was sent, when its last byte came back, and on which
// connection. It is the client whose log a recording is checked against, so it
// reports what it saw and nothing else.
package load

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// Options say what to send. Either Rate or Workers is set.
type Options struct {
	URL     string        // http://host:port/path
	Rate    float64       // open loop: requests per second, with exponential gaps
	Workers int           // closed loop: each sends its next request after the answer
	For     time.Duration // no request is started after it
	Conns   int           // open loop: most connections at once; 0 is 4096
	Seed    uint64        // of the gaps
	Close   bool          // one connection per request
	Drain   time.Duration // how long after For answers are waited for; 0 is 30 s
	Path    func(i int) string
}

// Entry is what the client knows of one request. Times are CLOCK_MONOTONIC in ns.
type Entry struct {
	ID       int    `json:"id"` // sent as X-Request-Id
	Intended int64  `json:"intended"`
	Sent     int64  `json:"sent"`    // before the write; 0 if it never was
	Done     int64  `json:"done"`    // after the last byte was read, or it failed
	Port     int    `json:"port"`    // local
	Ordinal  int    `json:"ordinal"` // of this request on its connection, from 0
	Status   int    `json:"status"`
	Err      string `json:"err,omitempty"`
}

// Latency is what a user would have waited, in ns: from the intended time, so that a
// queue in the client is not hidden.
func (e *Entry) Latency() int64 { return e.Done - e.Intended }

// Service is from the first byte sent to the last byte read, in ns.
func (e *Entry) Service() int64 { return e.Done - e.Sent }

// defaults of Options.
const (
	defaultConns = 4096
	defaultDrain = 30 * time.Second
)

type job struct {
	id       int
	intended int64 // 0: now
	path     string
}

// generator is one run.
type generator struct {
	opt     Options
	address string
	head    string // "Host: ..." and what follows the request line
	clock   clock
	ctx     context.Context

	mu  sync.Mutex
	log []Entry

	started atomic.Int64
	busy    sync.WaitGroup
}

// Run sends load until opt.For is over or ctx ends, waits for the answers still
// outstanding, and returns the log in the order of IDs.
func Run(ctx context.Context, opt Options) (*Result, error) {
	u, err := url.Parse(opt.URL)
	if err != nil || u.Scheme != "http" || u.Host == "" {
		return nil, fmt.Errorf("load: URL %q is not of the form http://host:port/path", opt.URL)
	}
	if (opt.Rate > 0) == (opt.Workers > 0) {
		return nil, fmt.Errorf("load: exactly one of a rate and a number of workers is needed")
	}
	if opt.For <= 0 {
		return nil, fmt.Errorf("load: a duration is needed")
	}
	opt = withDefaults(opt, u)
	hard, cancelHard := context.WithTimeout(ctx, opt.For+opt.Drain)
	defer cancelHard()
	stop, cancelStop := context.WithTimeout(hard, opt.For) // also where the timer of this one is late
	defer cancelStop()
	g := &generator{opt: opt, address: u.Host, clock: newClock(), ctx: hard}
	g.head = "Host: " + u.Host + "\r\n"
	if opt.Close {
		g.head += "Connection: close\r\n"
	}
	start := g.clock.now()
	if opt.Rate > 0 {
		g.open(stop)
	} else {
		g.closed(stop)
	}
	g.busy.Wait()
	return newResult(g.log, start, g.clock.now(), opt.For), nil
}

func withDefaults(opt Options, u *url.URL) Options {
	if opt.Conns == 0 {
		opt.Conns = defaultConns
	}
	if opt.Drain == 0 {
		opt.Drain = defaultDrain
	}
	if opt.Path == nil {
		path := u.RequestURI()
		opt.Path = func(int) string { return path }
	}
	return opt
}

// closed runs opt.Workers loops, each with a connection of its own.
func (g *generator) closed(stop context.Context) {
	for range g.opt.Workers {
		g.busy.Add(1)
		go func() {
			defer g.busy.Done()
			w := g.newWorker()
			defer w.close()
			for stop.Err() == nil {
				i := int(g.started.Add(1)) - 1
				w.do(job{id: i, path: g.opt.Path(i)})
			}
		}()
	}
}

// open starts requests at times drawn beforehand, whatever became of earlier ones.
// A request takes an idle connection, else a new one, else it queues.
func (g *generator) open(stop context.Context) {
	random := rand.New(rand.NewPCG(g.opt.Seed, 1))
	jobs := make(chan job, 1<<16)
	defer close(jobs)
	var idle atomic.Int64 // workers waiting, minus jobs queued
	workers := 0
	next := float64(g.clock.now())
	for i := 0; ; i++ {
		next += random.ExpFloat64() / g.opt.Rate * 1e9
		if !sleepUntil(stop, g.clock, int64(next)) {
			return
		}
		j := job{id: i, intended: int64(next), path: g.opt.Path(i)}
		if idle.Add(-1) < 0 && workers < g.opt.Conns {
			workers++
			idle.Add(1) // it waits, until it takes the job
			g.busy.Add(1)
			go g.serve(jobs, &idle)
		}
		select {
		case jobs <- j:
		case <-stop.Done():
			return
		}
	}
}

// serve answers jobs on one connection at a time.
func (g *generator) serve(jobs <-chan job, idle *atomic.Int64) {
	defer g.busy.Done()
	w := g.newWorker()
	defer w.close()
	for j := range jobs {
		w.do(j)
		idle.Add(1)
	}
}

// sleepUntil reports whether the time was reached before stop.
func sleepUntil(stop context.Context, c clock, at int64) bool {
	wait := time.Duration(at - c.now())
	if wait <= 0 {
		return stop.Err() == nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-stop.Done():
		return false
	}
}
