package handoffs

import (
	"maps"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
)

// exactShare is of how many tasks one may be more or less than the shares add up to.
const exactShare = 256

// sharesOf returns how many tasks each request of an endpoint puts into a pool: as many as
// are known of any, or of any but very few of which some may be wrong, if that makes all tasks
// that there are; unsure where few requests show it. Nil: they differ.
func (h *queues) sharesOf(pool []task, order burstOrder) map[string]int {
	known := map[timeline.RequestID]int{}
	for _, x := range pool {
		if r := h.t.Calls[x.call].Request; r != timeline.None {
			known[r]++
		}
	}
	counts := map[string]map[int]int{} // by endpoint: of how many requests so many are known
	for _, r := range order.reqs {
		e := h.t.Requests[r].Endpoint
		if counts[e] == nil {
			counts[e] = map[int]int{}
		}
		counts[e][known[r]]++
	}
	for _, few := range []int{1, 0} {
		all, most := map[string]int{}, 0
		for e, of := range counts {
			n, show := mostOf(of, few)
			if most = max(most, n); show < enoughTasks {
				n = unsure
			}
			all[e] = n
		}
		if h.addUp(all, most, order.reqs, poolTally{known, len(pool)}) {
			return all
		}
	}
	return nil
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

// poolTally is how many tasks a pool has, and how many of each request are known.
type poolTally struct {
	known map[timeline.RequestID]int
	tasks int
}

// addUp reports that the shares of requests make as many tasks as there are.
func (h *queues) addUp(all map[string]int, most int, reqs []timeline.RequestID, of poolTally) bool {
	low, high := 0, 0
	for _, r := range reqs {
		x := &h.t.Requests[r]
		switch n := all[x.Endpoint]; {
		case n == unsure:
			low, high = low+of.known[r], high+most
		case x.Cut:
			low, high = low+of.known[r], high+n
		default:
			low, high = low+n, high+n
		}
	}
	slack := of.tasks / exactShare
	return low <= of.tasks+slack && of.tasks <= high+slack
}

// divide finds whose tasks of a pool are, as far as that follows.
func (q *queue) divide(pool, tasks []task, all map[string]int) *causality.Shares[timeline.RequestID] {
	known := map[timeline.RequestID]int{}
	for _, x := range q.known {
		known[q.h.t.Calls[x.call].Request]++
	}
	s := &causality.Shares[timeline.RequestID]{
		Life: func(r timeline.RequestID) (causality.Span, bool) {
			x := &q.h.t.Requests[r]
			return causality.Span{From: x.FirstRead, To: x.End}, !x.Cut
		},
		Left: func(r timeline.RequestID) (int, bool) {
			n := all[q.h.t.Requests[r].Endpoint]
			return n - known[r], n != unsure
		},
	}
	looked := map[timeline.CallID]bool{}
	for _, x := range tasks {
		looked[x.call] = true
		may := q.whose(x)
		if s.May = append(s.May, may); len(may) == 0 {
			s.Blur = append(s.Blur, x.sent)
		}
	}
	for _, x := range pool {
		if q.h.t.Calls[x.call].Request == timeline.None && !looked[x.call] {
			s.Blur = append(s.Blur, x.sent)
		}
	}
	s.Solve()
	return s
}
