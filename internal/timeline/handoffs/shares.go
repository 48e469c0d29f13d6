package handoffs

import (
	"maps"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
)

// exactShare is of how many tasks one may be more or less than the shares add up to.
const exactShare = 256

// counts are of how many requests of each endpoint so many of something are known.
type counts map[string]map[int]int

func (n counts) add(endpoint string, known int) {
	if n[endpoint] == nil {
		n[endpoint] = map[int]int{}
	}
	n[endpoint][known]++
}

// shares returns how many tasks each request of an endpoint puts into a pool: as many as
// are known of any, or of any but very few of which some may be wrong, if that makes all tasks
// that there are; unsure where few requests show it. Nil: they differ.
func (q *queue) shares() map[string]int {
	known, of := q.knownOf(), counts{}
	for _, r := range q.reqs {
		of.add(q.t.Requests[r].Endpoint, known[r])
	}
	for _, few := range []int{1, 0} {
		all, most := map[string]int{}, 0
		for e, of := range of {
			n, show := mostOf(of, few)
			if most = max(most, n); show < enoughTasks {
				n = unsure
			}
			all[e] = n
		}
		if q.addUp(all, most, known) {
			return all
		}
	}
	return nil
}

// knownOf is how many tasks of each request are known.
func (q *queue) knownOf() map[timeline.RequestID]int {
	known := map[timeline.RequestID]int{}
	for _, x := range q.known {
		known[q.t.Calls[x.calls[0]].Request]++
	}
	return known
}

// mostOf returns the highest number, but for one part of few in so many, and how many show it.
func mostOf(of map[int]int, few int) (most, show int) {
	sum, above := 0, 0
	for _, n := range of {
		sum += n
	}
	for _, n := range slices.Backward(slices.Sorted(maps.Keys(of))) {
		if above += of[n]; above*exactShare > sum*few {
			return n, of[n]
		}
	}
	return 0, 0
}

// addUp reports that the shares of requests make as many tasks as there are.
func (q *queue) addUp(all map[string]int, most int, known map[timeline.RequestID]int) bool {
	low, high := 0, 0
	for _, r := range q.reqs {
		x := &q.t.Requests[r]
		switch n := all[x.Endpoint]; {
		case n == unsure:
			low, high = low+known[r], high+most
		case x.Cut:
			low, high = low+known[r], high+n
		default:
			low, high = low+n, high+n
		}
	}
	tasks, slack := len(q.pool), len(q.pool)/exactShare
	return low <= tasks+slack && tasks <= high+slack
}

// divide finds whose tasks of the pool are, as far as that follows.
func (q *queue) divide(tasks []task, all map[string]int) *causality.Shares[timeline.RequestID] {
	known := q.knownOf()
	s := &causality.Shares[timeline.RequestID]{
		Life: func(r timeline.RequestID) (causality.Span, bool) {
			x := &q.t.Requests[r]
			return causality.Span{From: x.FirstRead, To: x.End}, !x.Cut
		},
		Left: func(r timeline.RequestID) (int, bool) {
			n := all[q.t.Requests[r].Endpoint]
			return n - known[r], n != unsure
		},
	}
	looked := map[timeline.CallID]bool{}
	for i := range tasks {
		x := &tasks[i]
		looked[x.calls[0]] = true
		may := q.may(x)
		if s.May = append(s.May, may); len(may) == 0 {
			s.Blur = append(s.Blur, x.sent)
		}
	}
	for _, x := range q.pool {
		if q.t.Calls[x.calls[0]].Request == timeline.None && !looked[x.calls[0]] {
			s.Blur = append(s.Blur, x.sent)
		}
	}
	s.Solve()
	return s
}
