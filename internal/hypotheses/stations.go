package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/queueing"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/peers"
	"github.com/getdwell/dwell/recording"
)

// stations returns the servers that requests waited for, the longest wait first.
func stations(c *diagnosis.Case) (out []*station) {
	for _, kind := range []string{kindLock, kindInterpreter, kindLoop, kindWorkers, kindPool, kindProcessors} {
		out = append(out, stationsOf(c, kind)...)
	}
	slices.SortStableFunc(out, func(a, b *station) int { return cmp.Compare(b.waited(), a.waited()) })
	return out
}

// Kinds of servers, as a user calls them.
const (
	kindLock        = "lock"
	kindInterpreter = "interpreter"
	kindLoop        = "loop"
	kindWorkers     = "workers"
	kindPool        = "pool"
	kindProcessors  = "processors"
)

// stationsOf returns the servers of one kind that requests waited for; its callers share them.
func stationsOf(c *diagnosis.Case, kind string) []*station {
	return c.Shared("stations "+kind, func() any {
		var out []*station
		switch kind {
		case kindLock:
			for _, k := range contentions(c, timeline.CauseLock) {
				out = append(out, lockStation(c, k))
			}
		case kindInterpreter:
			for _, k := range contentions(c, timeline.CauseInterpreterLock) {
				out = append(out, interpreterStation(c, k))
			}
		case kindLoop:
			for _, loop := range c.Loops() {
				out = append(out, loopStation(c, loop))
			}
		case kindWorkers:
			out = workerStations(c)
		case kindPool:
			for _, s := range shortages(c) {
				if s.size > 0 && s.peer != "" {
					out = append(out, clientStation(c, s))
				}
			}
		case kindProcessors:
			out = append(out, processorStation(c))
		}
		return slices.DeleteFunc(out, func(s *station) bool { return s == nil || s.waiters() == 0 })
	}).([]*station)
}

// stationAt finds a server of a kind; nil if no request waited for it.
func stationAt(c *diagnosis.Case, kind string, is func(*station) bool) *station {
	list := stationsOf(c, kind)
	if i := slices.IndexFunc(list, is); i >= 0 {
		return list[i]
	}
	return nil
}

// waited returns how long requests waited for it, in all.
func (s *station) waited() (d Duration) {
	for _, w := range s.waits {
		d += diagnosis.Total(w)
	}
	return d
}

// roomBeside returns how much one more of a server that computes could do: as much as a processor is idle, at most all
// of one.
func roomBeside(c *diagnosis.Case) queueing.Ratio {
	return queueing.Ratio(idleProcessor(c) * diagnosis.Share(queueing.One) / diagnosis.Whole)
}

// How long an interpreter goes on with one thread while others want it.
const (
	pythonSlice Duration = 5 * milli   // sys.getswitchinterval
	rubySlice   Duration = 100 * milli // the quantum of its timer
)

// interpreterStation is the interpreter of a process as a server: whatever its threads run occupies it.
func interpreterStation(c *diagnosis.Case, k *contention) *station {
	p := k.process(c)
	if k.lock == timeline.None || p == recording.NoProcess {
		return nil
	}
	s := &station{kind: kindInterpreter, more: "process", lock: k.lock, room: roomBeside(c), model: queueing.Server{Servers: 1, Slice: pythonSlice}}
	if runtimeOf(c, p) == recording.RuntimeRuby {
		s.model.Slice = rubySlice
	}
	s.customers(c, atInterpreter(c, p))
	var threads []timeline.StrandID
	for i := range c.Strands {
		if c.Strands[i].Process == p {
			threads = append(threads, timeline.StrandID(i))
		}
	}
	s.beside(c, threads, k.lock)
	return s
}

// atInterpreter returns the role of segments for the interpreter of a process. A thread that wakes to ask for it again,
// as CPython's do every 5 ms, still waits for it.
func atInterpreter(c *diagnosis.Case, p recording.ProcessID) func(*timeline.Request, *timeline.Segment) role {
	return func(r *timeline.Request, g *timeline.Segment) role {
		switch {
		case r.Process != p:
		case g.Cause == timeline.CauseInterpreterLock:
			return roleWaits
		case g.Cause == timeline.CauseRunnable || ownCPU(g):
			if asksAgain(c, g) {
				return roleWaits
			}
			if ownCPU(g) {
				return roleWorks
			}
		}
		return roleNone
	}
}

