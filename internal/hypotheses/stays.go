package hypotheses

import (
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/symbol"
)

// stay is a piece of a request's time in which the strand that it depended on waited.
type stay struct {
	diagnosis.Span
	strand timeline.StrandID // or None
	wait   timeline.WaitID   // or None
}

// stays returns the pieces of the measured requests' segments that keep accepts, each with the Wait in which it lies;
// in order of request and time. All have one cause.
func stays(c *diagnosis.Case, cause timeline.Cause, keep func(*timeline.Segment) bool) (out []stay) {
	n := 0
	eachStay(c, cause, keep, func(stay) { n++ })
	out = make([]stay, 0, n) // counted first: they may be millions
	eachStay(c, cause, keep, func(s stay) { out = append(out, s) })
	return out
}

// eachStay visits those pieces.
func eachStay(c *diagnosis.Case, cause timeline.Cause, keep func(*timeline.Segment) bool, visit func(stay)) {
	var s timeline.Segments // it escapes, as it is handed to keep: one for all
	for _, id := range c.With(cause) {
		for s = c.Requests[id].Segments(); s.Next(); {
			if s.Cause == cause && keep(&s.Segment) {
				staysIn(c, &s.Segment, id, visit)
			}
		}
	}
}

// manyWaits is how many Waits a segment is cut by at most. A segment with more is a sum: all that its strand waited,
// laid end to end, while many requests lay unread in front of it. Cutting it by each Wait, for each of those requests,
// would be quadratic.
const manyWaits = 64

// staysIn cuts a segment where the Waits of its strand begin and end.
func staysIn(c *diagnosis.Case, s *timeline.Segment, id diagnosis.RequestID, visit func(stay)) {
	at := stay{diagnosis.Span{Request: id, From: s.From, To: s.To}, s.Strand, timeline.None}
	if s.Strand == timeline.None {
		visit(at)
		return
	}
	waits := waitsIn(c, s)
	if len(waits) > manyWaits {
		d := s.To - s.From
		for k := range diagnosis.Time(manyWaits) { // of one length, each with the Wait that was under way in its middle, or was next
			i := min(firstBack(c, waits, s.From+d*(2*k+1)/(2*manyWaits)), len(waits)-1)
			visit(stay{diagnosis.Span{Request: id, From: s.From + d*k/manyWaits, To: s.From + d*(k+1)/manyWaits}, s.Strand, waits[i]})
		}
		return
	}
	for _, wait := range waits {
		w := &c.Waits[wait]
		from, to := max(w.From, at.From), min(w.Back, s.To)
		if from > at.From {
			visit(stay{diagnosis.Span{Request: id, From: at.From, To: from}, s.Strand, timeline.None})
		}
		if from < to {
			visit(stay{diagnosis.Span{Request: id, From: from, To: to}, s.Strand, wait})
			at.From = to
		}
	}
	if at.From < s.To {
		visit(at)
	}
}

// waitsIn returns the Waits of a segment's strand for its cause that touch it, in order of time.
func waitsIn(c *diagnosis.Case, s *timeline.Segment) []timeline.WaitID {
	type which struct {
		strand timeline.StrandID
		cause  timeline.Cause
	}
	lists := c.Shared("waits by strand and cause", func() any { return map[which][]timeline.WaitID{} }).(map[which][]timeline.WaitID)
	list, ok := lists[which{s.Strand, s.Cause}]
	if !ok {
		for _, w := range c.Sleeps(s.Strand) {
			if c.Waits[w].Cause == s.Cause {
				list = append(list, w)
			}
		}
		lists[which{s.Strand, s.Cause}] = list
	}
	list = list[firstBack(c, list, s.From):]
	return list[:sort.Search(len(list), func(k int) bool { return c.Waits[list[k]].From >= s.To })]
}

// firstBack returns which of some Waits in order of time, by index, is the first that ended after a time.
func firstBack(c *diagnosis.Case, waits []timeline.WaitID, at diagnosis.Time) int {
	return sort.Search(len(waits), func(k int) bool { return c.Waits[waits[k]].Back > at })
}

// whole accepts all segments of a cause.
func whole(*timeline.Segment) bool { return true }

func spansOf(list []stay) []diagnosis.Span {
	out := make([]diagnosis.Span, len(list))
	for i := range list {
		out[i] = list[i].Span
	}
	return out
}

// site names the place in code of a stack; "" if that is not known.
func site(c *diagnosis.Case, id timeline.StackID) string {
	if id == timeline.None {
		return ""
	}
	f, ok := c.SiteOf(id)
	if !ok {
		return ""
	}
	return symbol.Name(f)
}

// siteOf names the place in code where a strand waited; "" if that is not known.
func siteOf(c *diagnosis.Case, s *stay) string { return site(c, stackOf(c, s)) }

