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

	runs   [][]RequestID  // the same requests, in order of start, cut into noiseBlocks
	halves [2][]RequestID // every other run, so that a slow drift is not taken for noise
}

// noiseBlocks is how many runs of consecutive requests the recording is cut into.
const noiseBlocks = 20

func newSymptom(tl *timeline.Timeline, endpoint string, ids []RequestID) Symptom {
	s := Symptom{Endpoint: endpoint, runs: slices.Collect(slices.Chunk(ids, max(1, len(ids)/noiseBlocks)))}
	for i, run := range s.runs {
		s.halves[i%2] = append(s.halves[i%2], run...)
	}
	s.Noise50, s.Noise99 = noise(tl, s.halves)
	s.Requests = slices.Clone(ids)
	slices.SortFunc(s.Requests, func(a, b RequestID) int {
		return cmp.Or(cmp.Compare(tl.Requests[a].Duration(), tl.Requests[b].Duration()), cmp.Compare(a, b))
	})
	all := durations(tl, s.Requests)
	s.P50, s.P90, s.P99 = Quantile(all, 50), Quantile(all, 90), Quantile(all, 99)
	from, to := band(len(all), 50)
	s.Ordinary = s.Requests[from:to]
	from, to = band(len(all), 99)
	s.Slow = s.Requests[from:to]
	return s
}

func durations(tl *timeline.Timeline, ids []RequestID) []Duration {
	d := make([]Duration, len(ids))
	for i, id := range ids {
		d[i] = tl.Requests[id].Duration()
	}
	return d
}

// noise compares the quantiles of two halves of the same requests.
func noise(tl *timeline.Timeline, halves [2][]RequestID) (p50, p99 Duration) {
	a, b := durations(tl, halves[0]), durations(tl, halves[1])
	slices.Sort(a)
	slices.Sort(b)
	return apart(Quantile(a, 50), Quantile(b, 50)), apart(Quantile(a, 99), Quantile(b, 99))
}

func apart(a, b Duration) Duration { return max(a-b, b-a) }

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
	for name, ids := range by {
		each = append(each, newSymptom(tl, name, ids))
	}
	slices.SortFunc(each, func(a, b Symptom) int {
		return cmp.Or(cmp.Compare(len(b.Requests), len(a.Requests)), cmp.Compare(a.Endpoint, b.Endpoint))
	})
	return newSymptom(tl, "", all), each
}
