package hypotheses

import (
	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

func load() diagnosis.Hypothesis {
	return diagnosis.Hypothesis{
		ID:    "load",
		Title: "More requests arrive than the service can serve",
		Doc: "Supported by requests that wait for a server which is saturated: the event loop that they depend on, or the host's processors, " +
			"want to run 90 % of the time while slow requests arrive, the processors for three quarters with the service itself. Requests in flight for slow beside ordinary requests show the knee.",
		Queue:    true,
		Needs:    []string{recording.HookSched, recording.HookIO},
		Explains: []string{"accept-queue", "run-queue"},
		Test:     testLoad,
	}
}

// mostlyOurs is how much of the busy processors' time is the service's own if its load
// is what saturates them.
const mostlyOurs = diagnosis.Whole / 4 * 3

func testLoad(c *diagnosis.Case) diagnosis.Result {
	h := hostLoad(c)
	busy, loop := loopDemand(c)
	server, place := "the event loop wants to run", threadName(c, loop)
	own := diagnosis.Whole
	if loop == timeline.None || busy < c.Saturated && h.busy > busy {
		server, place, busy = "the host's processors are busy", "the host's processors", h.busy
		own = diagnosis.ShareOf(int64(ours(c)), int64(h.busy)) // or the service is not what they are busy with
	}
	flying := inFlight(c)
	ev := []diagnosis.Evidence{
		diagnosis.Part("of the time "+server, busy).Against(int64(c.Saturated)),
		arrivals(c),
		diagnosis.Count("others in flight when an ordinary request arrives", meanOf(flying, c.Overall.Ordinary)).On(c.Overall.Ordinary),
		diagnosis.Count("others in flight when a slow request arrives", meanOf(flying, c.Overall.Slow)).On(c.Overall.Slow),
	}
	res := diagnosis.Result{Evidence: ev}
	switch {
	case loop == timeline.None && !h.known:
		res.Undecided = "neither an event loop nor samples of the host say how busy the server was"
	case busy >= c.Saturated && own < mostlyOurs:
		res.Evidence = append([]diagnosis.Evidence{diagnosis.Part("of the busy processors' time is the service's own", own).Against(int64(mostlyOurs))}, ev...)
	case busy >= c.Saturated:
		res.Candidates = []diagnosis.Candidate{{
			Place:    place,
			Title:    "More requests arrive than the service can serve: " + percent(busy) + " of the time " + server,
			Fix:      "make each request cheaper (findings above), add instances or processes, or turn requests away earlier",
			Next:     "record again at a lower rate: waits that vanish are load, times that stay are the request's own",
			Spans:    c.Spans(func(_ *timeline.Request, s *timeline.Segment) bool { return queues(s) }),
			Evidence: ev,
		}}
	}
	return res
}

// arrivals is the rate from the first to the last arrival.
func arrivals(c *diagnosis.Case) diagnosis.Evidence {
	first, _ := c.Busy()
	last := first
	for _, id := range c.Overall.Requests {
		last = max(last, c.Requests[id].Start)
	}
	return diagnosis.Rate("requests arrive", max(0, len(c.Overall.Requests)-1), last.Sub(first))
}

// ours returns the share of the host's processors that the watched threads used while
// requests were measured.
func ours(c *diagnosis.Case) diagnosis.Share {
	from, to := c.Busy()
	var ran Duration
	for i := range c.Strands {
		ran += c.Running(timeline.StrandID(i), from, to)
	}
	return diagnosis.ShareOf(int64(ran), int64(to.Sub(from))*max(1, c.Manifest.CPUs))
}

// queues reports whether a segment is a wait for a server's turn.
func queues(s *timeline.Segment) bool {
	switch s.Cause {
	case timeline.CauseRunnable, timeline.CauseEventLoop:
		return true
	}
	return s.Phase == timeline.PhaseUnread && (s.Cause == timeline.CauseOnCPU || s.Cause == timeline.CausePool)
}