// stackOf returns the stack with which a strand waited, or None. The stack where it let others go afterwards says
// nothing of that.
func stackOf(c *diagnosis.Case, s *stay) timeline.StackID {
	if s.wait != timeline.None {
		return c.Waits[s.wait].Stack
	}
	if len(c.Stacks) == 0 || s.strand == timeline.None {
		return timeline.None
	}
	for _, a := range c.Doing(s.strand, s.From, s.To) {
		if a.Cause != timeline.CauseOnCPU && a.Stack != timeline.None && !a.Later {
			return a.Stack
		}
	}
	return timeline.None
}

// tally adds up durations by name.
type tally map[string]Duration

// most returns the name with the most time, and its share of all; "" is no name.
func (t tally) most() (name string, share diagnosis.Share) {
	var all, best Duration
	for k, d := range t {
		all += d
		if k != "" && (d > best || d == best && k < name) {
			name, best = k, d
		}
	}
	return name, diagnosis.ShareOf(int64(best), int64(all))
}

// perMean returns a total as a mean over the measured requests and as a share of their time.
func perMean(c *diagnosis.Case, total Duration) (mean Duration, share diagnosis.Share) {
	return total / Duration(max(1, len(c.Overall.Requests))), diagnosis.ShareOf(int64(total), int64(c.Time()))
}

// none says that no request spent time in some way, and how many chances there were.
func none(c *diagnosis.Case) string {
	return "no time of " + diagnosis.Plural(len(c.Overall.Requests), "request") + " went into it"
}

// blank returns the time of measured requests of which nothing is known; its callers share it.
func blank(c *diagnosis.Case) []diagnosis.Span {
	return slices.Clip(c.Once("blank", func() any { return findBlank(c) }).([]diagnosis.Span))
}

func findBlank(c *diagnosis.Case) (out []diagnosis.Span) {
	if len(c.With(timeline.CauseUnknown)) == 0 {
		return c.Gaps()
	}
	for _, id := range c.Measured() {
		r := &c.Requests[id]
		at := r.Start
		for s := r.Segments(); s.Next(); {
			if s.From > at {
				out = append(out, diagnosis.Span{Request: id, From: at, To: s.From})
			}
			at = max(at, s.To)
		}
		if r.End > at {
			out = append(out, diagnosis.Span{Request: id, From: at, To: r.End})
		}
	}
	return out
}

// concerned is the requests over which a mean is given: those of the one endpoint that has nearly all of some spans,
// else all that are measured.
type concerned struct {
	endpoint string // that of these requests; "" if there is only one, or they belong to several
	several  bool
	requests int
	time     Duration // the time of these requests
}

// nearlyAllOf is the share of the spans' time from which on one endpoint has nearly all of it.
const nearlyAllOf = diagnosis.Whole * 9 / 10

// endpointTime is how many measured requests an endpoint has, and how long they took in all.
type endpointTime struct {
	requests int
	time     Duration
}

func endpointTimes(c *diagnosis.Case) map[string]endpointTime {
	return c.Once("endpoints", func() any {
		m := map[string]endpointTime{}
		for _, id := range c.Measured() {
			r := &c.Requests[id]
			e := m[r.Endpoint]
			m[r.Endpoint] = endpointTime{e.requests + 1, e.time + r.Duration()}
		}
		return m
	}).(map[string]endpointTime)
}

// whose finds the requests that some spans concern.
func whose(c *diagnosis.Case, spans []diagnosis.Span) concerned {
	all := concerned{requests: len(c.Overall.Requests), time: c.Time()}
	each := endpointTimes(c)
	if len(each) < 2 || len(spans) == 0 {
		return all
	}
	all.several = true
	of, total := tally{}, Duration(0)
	for _, s := range spans {
		of[c.Requests[s.Request].Endpoint] += s.To.Sub(s.From)
		total += s.To.Sub(s.From)
	}
	most, share := of.most()
	if most == "" || share < nearlyAllOf {
		return all
	}
	e := each[most]
	return concerned{endpoint: most, requests: e.requests, time: e.time}
}

// mean is a total as a mean over these requests.
func (w concerned) mean(total Duration) Duration { return total / Duration(max(1, w.requests)) }

// words says a total as a mean over these requests, names them, and says its share of their time.
func (w concerned) words(total Duration) string {
	share := diagnosis.Percent(diagnosis.ShareOf(int64(total), int64(w.time)))
	text := diagnosis.Human(w.mean(total)) + " on average"
	switch {
	case w.endpoint != "":
		return text + " in " + w.endpoint + " (" + share + " of its time)"
	case w.several:
		return text + " over all endpoints (" + share + " of all request time)"
	}
	return text + " (" + share + " of all request time)"
}

// inRequest is the same mean as evidence; its name is what, the endpoint if there is one, and kind.
func (w concerned) inRequest(what, kind string, total Duration) diagnosis.Evidence {
	if w.endpoint != "" {
		what += " of " + w.endpoint
	}
	return diagnosis.NS(what+kind, w.mean(total))
}

// meanWords says how long some spans are as a mean over the requests that they concern.
func meanWords(c *diagnosis.Case, spans ...[]diagnosis.Span) string {
	all := slices.Concat(spans...)
	return whose(c, all).words(diagnosis.Total(all))
}
