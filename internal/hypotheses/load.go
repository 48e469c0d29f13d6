package hypotheses

import (
	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

func load() diagnosis.Hypothesis {
	return diagnosis.Hypothesis{
		ID:    "load",
		Title: "Requests arrive faster than the service serves them, always or in bursts",
		Doc: "A server with a queue is saturated, so each request waits for the ones before it.\n\n" +
			"Support: requests that wait for a server that is busy 90 % of the time while slow requests arrive:\n\n" +
			"- the event loop that they depend on;\n" +
			"- the threads that serve one request at a time;\n" +
			"- the host's processors, if three quarters of that is the service itself. Less is enough if more arrives than they could do alone: the arriving requests compute for 90 % of the processors' time, or clients send as fast as they are " +
			"answered to a service that has half of what the processors do.\n\n" +
			"Requests in flight for slow beside ordinary requests show the knee.\n\n" +
			"Not this: threads that are busy with waiting for a processor, while requests wait longer for processors than for those threads; nor carriers to which virtual threads are pinned for half of that time. A server with time to spare is " +
			"a lead if requests wait for it as the replay of their arrivals does, or if during half of their waits for processors all of those compute for other requests. That lead is reported after cpu-bound if half of what requests compute " +
			"would save more by itself than by the waits that go with it.\n\n" +
			"Saving: all waits for a saturated server are taken out of each request. For a lead it is what the replay says they would wait less.",
		Queue:    true,
		Needs:    []string{recording.HookSched, recording.HookIO},
		Explains: []string{"accept-queue", "run-queue"},
		Test:     testLoad,
	}
}

// mostlyOurs is the share of the busy processors' time that must be the service's own if its load is what saturates
// them.
const mostlyOurs = diagnosis.Whole / 4 * 3

// server is what requests wait for a turn of.
type server struct {
	place string
	is    string // "the event loop wants to run"
	busy  diagnosis.Share
	own   diagnosis.Share // of what it is busy with: the service's own part
	waits func(*diagnosis.Case, *timeline.Request, *timeline.Segment) bool
	known bool

	loop    timeline.StrandID // or None
	workers bool
	beside  string // what else it is busy with, to follow a title
}

// serverOf returns the server that is the bottleneck: the event loop or the workers that slow requests depend on; or,
// if those have time to spare, the host's processors. Workers that are busy with waiting for a processor are no
// bottleneck while requests wait longer for processors than for them. Nor are carriers to which virtual threads are
// pinned.
func serverOf(c *diagnosis.Case) server {
	h := hostLoad(c)
	if w := waitedFor(c); len(w) > 0 {
		held, _ := pinned(c) // if that is half, more workers would not help
		if busy := w.busy(c); busy >= c.Saturated && busy > h.busy && 2*held < diagnosis.Whole && (h.busy < c.Saturated || timeIn(c, forWorker) > timeIn(c, ready)) {
			place, is := "its only worker", "its only worker serves another request"
			if len(w) > 1 {
				place = "its " + diagnosis.Plural(len(w), "worker")
				is = place + " serve other requests"
			}
			return server{place, is, busy, diagnosis.Whole, forWorker, true, timeline.None, true, ""}
		}
	}
	busy, loop := loopDemand(c)
	if loop == timeline.None || busy < c.Saturated && h.busy > busy {
		own := diagnosis.ShareOf(int64(ours(c)), int64(h.busy)) // little, if the service is not what they are busy with
		s := server{"the host's processors", "the host's processors are busy", h.busy, own, queues, h.known, timeline.None, false, ""}
		if own < mostlyOurs && (needed(c) >= c.Saturated || 2*own >= diagnosis.Whole && paced(c)) { // it would saturate them alone
			s.own, s.beside = diagnosis.Whole, "; "+diagnosis.Percent(own)+" of that is the service, which has more work than it gets processors for"
		}
		return s
	}
	return server{threadName(c, loop), "the event loop wants to run", busy, gotProcessor(c, loop), queues, true, loop, false, ""}
}

func testLoad(c *diagnosis.Case) diagnosis.Result {
	s := serverOf(c)
	flying := inFlight(c)
	ev := []diagnosis.Evidence{
		diagnosis.Part("of the time "+s.is, s.busy).Against(int64(c.Saturated)),
		arrivals(c),
		diagnosis.Count("other requests in flight when an ordinary request arrives", meanOf(flying, c.Overall.Ordinary)).On(c.Overall.Ordinary),
		diagnosis.Count("other requests in flight when a slow request arrives", meanOf(flying, c.Overall.Slow)).On(c.Overall.Slow),
	}
	often := s.is + " " + diagnosis.Percent(s.busy) + " of the time"
	res := diagnosis.Result{Evidence: ev, Lead: often}
	switch {
	case !s.known:
		res.Undecided = "neither an event loop nor samples of the host show how busy the server was"
	case s.busy < c.Saturated:
		res.Lead = often + " (threshold " + diagnosis.Percent(c.Saturated) + ")"
		follow := false
		if res.Candidates, follow = queued(c, ev); len(res.Candidates) == 0 {
			res.Candidates, follow = forEachOthersWork(c, &s, ev), true
		}
		if follow && !queueFirst(c) {
			res.After = "cpu-bound"
		}
	case s.own < mostlyOurs:
		res.Evidence = append([]diagnosis.Evidence{diagnosis.Part("of that is the service's own", s.own).Against(int64(mostlyOurs))}, ev...)
		res.Lead = often + ", but " + diagnosis.Percent(s.own) + " of that is the service (threshold " + diagnosis.Percent(mostlyOurs) + ")"
		if s.loop != timeline.None {
			res.Lead = often + ", but gets a processor for " + diagnosis.Percent(s.own) + " of that (threshold " + diagnosis.Percent(mostlyOurs) + "): other programs have the processors"
		}
	default:
		res.Candidates = []diagnosis.Candidate{{
			Place:    s.place,
			Title:    "More requests arrive than the service can serve: " + diagnosis.Percent(s.busy) + " of the time " + s.is + s.beside,
			Fix:      "make each request cheaper, add workers, processes or instances, or reject requests early",
			Next:     "record again with less traffic: if these waits go, they were load",
			Spans:    c.Spans(func(r *timeline.Request, g *timeline.Segment) bool { return s.waits(c, r, g) }),
			Evidence: ev,
			WhatIf:   s.station(c).whatIfs(c),
		}}
	}
	return res
}

// station returns the server as a model; nil if no request waited for it.
func (s *server) station(c *diagnosis.Case) *station {
	switch {
	case s.loop != timeline.None:
		return stationAt(c, kindLoop, func(x *station) bool { return x.loop == s.loop })
	case s.workers:
		return stationAt(c, kindWorkers, func(*station) bool { return true })
	}
	return stationAt(c, kindProcessors, func(*station) bool { return true })
}

// queued returns the servers with time to spare that requests wait for all the same, as the replay of their arrivals
// shows. They are leads: the recording cannot tell whether requests come too close together, or each is too expensive.
// follow reports whether those waits follow from what requests compute.
func queued(c *diagnosis.Case, ev []diagnosis.Evidence) (out []diagnosis.Candidate, follow bool) {
	follow = true
	for _, s := range stations(c) {
		if s.kind != kindLoop && s.kind != kindWorkers && s.kind != kindProcessors || !s.fits() {
			continue
		}
		if s.kind == kindLoop { // waits behind long callbacks are not a queue of short ones
			if long, _ := holds(c, s.loop); 2*diagnosis.Total(waitsBehind(c, s.loop, long)) > s.waited() {
				continue
			}
		}
		follow = follow && s.kind != kindWorkers && s.follows()
		m := s.mend(c)
		out = append(out, diagnosis.Candidate{
			Place:    s.called(),
			Title:    "Requests wait " + meanWords(c, s.waits...) + " for their turn at the " + s.called() + ": they come in bursts or close together; " + s.busyWith(c),
			Lead:     "waiting for the " + s.called() + " takes " + diagnosis.Percent(diagnosis.ShareOf(int64(s.waited()), int64(c.Time()))) + " of all request time",
			Fix:      "make each request cheaper, or add workers, processes or instances",
			Next:     "dwell why REC --load x0.5",
			Decide:   "record again with less traffic, or ask dwell why REC --load x0.5: if these waits go, requests waited for each other",
			Spans:    spansOf(m.gone),
			Evidence: append(s.evidence(c), ev...),
			WhatIf:   s.whatIfs(c),
		})
	}
	return out, follow
}

// forEachOthersWork is the lead about waits for processors all of which compute for other requests meanwhile. That is
// load at times, whatever the processors do in between.
func forEachOthersWork(c *diagnosis.Case, s *server, ev []diagnosis.Evidence) []diagnosis.Candidate {
	spans := behindComputing(c)
	share := diagnosis.ShareOf(int64(diagnosis.Total(spans)), int64(c.Time()))
	if share < c.Worth || 2*diagnosis.Total(spans) < timeIn(c, ready) {
		return nil
	}
	return []diagnosis.Candidate{{
		Place:    "the host's processors",
		Title:    "Requests wait " + meanWords(c, spans) + " for a processor: they come in bursts that keep all processors busy, although " + s.is + " only " + diagnosis.Percent(s.busy) + " of the time overall",
		Lead:     "waiting for a processor while all processors compute for other requests takes " + diagnosis.Percent(share) + " of all request time",
		Fix:      "make each request cheaper, or add workers, processes or instances",
		Next:     "dwell why REC --load x0.5",
		Decide:   "record again with less traffic: if these waits go, requests waited for each other",
		Spans:    spans,
		Evidence: ev,
		WhatIf:   s.station(c).whatIfs(c),
	}}
}

// gotProcessor returns for how much of the time in which a loop wants to run it does run, on a host whose processors
// others use, too.
func gotProcessor(c *diagnosis.Case, loop timeline.StrandID) diagnosis.Share {
	from, to := c.Busy()
	ran, ready := c.Running(loop, from, to), c.In(loop, timeline.StateRunnable, from, to)
	if h := hostLoad(c); !h.known || ours(c) >= diagnosis.Share(mostlyOurs.Of(Duration(h.busy))) {
		return diagnosis.Whole // it competes with the service's own threads
	}
	return diagnosis.ShareOf(int64(ran), int64(ran+ready))
}

// arrivals is the rate from the first to the last arrival.
func arrivals(c *diagnosis.Case) diagnosis.Evidence {
	in, n := arriving(c)
	return diagnosis.Rate("requests arrive", max(0, n-1), in)
}

// arriving returns how long it is from the first to the last arrival, as far as it was recorded, and how many requests
// came. Requests that were unread since before the recording are left out: when they came is not known.
func arriving(c *diagnosis.Case) (in Duration, requests int) {
	var first, last diagnosis.Time
	for _, id := range c.Measured() {
		r := &c.Requests[id]
		if r.Queued {
			continue
		}
		if requests++; requests == 1 {
			first, last = r.Start, r.Start
		}
		first, last = min(first, r.Start), max(last, r.Start)
	}
	return c.InWindows(first, last), requests
}

// ours returns the share of the host's processors that the watched threads used while
// requests were measured.
func ours(c *diagnosis.Case) diagnosis.Share {
	from, to := c.Busy()
	var ran Duration
	for i := range c.Strands {
		ran += c.Running(timeline.StrandID(i), from, to)
	}
	return diagnosis.ShareOf(int64(ran), int64(c.BusyTime())*max(1, c.Manifest.CPUs))
}

// ready reports whether a segment is a wait for a processor.
func ready(_ *diagnosis.Case, _ *timeline.Request, s *timeline.Segment) bool {
	return s.Cause == timeline.CauseRunnable
}

// timeIn returns how long all requests wait for a server.
func timeIn(c *diagnosis.Case, waits func(*diagnosis.Case, *timeline.Request, *timeline.Segment) bool) Duration {
	return diagnosis.Total(c.Spans(func(r *timeline.Request, s *timeline.Segment) bool { return waits(c, r, s) }))
}

// queues reports whether a segment is a wait for a server's turn.
func queues(_ *diagnosis.Case, _ *timeline.Request, s *timeline.Segment) bool {
	switch s.Cause {
	case timeline.CauseRunnable, timeline.CauseEventLoop:
		return true
	}
	return s.Phase == timeline.PhaseUnread && (s.Cause == timeline.CauseOnCPU || s.Cause == timeline.CausePool)
}
