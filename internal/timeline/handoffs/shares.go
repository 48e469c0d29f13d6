package handoffs

import (
	"maps"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
)

// exactShare: the shares may add up to one task in this many more or less than there are.
const exactShare = 256

// counts holds, by endpoint and number, how many requests have that number of something.
type counts map[string]map[int]int

func (n counts) add(endpoint string, known int) {
	if n[endpoint] == nil {
		n[endpoint] = map[int]int{}
	}
	n[endpoint][known]++
}

// shares returns how many tasks each request of an endpoint puts into a pool; unsure for an endpoint if few requests
// show it. The number is the highest known for any request. If a very small part of the requests may be wrong, the
// highest few are ignored. Either choice counts only if the numbers add up to all tasks that there are; nil if
// neither does.
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

// mostOf returns the highest number, and how many requests show it. A part of few in exactShare requests may have a
// higher one.
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

// addUp reports whether the shares of requests add up to the number of tasks.
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

// divide finds the requests of the pool's tasks, as far as they follow from the shares.
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