// asksAgain reports whether a strand computes, or has no processor, in the middle of one of its waits for an
// interpreter's lock. A thread that a timer wakes has no turn until it runs and looks.
func asksAgain(c *diagnosis.Case, g *timeline.Segment) bool {
	if g.Strand == timeline.None {
		return false
	}
	id := c.SleepAt(g.Strand, g.From-1)
	if id == timeline.None {
		return false
	}
	w := &c.Waits[id]
	end := w.Back
	if w.Off != nil && w.Off.WakerKind != recording.WakerInterrupt {
		end = w.To
	}
	return w.Cause == timeline.CauseInterpreterLock && g.To <= end
}

// alone is an interpreter that never has to wait for a processor. It is used if programs beside the service, or other
// processes of the service, have processors: then it shows what requests wait for each other's work in it, and no more.
// A thread that has its turn and no processor keeps others waiting as well, and a replay that takes this for work finds
// a queue that belongs to the neighbours, or to the processors. If there are no such programs, or if requests would
// wait longer so than they did, it is the interpreter as it is.
func (s *station) alone(c *diagnosis.Case, k *contention) *station {
	if s == nil || len(tookFrom(c)) == 0 && len(serving(c).serving) < 2 {
		return s
	}
	s.unchanged()
	out := *s
	out.model.Customers, out.waits = slices.Clone(s.model.Customers), make([][]diagnosis.Span, len(s.waits))
	work := atInterpreter(c, k.process(c))
	for i, id := range s.ids {
		if id != timeline.None {
			out.model.Customers[i].Visits = tourOf(&c.Requests[id], work, true, timesOf(&c.Requests[id], timeline.CauseRunnable)).visits
		}
	}
	p := out.model.Play(queueing.Change{})
	var waited Duration
	for i := range out.model.Customers {
		x := &out.model.Customers[i]
		if x.Beside {
			continue // what work beside requests waited is as recorded
		}
		for v := range x.Visits {
			x.Visits[v].Waited = 0
		}
		if len(x.Visits) > 0 {
			x.Visits[0].Waited = p.Waited[i]
		}
		waited += p.Waited[i]
	}
	part := diagnosis.ShareOf(int64(waited), int64(s.waited()))
	if part == 0 || part > diagnosis.Whole {
		return s
	}
	for i := range s.waits {
		out.waits[i] = trailingShare(s.waits[i], part) // their first part is behind threads that have no processor, see behindReady
	}
	p = out.model.Play(queueing.Change{})
	out.base = &replayed{p, out.model.Fit(p)}
	return &out
}

// timesOf returns when a request's time has a cause, in order.
func timesOf(r *timeline.Request, cause timeline.Cause) (out []window) {
	for g := r.Segments(); g.Next(); {
		if g.Cause == cause {
			out = append(out, window{g.From, g.To})
		}
	}
	return out
}

// loopStation is an event loop as a server: one thing at a time, each callback to its end.
func loopStation(c *diagnosis.Case, loop timeline.StrandID) *station {
	s := &station{kind: kindLoop, more: "process", name: c.Strands[loop].Name, loop: loop, room: roomBeside(c), model: queueing.Server{Servers: 1}}
	s.customers(c, func(r *timeline.Request, g *timeline.Segment) role {
		switch {
		case waitsFor(g, loop) && (g.Strand == loop || r.Strand == loop):
			return roleWaits
		case g.Strand == loop && ownCPU(g):
			return roleWorks
		}
		return roleNone
	})
	s.beside(c, []timeline.StrandID{loop}, timeline.None)
	return s
}

