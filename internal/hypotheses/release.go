package hypotheses

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

func release() diagnosis.Hypothesis {
	return diagnosis.Hypothesis{
		ID:    "release",
		Title: "Requests became slower when new processes took over, as after a deploy",
		Doc: "A deploy or a restart has replaced the processes.\n\n" +
			"Support: processes that ended, and others that began after those had served, are two generations. If only some of several workers were replaced, all are one generation. Requests of the newer generation, from 5 s after it took " +
			"over, must take longer at the same endpoint, by more than each generation differs within itself, and not because more requests arrive.\n\n" +
			"Not this: it is refuted if they do not take longer. It is undecided while they still become faster, and if one generation served all requests: that needs a recording across the deploy.\n\n" +
			"Saving: what was added, by what requests did or waited for, is taken out.",
		Needs: []string{recording.HookProcesses, recording.HookSockets, recording.HookIO},
		Test:  testRelease,
	}
}

// Bounds of a release.
const (
	settles    = Duration(5 * 1e9) // so long after it took over, a generation is no longer new
	moreArrive = 5                 // a rate higher by a quarter (5 to 4) is another load
	thanBefore = 4
	// A newer generation still becomes faster if, at the pace of the last two of four parts, half of the step would be
	// gone in as much time again.
	backInTime = 8
)

func testRelease(c *diagnosis.Case) diagnosis.Result {
	var res diagnosis.Result
	old, young, replaced := generations(c)
	if young == nil {
		res.Another = true
		res.Undecided = "the same processes served all " + diagnosis.Plural(len(c.Overall.Requests), "request") + ": record across a deploy to compare"
		if replaced > 0 {
			res.Undecided = processes(replaced) + " ended, but others that started as early went on: record across a deploy to compare"
		}
		return res
	}
	var most *turnover
	few := 0
	for i := range c.Symptoms {
		t := turnoverOf(c, &c.Symptoms[i], old, young)
		if t == nil {
			few++
			continue
		}
		if most == nil || t.step() > most.step() {
			most = t
		}
		switch why := t.unclear(); {
		case !t.slower(c):
		case why != "":
			res.Undecided = why
		default:
			res.Candidates = append(res.Candidates, t.candidate(c))
		}
	}
	if len(res.Candidates) > 0 {
		res.Undecided = ""
	}
	if most == nil {
		res.Undecided = fmt.Sprintf("too few requests to compare: an endpoint needs at least %d before new processes took over, and as many from 5 s after that", c.MinRequests)
		return res
	}
	res.Evidence, res.Lead = most.evidence(), most.lead()
	return res
}

// turnover is how long one endpoint's requests took before and after other processes
// took over.
type turnover struct {
	of         *diagnosis.Symptom
	old, young *generation
	before     []diagnosis.RequestID // the later half of the older generation's requests
	after      []diagnosis.RequestID // those of the newer, once it had settled
	all        []diagnosis.RequestID // those of the newer
	was, is    Duration              // medians of before and after
	p99s       [2]Duration
	drift      Duration // by which medians differ within a generation
	falls      bool     // those of the newer one still become shorter
	rates      [2]int64 // arrivals in 1000 s
}

// turnoverOf compares an endpoint's requests; nil if they are too few.
func turnoverOf(c *diagnosis.Case, of *diagnosis.Symptom, old, young *generation) *turnover {
	var first, all, later []diagnosis.RequestID
	for _, id := range slices.Sorted(slices.Values(of.Requests)) {
		r := &c.Requests[id]
		switch {
		case old.served(id):
			first = append(first, id)
		case young.served(id):
			all = append(all, id)
			if r.Start.Sub(max(old.ended, young.first)) >= settles {
				later = append(later, id)
			}
		}
	}
	byArrival(c, first)
	byArrival(c, later)
	n, m := len(first), len(later)
	if n/2 < c.MinRequests || m < 2*c.MinRequests {
		return nil
	}
	t := &turnover{of: of, old: old, young: young, before: first[n/2:], after: later, all: all}
	t.was, t.is = median(c, t.before), median(c, later)
	t.p99s = [2]Duration{quantileOf(c, t.before, 99), quantileOf(c, later, 99)}
	third, last := median(c, later[m/2:m/4*3]), median(c, later[m/4*3:])
	t.drift = max(apart(median(c, first[:n/2]), t.was), apart(third, last))
	fell := median(c, later[:m/2]) - median(c, later[m/2:]) // what warms up falls most at first
	t.falls = min(fell, third-last) >= max(c.Resolution/2, c.Worth.Of(last)/2, t.step()/backInTime)
	t.rates = [2]int64{rateOf(c, first), rateOf(c, later)}
	return t
}

