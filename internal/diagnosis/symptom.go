package diagnosis

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
)

// Symptom is how long the requests of one endpoint took. Requests that are cut or
// kept out of quantiles are not in it.
type Symptom struct {
	Endpoint         string      // "" for all endpoints together
	Requests         []RequestID // by duration, then by id
	P50, P90, P99    Duration
	Noise50, Noise99 Duration    // difference of the quantile between two halves of the recording
	Ordinary, Slow   []RequestID // within 5 percentile points of p50 and of p99

	Mean  Duration
	runs  [][]RequestID // the same requests, in order of start, in blocks
	total Duration      // of all requests
	max   Duration
}

func newSymptom(tl *timeline.Timeline, endpoint string, ids []RequestID, quiet []int32) Symptom {
	s := Symptom{Endpoint: endpoint, runs: blocksOf(tl, ids, quiet)}
	var sorted sortedRuns
	for _, run := range s.runs {
		sorted = append(sorted, sortedBy(run, func(id RequestID) Duration { return tl.Requests[id].Duration() }))
	}
	s.Noise50, s.Noise99 = sorted.apart(50), sorted.apart(99)
	order := make([]lasting, len(ids))
	for i, id := range ids {
		order[i] = lasting{tl.Requests[id].Duration(), id}
		s.total += order[i].took
	}
	s.Mean = s.total / Duration(max(1, len(ids)))
	slices.SortFunc(order, func(a, b lasting) int { return cmp.Or(cmp.Compare(a.took, b.took), cmp.Compare(a.id, b.id)) })
	s.Requests = make([]RequestID, len(ids))
	for i := range order {
		s.Requests[i] = order[i].id
	}
	quantile := func(percent int) Duration {
		if len(order) == 0 {
			return 0
		}
		return order[rank(len(order), percent)].took
	}
	s.P50, s.P90, s.P99, s.max = quantile(50), quantile(90), quantile(99), quantile(100)
	from, to := band(len(order), 50)
	s.Ordinary = s.Requests[from:to]
	from, to = band(len(order), 99)
	s.Slow = s.Requests[from:to]
	return s
}

// Max is the duration of the slowest request.
func (s *Symptom) Max() Duration { return s.max }

// lasting is a request and its duration.
type lasting struct {
	took Duration
	id   RequestID
}

// symptoms groups the measured requests by endpoint, the most frequent first.
func symptoms(tl *timeline.Timeline, o Options) (overall Symptom, each []Symptom) {
	var all []RequestID
	by := map[string][]RequestID{}
	for i := range tl.Requests {
		r := &tl.Requests[i]
		if !r.Measured() || (o.Endpoint != "" && r.Endpoint != o.Endpoint) {
			continue
		}
		all = append(all, RequestID(i))
		by[r.Endpoint] = append(by[r.Endpoint], RequestID(i))
	}
	quiet := quietTimes(tl)
	for name, ids := range by {
		each = append(each, newSymptom(tl, name, ids, quiet))
	}
	slices.SortFunc(each, func(a, b Symptom) int {
		return cmp.Or(cmp.Compare(len(b.Requests), len(a.Requests)), cmp.Compare(a.Endpoint, b.Endpoint))
	})
	return newSymptom(tl, "", all, quiet), each
}
