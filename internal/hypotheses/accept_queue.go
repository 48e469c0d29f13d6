package hypotheses

import (
	"slices"
	"strconv"
	"strings"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

func acceptQueue() diagnosis.Hypothesis {
	return diagnosis.Hypothesis{
		ID:    "accept-queue",
		Title: "Requests wait before the server reads them",
		Doc: "They lie unread in their sockets because no worker is free to read them.\n\n" +
			"Support: the time until a request is read, if one of these is true:\n\n" +
			"- It is the first request on a new connection, and every worker is busy: the worker serves another request, or waits for more on a connection that it has answered. An event loop is busy if it wants to run 90 % of the time.\n" +
			"- Each connection belongs to one worker. The request's worker serves another request, while another worker of the process, which serves before and after, sleeps all that time.\n" +
			"- The request came on a connection that was kept, and its worker serves a request of another connection.\n" +
			"- Requests wait for the carriers of virtual threads, and during half of that time virtual threads are pinned to the carriers.\n" +
			"- The request came on a new connection, and the goroutine that accepts connections itself waits for other goroutines of its program.\n\n" +
			"Not this: a request that waits behind an earlier request on its own connection. dwell does not see the accept itself; the depth of the accept queue is evidence only.\n\n" +
			"Saving: those waits are taken out of each request.",
		Queue: true,
		Needs: []string{recording.HookSockets, recording.HookIO, recording.HookArrivals},
		Where: true,
		Test:  testAcceptQueue,
	}
}

func testAcceptQueue(c *diagnosis.Case) diagnosis.Result {
	fresh := newConnections(c)
	busy, loop := loopDemand(c)
	var waits []Duration
	counted := diagnosis.RequestID(timeline.None)
	first := func(r *timeline.Request) bool { return r.Ordinal == 0 && fresh[r.Conn] }
	before := c.SpansAmong(first, func(_ *timeline.Request, s *timeline.Segment) bool { return s.Phase == timeline.PhaseUnread })
	for _, sp := range before {
		if sp.Request != counted {
			waits = append(waits, 0)
			counted = sp.Request
		}
		waits[len(waits)-1] += sp.To.Sub(sp.From)
	}
	slices.Sort(waits)
	saturated, serving := loop != timeline.None && busy >= c.Saturated, waitedFor(c)
	may := func(r *timeline.Request) bool {
		return r.HasPhase(timeline.PhaseUnread) && (r.Has(timeline.CausePool) || first(r))
	}
	spans := c.SpansAmong(may, func(r *timeline.Request, s *timeline.Segment) bool {
		if !first(r) {
			return forWorker(c, r, s) && serving.others(r, s)
		}
		return s.Phase == timeline.PhaseUnread && (s.Cause == timeline.CausePool || saturated)
	})
	own := behindTheirOwn(c)
	spans = slices.DeleteFunc(spans, func(sp diagnosis.Span) bool {
		return slices.ContainsFunc(own[sp.Request], func(o diagnosis.Span) bool { return o.From >= sp.From && o.To <= sp.To })
	})
	depth, limit := deepest(c)
	ev := []diagnosis.Evidence{
		diagnosis.NS("p99 of the wait for the first read of a new connection", diagnosis.Quantile(waits, 99)),
		diagnosis.Count("requests on new connections that waited", len(waits)),
	}
	if limit > 0 {
		ev = append(ev, diagnosis.Count("connections in the longest accept queue (limit "+diagnosis.Thousands(limit)+")", int(depth)))
	}
	loopBusy := ""
	if loop != timeline.None {
		demand := diagnosis.Part("of the time the event loop wants to run", busy).Against(int64(c.Saturated))
		if ev = append(ev, demand); len(spans) == 0 { // no request waited behind a busy server: how busy the loop is goes first
			ev = append([]diagnosis.Evidence{demand}, ev[:len(ev)-1]...)
		}
		loopBusy = "the event loop wants to run " + diagnosis.Percent(busy) + " of the time (threshold " + diagnosis.Percent(c.Saturated) + ")"
	}
	res := diagnosis.Result{Evidence: ev, Lead: acceptLead(c, len(fresh), spans, loopBusy)}
	if cd := behindPinned(c, ev); cd != nil {
		res.Candidates = []diagnosis.Candidate{*cd}
	} else if len(spans) > 0 {
		who := ""
		if saturated {
			who = "the event loop wants to run " + diagnosis.Percent(busy) + " of the time"
		}
		res.Candidates = []diagnosis.Candidate{behindTheQueue(c, who, spans, ev)}
	}
	if cd := ownWorker(c, own); cd != nil {
		res.Candidates = append(res.Candidates, *cd)
	}
	return res
}

// newConnections returns the connections that were opened, and those on which a request had lain unread for long before
// the recording began.
func newConnections(c *diagnosis.Case) map[recording.ConnID]bool {
	fresh := map[recording.ConnID]bool{}
	for i := range c.Conns {
		if cn := &c.Conns[i]; cn.Side == recording.Inbound && !cn.Existing {
			fresh[cn.ID] = true
		}
	}
	for i := range c.Requests {
		if r := &c.Requests[i]; r.Queued {
			fresh[r.Conn] = true
		}
	}
	return fresh
}

// unserved counts the new connections on which nothing was read although they had been open for at least unservedLong
// at the end of the recording, or of a window of it.
func unserved(c *diagnosis.Case) (n int) {
	for i := range c.Conns {
		cn := &c.Conns[i]
		if cn.Side == recording.Inbound && !cn.Existing && cn.Exchanges == 0 && cn.Closed == recording.NoTime && c.SeenUntil(cn, cn.Opened).Sub(cn.Opened) >= unservedLong {
			n++
		}
	}
	return n
}

// unservedLong is how long a new connection has to be open without an exchange to be counted.
const unservedLong = 1_000_000_000 // ns

// behindTheQueue names what keeps requests from being read: who, or if that is empty the goroutine that takes
// connections or the workers, which are busy or linger.
func behindTheQueue(c *diagnosis.Case, who string, spans []diagnosis.Span, ev []diagnosis.Evidence) diagnosis.Candidate {
	fix := "find what keeps the workers busy (above); if they cannot be relieved, run more workers or processes, or more instances"
	taker := takerWaits(c)
	switch lingered, waited := lingering(c); {
	case who != "":
	case 2*taker.total > diagnosis.Total(spans):
		who = "the goroutine that accepts connections waits for other goroutines" + taker.from()
		fix = "if a listener limits how many connections it lets in (netutil.LimitListener), raise the limit, or have clients close the connections that they do not use; " +
			"otherwise let nothing wait between one Accept and the next"
	case 4*lingered > waited:
		who = "its workers wait for the next request on connections that they have answered"
		if 2*lingered <= waited {
			who = "its workers are busy, or wait for the next request on connections that they have answered"
		}
		fix = lingerFix
		ev = append(ev, diagnosis.Part("of the wait for workers passes while they serve no request", diagnosis.ShareOf(int64(lingered), int64(waited))))
	default:
		who = "all its workers are busy"
		if what, _ := mostlyDid(c, readers(c, spans)); strings.HasPrefix(what, waitFor) {
			who = "its workers are busy with other requests, and mostly " + what
			fix = moreWorkers(c, spans)
		}
	}
	return diagnosis.Candidate{
		Place:    listenerName(c),
		Title:    "Requests wait before the server reads them: " + who,
		Fix:      fix,
		Next:     "compare the number of workers with the number of requests in flight, and with the connections that clients keep open",
		Spans:    spans,
		Evidence: ev,
		WhatIf:   stationAt(c, kindWorkers, func(*station) bool { return true }).whatIfs(c),
	}
}

// moreWorkers is the advice for workers that mostly wait while they serve requests, by the runtime of the process for
// which most of the requests of some spans wait.
func moreWorkers(c *diagnosis.Case, spans []diagnosis.Span) string {
	const more, single = "run more workers or processes", "; if one worker serves many connections, do not block it: "
	switch runtimeOf(c, c.Requests[spans[0].Request].Process) {
	case recording.RuntimePython:
		return more + " (gunicorn --workers and --threads, uvicorn --workers)" + single + "await an asynchronous client, or move the blocking call to asyncio.to_thread"
	case recording.RuntimeNode:
		return more + " (node:cluster)" + single + "use the call's asynchronous form"
	case recording.RuntimeRuby:
		return more + " (puma -w and -t)"
	case recording.RuntimeJVM:
		return more + " (such as server.tomcat.threads.max)" + single + "use an asynchronous client, or hand the blocking call to an executor"
	case recording.RuntimeGo:
		return more
	}
	return more + single + "use the call's asynchronous form, or a thread for what blocks (tokio: spawn_blocking)"
}

// readers returns the workers that finally read the requests, each with the span in which it had not read the request
// yet.
func readers(c *diagnosis.Case, spans []diagnosis.Span) (out []stay) {
	for _, sp := range spans {
		out = append(out, stay{Span: sp, strand: c.Requests[sp.Request].Strand})
	}
	return out
}

// takerWaits returns how long requests waited, unread, while the goroutine that took their connections waited itself.
func takerWaits(c *diagnosis.Case) spent {
	return spentIn(c, timeline.CausePool, slices.DeleteFunc(stays(c, timeline.CausePool, func(s *timeline.Segment) bool { return s.Phase == timeline.PhaseUnread }), func(w stay) bool {
		by, ok := c.Goroutines.Starters[c.Requests[w.Request].Strand]
		return !ok || w.strand != by
	}))
}

// lingerFix is the advice for workers that wait for more on connections that they have answered.
const lingerFix = "run as many workers as there are connections that clients keep open; or let no worker wait for one connection's next request while other " +
	"connections have requests (Puma: max_fast_inline 1); or put a proxy in front that keeps few connections"

// lingering returns how long requests waited, unread, for workers, and for how much of that the workers served nobody:
// they waited for more on a connection that they had answered.
func lingering(c *diagnosis.Case) (lingered, waited Duration) {
	serving := waitedFor(c)
	for _, id := range c.With(timeline.CausePool) {
		r := &c.Requests[id]
		for s := r.Segments(); s.Next(); {
			if !forWorker(c, r, &s.Segment) || s.Strand == timeline.None {
				continue
			}
			waited += s.To.Sub(s.From)
			lingered += s.To.Sub(s.From) - within(serving[s.Strand], s.From, s.To)
		}
	}
	return lingered, waited
}

func acceptLead(c *diagnosis.Case, fresh int, spans []diagnosis.Span, loopBusy string) string {
	switch {
	case fresh == 0:
		return "none of " + diagnosis.Plural(len(c.Overall.Requests), "request") + " came on a new connection"
	case len(spans) > 0:
		share := diagnosis.ShareOf(int64(diagnosis.Total(spans)), int64(c.Time()))
		return diagnosis.Percent(share) + " of all request time is spent waiting for a busy worker to read the request"
	case loopBusy != "":
		return loopBusy
	}
	came := diagnosis.Thousands(int64(fresh)) + " came"
	if n := unserved(c); n > 0 {
		came += "; on " + diagnosis.Thousands(int64(n)) + " of them nothing was read for at least a second, until the recording ended"
	}
	return "no busy worker kept a new connection waiting (" + came + ")"
}

// deepest returns the longest accept queue seen and its limit.
func deepest(c *diagnosis.Case) (depth, limit int64) {
	for i := range c.Listeners {
		l := &c.Listeners[i]
		limit = max(limit, l.Limit)
		for _, d := range l.Depths {
			depth = max(depth, d.Depth)
		}
	}
	return depth, limit
}

func listenerName(c *diagnosis.Case) string {
	if len(c.Listeners) != 1 {
		return "the listening sockets"
	}
	return "listening port " + strconv.FormatInt(c.Listeners[0].Port, 10)
}
