package hypotheses

import (
	"cmp"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

func linearScan() diagnosis.Hypothesis {
	return diagnosis.Hypothesis{
		ID:    "linear-scan",
		Title: "CPU time grows with the data, as where something is looked for item by item",
		Doc: "A search without an index takes longer the more there is to search.\n\n" +
			"Support comes in one of two ways:\n\n" +
			"- The CPU time of an endpoint's requests grows from call to call: a line through medians (Theil and Sen) rises by a quarter with 99 % confidence, and steadily. The function named is the one beneath which it grows. Legs of requests " +
			"come first: what each computes before, during and after its calls to peers. A leg is what grows if it grows by a quarter more, in proportion, than the rest of the same requests may have grown (processors that become slower slow " +
			"both). It may do so in all requests; in the later half, as compilers warm up before; or each time until garbage is collected, as collectors move what is walked through next to each other, which shortens each step.\n" +
			"- Half of the CPU time goes on to the next item of a collection, as frames show (iterators of maps, of cursors), in long walks, and requests differ by nothing else.\n\n" +
			"Not this: it is refuted if CPU time stays the same from call to call and goes into no such walk, and undecided if there are too few calls. Without a function that enough stacks name, growth of the whole request to less than three " +
			"times its beginning is a lead: the processors may have become slower. Walks that are as long in each request are a lead too: they may be what the request is for.\n\n" +
			"Saving: what requests compute beneath that function is taken out. So are waits for a processor or for their interpreter meanwhile, in the share in which those worked beneath it.",
		Needs:    []string{recording.HookSched, recording.HookIO},
		Explains: []string{"cpu-bound", "cold-start", "run-queue", "interpreter-lock", "accept-queue", "load"},
		Test:     testLinearScan,
	}
}

// Bounds of a linear scan.
const (
	scanCalls = 60                       // fewer calls of an endpoint show no trend
	scanBins  = 20                       // at most so many medians, each of a run of consecutive calls
	scanRun   = 6                        // at least so many calls in a run
	scanRise  = 4                        // a rise is at least one part in so many of the beginning
	scanAgree = diagnosis.Whole / 10 * 6 // pairs of runs that rise, less those that fall: for a step it is half
	scanTiny  = Duration(20_000)         // CPU time that is noise
	// Processors that share caches, or are shared, make the same code take at most about twice as long. If no function is
	// known beneath which the growth lies, it is the code's only from this many times the beginning on.
	scanSlowed = 2
)

// scanned is what the requests of one endpoint show.
type scanned struct {
	of    *diagnosis.Symptom
	order []diagnosis.RequestID   // by start
	whole []diagnosis.RequestID   // those of them whose CPU time is known completely
	split [][]diagnosis.RequestID // these, divided where their cost may jump; nil: nowhere
	cost  []Duration              // own CPU, by request
	all   Duration                // sum of cost
	trend diagnosis.Trend
	moved bool   // more and more requests are in flight from call to call, too
	on    *onLeg // the leg that cost, trend and samples are about; nil: all of each request
	list  []sampling
	spots spots

	unclear string // why it cannot be decided, as judge says
}

func testLinearScan(c *diagnosis.Case) diagnosis.Result {
	var res diagnosis.Result
	known, all := 0, 0 // known: requests of which next to no time is unknown
	cost := ownCost(c)
	sampled := newSamples(c)
	var most *scanned
	for i := range c.Symptoms {
		s := scanOf(c, &c.Symptoms[i], cost, sampled)
		if most == nil || s.all > most.all {
			most = s
		}
		cd, unclear := s.judge(c)
		if cd != nil {
			res.Candidates = append(res.Candidates, *cd)
		}
		s.unclear = unclear
		known, all = known+len(s.whole), all+len(s.order)
	}
	if 4*known < 3*all { // else what grows from call to call would show in the known ones
		res.Hidden = c.Gaps()
	}
	if most == nil {
		return res
	}
	res.Evidence, res.Lead = most.evidence(), most.lead()
	if most.unclear != "" && len(res.Candidates) == 0 && most.matters(c) {
		res.Undecided = diagnosis.Human(most.mean(most.of.Slow)) + " of a slow request " + most.unclear
	}
	return res
}

// matters reports whether an endpoint's own CPU, and what it waits for a processor, could
// be a finding at all.
func (s *scanned) matters(c *diagnosis.Case) bool {
	some := func(ids []diagnosis.RequestID, of, noise Duration) bool {
		return s.mean(ids)+s.queued(c, ids) >= max(c.Resolution, c.Open.Of(of), noise)
	}
	return some(s.of.Ordinary, s.of.P50, s.of.Noise50) || some(s.of.Slow, s.of.P99, s.of.Noise99)
}

// queued is the mean time that requests wait for a processor.
func (s *scanned) queued(c *diagnosis.Case, ids []diagnosis.RequestID) (d Duration) {
	for _, id := range ids {
		for g := c.Requests[id].Segments(); g.Next(); {
			if g.Cause == timeline.CauseRunnable {
				d += g.To.Sub(g.From)
			}
		}
	}
	return d / Duration(max(1, len(ids)))
}

// ownCost sums each request's own CPU time.
func ownCost(c *diagnosis.Case) []Duration { return costOf(c, ownSpans(c)) }

// costOf sums up the spans of each request.
func costOf(c *diagnosis.Case, spans []diagnosis.Span) []Duration {
	cost := make([]Duration, len(c.Requests))
	for _, sp := range spans {
		cost[sp.Request] += sp.To.Sub(sp.From)
	}
	return cost
}

// judge decides about an endpoint: it returns a candidate, or why that cannot be decided, or neither.
func (s *scanned) judge(c *diagnosis.Case) (cd *diagnosis.Candidate, unclear string) {
	if s.all/Duration(max(1, len(s.order))) < scanTiny {
		return nil, ""
	}
	grown, walk := s.grown(c), s.walk()
	switch {
	case grown != nil:
		return grown.growing(c), ""
	case walk != nil:
		return s.walking(c, walk, s.varies(c, walk)), ""
	case len(s.whole) < scanCalls:
		return nil, "is CPU time of too few requests to see whether it grows (" + diagnosis.Plural(len(s.whole), "request") + " of " + s.endpoint() + ", " + diagnosis.Plural(scanCalls, "request") + " needed)"
	case s.spots.samples < fewSamples:
		return nil, "is CPU time of code that was not sampled: dwell cannot see a walk through data whose size stays the same"
	case (s.trend.Change >= s.rise() || s.trend.High >= max(s.rise(), s.trend.Start)) && s.trend.Low > -s.rise(): // it seems to grow, or may have doubled
		return nil, "is CPU time that varies too much to see whether it grows: by " + diagnosis.Human(s.trend.Low) + " to " + diagnosis.Human(s.trend.High) + ", from " + diagnosis.Human(s.trend.Start)
	}
	return nil, ""
}

// rise is the change that the trend must reach.
func (s *scanned) rise() Duration { return max(scanTiny, s.trend.Start/scanRise) }

// grows reports whether CPU time rises from call to call. If more and more requests are in flight, processors that
// share caches slow each other down; then it must double.
func (s *scanned) grows() bool {
	need := s.rise()
	if s.moved {
		need = max(need, s.trend.Start)
	}
	return len(s.whole) >= scanCalls && s.trend.Low >= need && s.trend.Agree >= scanAgree
}

// grown returns what grows of an endpoint's requests, if anything does: a leg of them, if that is known, else all of
// each.
func (s *scanned) grown(c *diagnosis.Case) *scanned {
	if p := s.apart(c); p != nil {
		return p
	}
	if s.grows() {
		return s
	}
	return nil
}

// walk returns the place from which most of the CPU time goes through a collection, in long walks; nil if there is
// none.
func (s *scanned) walk() *spot {
	for _, at := range s.spots.list {
		if s.spots.samples >= fewSamples && at.steps >= fewSamples && 2*at.steps >= s.spots.samples && at.starts*scanBins <= at.steps {
			return at
		}
	}
	return nil
}

func (s *scanned) mean(ids []diagnosis.RequestID) (d Duration) {
	for _, id := range ids {
		d += s.cost[id]
	}
	return d / Duration(max(1, len(ids)))
}

func (s *scanned) lead() string {
	if len(s.whole) < scanCalls {
		return "a request's own CPU is " + diagnosis.Human(s.all/Duration(max(1, len(s.order))))
	}
	return "a request's own CPU" + s.on.when() + " is " + diagnosis.Human(s.trend.Start) + changes(s.trend.Change) + " in " +
		diagnosis.Plural(len(s.whole), "request") + " (threshold " + diagnosis.Human(s.rise()) + ")"
}

// endpoint names what was looked at: all endpoints, if none has enough requests.
func (s *scanned) endpoint() string { return cmp.Or(s.of.Endpoint, "all endpoints") }

func (s *scanned) evidence() []diagnosis.Evidence {
	if len(s.whole) < scanCalls {
		return []diagnosis.Evidence{diagnosis.Count("requests of "+s.endpoint(), len(s.whole)).Against(scanCalls)}
	}
	list := []diagnosis.Evidence{
		diagnosis.NS("growth of a request's own CPU from the first to the last (99 % confidence: "+diagnosis.Human(s.trend.Low)+" to "+diagnosis.Human(s.trend.High)+")", s.trend.Change).
			Against(int64(s.rise())).On(s.order),
		diagnosis.NS("own CPU of the first requests", s.trend.Start).On(s.order),
		diagnosis.Part("more pairs of requests rise than fall", s.trend.Agree).Against(int64(scanAgree)),
		diagnosis.Count("requests", len(s.whole)),
	}
	return append(list, s.on.evidence()...)
}

// changes says by how much a call's own CPU is more, or less, at the end.
func changes(d Duration) string {
	if d < 0 {
		return " and falls by " + diagnosis.Human(-d)
	}
	return " and grows by " + diagnosis.Human(d)
}
