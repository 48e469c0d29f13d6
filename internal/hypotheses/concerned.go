package hypotheses

import (
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
)

// concerned are the requests of which a mean is told: those of the one endpoint that has nearly all
// of some spans, else all that are measured.
type concerned struct {
	endpoint string // of which they are, "" if there is only one, or they are of several
	several  bool
	requests int
	time     Duration // of these requests
}

// nearlyAllOf is the share of the spans' time from which on one endpoint has nearly all of it.
const nearlyAllOf = diagnosis.Whole * 9 / 10

// endpointTime is how many measured requests an endpoint has, and how long they took in all.
type endpointTime struct {
	requests int
	time     Duration
}

func endpointTimes(c *diagnosis.Case) map[string]endpointTime {
	return c.Shared("endpoints", func() any {
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

// words say a total as a mean over these requests, which ones they are, and its share of their time.
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

// inRequest says the same as evidence: what a request of them has of the total.
func (w concerned) inRequest(what string, total Duration) diagnosis.Evidence {
	if w.endpoint != "" {
		what += " of " + w.endpoint
	}
	return diagnosis.NS(what, w.mean(total))
}

// meanWords says how long some spans are as a mean over the requests that they concern.
func meanWords(c *diagnosis.Case, spans ...[]diagnosis.Span) string {
	all := slices.Concat(spans...)
	return whose(c, all).words(diagnosis.Total(all))
}