// workerStations returns the workers that serve one request at a time. They are one server for all processes at a port
// if that reproduces the recording, because whichever is free takes what comes to one socket. Otherwise they are one
// server for each process.
func workerStations(c *diagnosis.Case) (out []*station) {
	ports, at := map[string][]*workforce{}, []string(nil)
	for _, w := range workforces(c) {
		if len(w.ids) == 0 {
			continue
		}
		port := portOf(c, &c.Requests[w.ids[0]])
		if ports[port] == nil {
			at = append(at, port)
		}
		ports[port] = append(ports[port], w)
	}
	for _, port := range at {
		list := ports[port]
		if len(list) > 1 {
			if s := workerStation(c, list); s.fits() {
				out = append(out, s)
				continue
			}
		}
		for i := range list {
			out = append(out, workerStation(c, list[i:i+1]))
		}
	}
	return out
}

// portOf returns the port at which a request came; "" if its connection is not known.
func portOf(c *diagnosis.Case, r *timeline.Request) string {
	at := connIndex(c, r.Conn)
	if at >= len(c.Conns) || c.Conns[at].ID != r.Conn {
		return ""
	}
	_, port := peers.SplitPort(c.Conns[at].Local)
	return port
}

// workerStation is the workers of some processes, as one server.
func workerStation(c *diagnosis.Case, of []*workforce) *station {
	s := &station{kind: kindWorkers, more: "worker", room: roomBeside(c)}
	here := map[recording.ProcessID]bool{}
	for _, w := range of {
		s.model.Servers += w.workers
		here[c.Requests[w.ids[0]].Process] = true
	}
	s.customers(c, func(r *timeline.Request, g *timeline.Segment) role {
		switch {
		case !here[r.Process] || r.Strand == timeline.None || c.Strands[r.Strand].Loop:
		case forWorker(c, r, g):
			return roleWaits
		case g.Phase != timeline.PhaseUnread && g.From >= r.FirstRead && g.From < r.Served():
			return roleWorks
		}
		return roleNone
	})
	return s
}

// clientStation is the connections to a peer that calls share: each is held for as long as its call takes.
func clientStation(c *diagnosis.Case, of *shortage) *station {
	s := &station{kind: kindPool, more: "connection", name: of.peer, room: queueing.One, model: queueing.Server{Servers: of.size}}
	waits := map[diagnosis.RequestID][]diagnosis.Span{}
	for i := range of.stays {
		waits[of.stays[i].Request] = append(waits[of.stays[i].Request], of.stays[i].Span)
	}
	s.customers(c, func(r *timeline.Request, g *timeline.Segment) role {
		switch {
		case g.Cause == timeline.CausePool && slices.ContainsFunc(waits[r.ID], func(w diagnosis.Span) bool { return w.From < g.To && g.From < w.To }):
			return roleWaits
		case g.Call != timeline.None && g.Phase != timeline.PhaseQueue && c.Calls[g.Call].Peer == of.peer:
			return roleWorks
		}
		return roleNone
	})
	return s
}

// processorStation is the host's processors. What others run on them is known as a sum only: if that is more than a
// quarter, the model does not fit.
func processorStation(c *diagnosis.Case) *station {
	s := &station{kind: kindProcessors, more: "processor", room: queueing.One, model: hostProcessors(c)}
	s.customers(c, atProcessor)
	s.beside(c, threads(c), timeline.None)
	return s
}

// hostProcessors is the host's processors as a server without customers.
func hostProcessors(c *diagnosis.Case) queueing.Server {
	return queueing.Server{Servers: int(max(1, c.Manifest.CPUs)), Slice: processorSlice}
}

// threads returns the strands that processors run.
func threads(c *diagnosis.Case) (out []timeline.StrandID) {
	for i := range c.Strands {
		if c.Strands[i].Goroutine == recording.NoGoroutine {
			out = append(out, timeline.StrandID(i))
		}
	}
	return out
}

// atProcessor returns the role of a segment for the processors.
func atProcessor(_ *timeline.Request, g *timeline.Segment) role {
	switch g.Cause {
	case timeline.CauseRunnable:
		return roleWaits
	case timeline.CauseOnCPU:
		return roleWorks
	}
	return roleNone
}

// processorSlice is about how long a thread runs while others want its processor.
const processorSlice Duration = 3 * milli