func (t *turnover) step() Duration { return t.is - t.was }

// slower reports whether the newer generation is slower, by more than noise.
func (t *turnover) slower(c *diagnosis.Case) bool {
	return t.step() >= max(c.Resolution, c.Worth.Of(t.was)) && t.step() > 2*t.drift
}

// unclear says why the step need not come from the processes; "" if it must.
func (t *turnover) unclear() string {
	switch {
	case t.falls:
		return "requests of " + t.of.Endpoint + " take longer since new processes took over, but are still becoming faster: record longer"
	case t.rates[1]*thanBefore > t.rates[0]*moreArrive:
		return fmt.Sprintf("%s of %s take longer since new processes took over, but more arrive, too: %s/s instead of %s/s",
			"requests", t.of.Endpoint, perSecond(t.rates[1]), perSecond(t.rates[0]))
	}
	return ""
}

func perSecond(rate int64) string { return fmt.Sprintf("%d.%d", rate/1000, rate%1000/100) }

func (t *turnover) lead() string {
	return "p50 of " + t.of.Endpoint + " was " + diagnosis.Human(t.was) + " before new processes took over and is " + diagnosis.Human(t.is) + " since"
}

func (t *turnover) evidence() []diagnosis.Evidence {
	return []diagnosis.Evidence{
		diagnosis.NS("p50 since the new processes took over", t.is).On(t.after),
		diagnosis.NS("p50 before", t.was).On(t.before),
		diagnosis.NS("normal variation of p50 within one release", t.drift),
		diagnosis.NS("p99 since the new processes took over", t.p99s[1]).On(t.after),
		diagnosis.NS("p99 before", t.p99s[0]).On(t.before),
		diagnosis.Count("processes that served before", t.old.size()),
		diagnosis.Count("processes that serve since", t.young.size()),
		diagnosis.Count("requests compared", len(t.before)+len(t.after)),
	}
}

// took says which processes took over.
func (t *turnover) took(c *diagnosis.Case) string {
	if n := t.young.size(); n > 1 {
		return diagnosis.Thousands(int64(n)) + " new processes"
	}
	return "the new process " + t.young.name(c)
}

func (t *turnover) candidate(c *diagnosis.Case) diagnosis.Candidate {
	spans, where := t.extra(c)
	return diagnosis.Candidate{
		Place: t.young.name(c) + " instead of " + t.old.name(c),
		Title: "Requests became slower when " + t.took(c) + " took over, " + diagnosis.Human(t.young.first.Sub(c.Start)) +
			" into the recording: p50 of " + t.of.Endpoint + " rose from " + diagnosis.Human(t.was) + " to " + diagnosis.Human(t.is) + "; the extra time is mostly " + where,
		Fix:      "see what was deployed then; roll back if that is quicker than a repair",
		Next:     "record before and after a deploy: dwell diff shows which code and calls were added",
		Spans:    spans,
		Evidence: t.evidence(),
		AtLeast:  true,
	}
}

// kindOf is what a request did, or waited for.
type kindOf struct {
	phase timeline.Phase
	cause timeline.Cause
}

