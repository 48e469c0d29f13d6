package diagnosis

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/lists"
)

// Symptom is how long the requests of one endpoint took. Requests that are cut or excluded from quantiles are not in
// it.
type Symptom struct {
	Endpoint         string      // "" for all endpoints together
	Requests         []RequestID // by duration, then by id
	P50, P90, P99    Duration
	Noise50, Noise99 Duration    // difference of the quantile between two halves of the recording
	Ordinary, Slow   []RequestID // within 5 percentile points of p50 and of p99

	Few   bool // too few requests to decide anything: what is worth having is a lead at most
	Mean  Duration
	byID  []RequestID
	runs  [][]RequestID // the same requests, in order of start, in blocks
	total Duration      // of all requests
	max   Duration
}

func newSymptom(tl *timeline.Timeline, endpoint string, ids []RequestID, quiet []int32) Symptom {
	s := Symptom{Endpoint: endpoint, byID: ids, runs: blocksOf(tl, ids, quiet), Requests: make([]RequestID, len(ids))}
	took := make([]Duration, len(ids))
	for i, id := range ids {
		took[i] = tl.Requests[id].Duration()
		s.total += took[i]
	}
	order := lists.Sorted(len(ids), func(i int) Time { return Time(took[i]) })
	for i, at := range order {
		s.Requests[i] = ids[at]
	}
	sorted := s.sorted(order, took)
	s.Noise50, s.Noise99 = sorted.apart(50), sorted.apart(99)
	s.Mean = s.total / Duration(max(1, len(ids)))
	quantile := func(percent int) Duration {
		if len(order) == 0 {
			return 0
		}
		return took[order[rank(len(order), percent)]]
	}
	s.P50, s.P90, s.P99, s.max = quantile(50), quantile(90), quantile(99), quantile(100)
	from, to := band(len(order), 50)
	s.Ordinary = s.Requests[from:to]
	from, to = band(len(order), 99)
	s.Slow = s.Requests[from:to]
	return s
}

// sorted returns the durations of each run, sorted, given the order of all requests by index.
func (s *Symptom) sorted(order []int32, took []Duration) sortedRuns {
	of, lengths := make([]int32, 0, len(order)), make([]int32, len(s.runs)) // by index: its run
	for k, run := range s.runs {
		lengths[k] = int32(len(run))
		for range run {
			of = append(of, int32(k))
		}
	}
	sorted := sortedRuns(lists.Sized[Duration](lengths))
	for _, at := range order {
		sorted[of[at]] = append(sorted[of[at]], took[at])
	}
	return sorted
}

// ByID returns the requests in order of id; callers must not change the list.
func (s *Symptom) ByID() []RequestID { return s.byID }

// Max returns the duration of the slowest request.
func (s *Symptom) Max() Duration { return s.max }

// symptoms groups the measured requests by endpoint, the most frequent first. It also returns all of them, in order of
// id.
func symptoms(tl *timeline.Timeline, o Options) (all []RequestID, overall Symptom, each []Symptom) {
	by, of, name := map[string]*[]RequestID{}, (*[]RequestID)(nil), ""
	for i := range tl.Requests {
		r := &tl.Requests[i]
		if !r.Measured() || (o.Endpoint != "" && r.Endpoint != o.Endpoint) {
			continue
		}
		all = append(all, RequestID(i))
		if of == nil || r.Endpoint != name {
			of, name = lists.Entry(by, r.Endpoint), r.Endpoint
		}
		*of = append(*of, RequestID(i))
	}
	quiet := quietTimes(tl)
	for name, ids := range by {
		each = append(each, newSymptom(tl, name, *ids, quiet))
	}
	if len(each) == 1 {
		overall = each[0]
		overall.Endpoint = ""
		return all, overall, each
	}
	slices.SortFunc(each, func(a, b Symptom) int {
		return cmp.Or(cmp.Compare(len(b.Requests), len(a.Requests)), cmp.Compare(a.Endpoint, b.Endpoint))
	})
	return all, newSymptom(tl, "", all, quiet), each
}