// words says what a request does or waits for, and in which phase if that says more.
func (k kindOf) words() string {
	switch k.phase {
	case timeline.PhaseHandler:
		return k.cause.Words()
	case timeline.PhaseUnread:
		return k.cause.Words() + " before they are read"
	case timeline.PhaseRemote:
		if k.cause == timeline.CauseRemote {
			return "waiting for a peer to answer"
		}
	}
	return k.cause.Words() + " in the phase " + k.phase.String()
}

// moreTime is how much longer some requests spend on each cause than others, on average.
type moreTime [timeline.NumCauses]Duration

// order returns the causes, the one with most more time first.
func (m *moreTime) order() []timeline.Cause {
	causes := make([]timeline.Cause, timeline.NumCauses)
	for i := range causes {
		causes[i] = timeline.Cause(i)
	}
	slices.SortStableFunc(causes, func(a, b timeline.Cause) int { return cmp.Compare(m[b], m[a]) })
	return causes
}

// most returns the cause of at least half of what they take longer, or the two that add most to it.
func (m *moreTime) most() (causes []timeline.Cause) {
	all := Duration(0)
	for _, d := range m {
		all += max(0, d)
	}
	for _, cause := range m.order()[:2] {
		if m[cause] > 0 {
			causes = append(causes, cause)
		}
		if 2*m[cause] >= all {
			break
		}
	}
	return causes
}

// extra takes out of the newer generation's requests what was added, kind by kind, and names the kind with most of
// that.
func (t *turnover) extra(c *diagnosis.Case) (spans []diagnosis.Span, where string) {
	was, is := kinds(c, t.before), kinds(c, t.after)
	var most Duration
	for phase := range timeline.NumPhases {
		for cause := range timeline.NumCauses {
			k := kindOf{phase, cause}
			if more := is[k] - was[k]; more > most {
				most, where = more, k.words()
			}
		}
	}
	for _, id := range t.all {
		for s := c.Requests[id].Segments(); s.Next(); {
			k := kindOf{s.Phase, s.Cause}
			if is[k] <= was[k] {
				continue
			}
			share := diagnosis.ShareOf(int64(is[k]-was[k]), int64(is[k]))
			if long := share.Of(s.To.Sub(s.From)); long > 0 {
				spans = append(spans, diagnosis.Span{Request: id, From: s.To - diagnosis.Time(long), To: s.To})
			}
		}
	}
	return spans, where
}

// kinds returns how long a request did, or waited for, each kind of thing, on average.
func kinds(c *diagnosis.Case, ids []diagnosis.RequestID) map[kindOf]Duration {
	sums := map[kindOf]Duration{}
	for _, id := range ids {
		for s := c.Requests[id].Segments(); s.Next(); {
			sums[kindOf{s.Phase, s.Cause}] += s.To.Sub(s.From)
		}
	}
	for k := range sums {
		sums[k] /= Duration(max(1, len(ids)))
	}
	return sums
}

func byArrival(c *diagnosis.Case, ids []diagnosis.RequestID) {
	slices.SortStableFunc(ids, func(a, b diagnosis.RequestID) int {
		return int(min(1, max(-1, c.Requests[a].Start-c.Requests[b].Start)))
	})
}

func quantileOf(c *diagnosis.Case, ids []diagnosis.RequestID, percent int) Duration {
	list := make([]Duration, len(ids))
	for i, id := range ids {
		list[i] = c.Requests[id].Duration()
	}
	slices.Sort(list)
	return diagnosis.Quantile(list, percent)
}

func median(c *diagnosis.Case, ids []diagnosis.RequestID) Duration { return quantileOf(c, ids, 50) }

func apart(a, b Duration) Duration { return max(a-b, b-a) }

// rateOf returns how many requests arrive in 1000 s.
func rateOf(c *diagnosis.Case, ids []diagnosis.RequestID) int64 {
	span := c.Requests[ids[len(ids)-1]].Start.Sub(c.Requests[ids[0]].Start)
	return int64(len(ids)-1) * 1_000_000 / max(1, int64(span)/1_000_000)
}
