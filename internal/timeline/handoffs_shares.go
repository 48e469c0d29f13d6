package timeline

import (
	"maps"
	"slices"
)

// shares divide the tasks of a pool that nothing else tells of among the requests that
// may have put them in, where all requests of an endpoint put in as many.
type shares struct {
	h     *handOffs
	order burstOrder
	tasks []task              // of which is not known whose they are
	may   [][]RequestID       // by task: whose it may be
	of    map[RequestID][]int // the tasks that may be a request's
	need  map[RequestID]int   // how many of its tasks are not known, of requests whose number is
	whose []RequestID         // by task: what was found, or None
	blur  []Time              // when tasks were taken that may be of many, in order
	odd   int                 // contradictions
	todo  []RequestID         // those of which something changed
}

// exactShare is of how many tasks one may be more or less than the shares add up to.
const exactShare = 256

// sharesOf returns how many tasks each request of an endpoint puts into a pool: as many as
// are known of any, or of any but very few of which some may be wrong, if that makes all tasks
// that there are; unsure where few requests show it. Nil: they differ.
func (h *handOffs) sharesOf(pool []task, order burstOrder) map[string]int {
	known := map[RequestID]int{}
	for _, x := range pool {
		if r := h.t.Calls[x.call].Request; r != None {
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
	known map[RequestID]int
	tasks int
}

// addUp reports that the shares of requests make as many tasks as there are.
func (h *handOffs) addUp(all map[string]int, most int, reqs []RequestID, of poolTally) bool {
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
func (q *queue) divide(pool, tasks []task, all map[string]int) *shares {
	s := &shares{h: q.h, order: q.burstOrder, tasks: tasks, of: map[RequestID][]int{}, need: map[RequestID]int{}}
	known := map[RequestID]int{}
	for _, x := range q.known {
		known[q.h.t.Calls[x.call].Request]++
	}
	looked := map[CallID]bool{}
	for _, x := range tasks {
		looked[x.call] = true
	}
	for _, x := range pool {
		if q.h.t.Calls[x.call].Request == None && !looked[x.call] {
			s.blur = append(s.blur, x.sent)
		}
	}
	for i, x := range tasks {
		s.may, s.whose = append(s.may, q.whose(x)), append(s.whose, None)
		if len(s.may[i]) == 0 {
			s.blur = append(s.blur, x.sent)
		}
		for _, r := range s.may[i] {
			if s.of[r] = append(s.of[r], i); len(s.of[r]) > 1 {
				continue
			}
			if n := all[q.h.t.Requests[r].Endpoint]; n != unsure {
				s.need[r] = n - known[r]
				s.todo = append(s.todo, r)
			}
		}
	}
	slices.Sort(s.blur)
	for i := range tasks {
		s.settle(i)
	}
	for len(s.todo) > 0 {
		r := s.todo[len(s.todo)-1]
		s.todo = s.todo[:len(s.todo)-1]
		s.look(r)
	}
	s.byOrder()
	return s
}

// byOrder gives what is left to those whose it may be in the order of their bursts: of
// requests that may have put in nothing else than some tasks, the first have the first.
func (s *shares) byOrder() {
	seen := map[RequestID]bool{}
	for i := range s.tasks {
		if s.whose[i] != None {
			continue
		}
		for _, r := range s.may[i] {
			if !seen[r] {
				s.line(s.group(r, seen))
			}
		}
	}
}

// group lists a request and those with which it shares tasks, and these tasks; nothing if
// it is not known how many one of them has left, or one has more than its share, or there
// are too many.
func (s *shares) group(r RequestID, seen map[RequestID]bool) (reqs []RequestID, tasks []int) {
	reqs, seen[r] = append(reqs, r), true
	in, ok, need := map[int]bool{}, true, 0
	for k := 0; k < len(reqs); k++ {
		n, sure := s.need[reqs[k]]
		ok, need = ok && sure && n >= 0 && s.clear(reqs[k]), need+n
		for _, i := range s.of[reqs[k]] {
			if s.whose[i] != None || in[i] {
				continue
			}
			in[i], tasks = true, append(tasks, i)
			for _, x := range s.may[i] {
				if !seen[x] {
					reqs, seen[x] = append(reqs, x), true
				}
			}
		}
	}
	if !ok || need != len(tasks) {
		return nil, nil
	}
	return reqs, tasks
}

// line gives the tasks of a group to its requests where nothing but their order is left:
// up to where neither tasks nor bursts overlap.
func (s *shares) line(reqs []RequestID, tasks []int) {
	h := s.h
	reqs = byTime(reqs, func(r *RequestID) Time { return s.order.bursts[*r] })
	tasks = byTime(tasks, func(i *int) Time { return s.tasks[*i].sent })
	begins, begun := make([]Time, len(reqs)+1), make([]Time, len(tasks)+1) // the earliest, from each on
	begins[len(reqs)], begun[len(tasks)] = h.f.end, h.f.end
	for k := len(reqs) - 1; k >= 0; k-- {
		begins[k] = min(begins[k+1], s.order.begins[reqs[k]])
	}
	for k := len(tasks) - 1; k >= 0; k-- {
		begun[k] = min(begun[k+1], s.tasks[tasks[k]].begun)
	}
	from, certain := 0, true
	for k, r := range reqs {
		to := from + s.need[r]
		before := certain
		certain = s.order.bursts[r] <= begins[k+1] && (to == 0 || s.tasks[tasks[to-1]].sent <= begun[to])
		if before && certain {
			for _, i := range tasks[from:to] {
				s.whose[i] = r
			}
		}
		from = to
	}
}

// settle gives a task to the only one whose it may be.
func (s *shares) settle(i int) {
	if s.whose[i] != None || len(s.may[i]) != 1 {
		return
	}
	r := s.may[i][0]
	s.whose[i] = r
	if _, sure := s.need[r]; sure {
		s.need[r]--
		s.todo = append(s.todo, r)
	}
}

// look draws the conclusions for a request: it has all its tasks, or all that may be its
// are.
func (s *shares) look(r RequestID) {
	left := s.of[r][:0]
	for _, i := range s.of[r] {
		if s.whose[i] == None {
			left = append(left, i)
		}
	}
	s.of[r] = left
	switch need := s.need[r]; {
	case need < 0 || need > len(left) && s.clear(r):
		s.odd++
	case need == 0:
		s.of[r] = nil
		for _, i := range left {
			s.not(i, r)
		}
	case need == len(left) && s.clear(r):
		s.of[r] = nil
		for _, i := range left {
			s.take(i, r)
		}
	}
}

// clear reports that all tasks that may be a request's are known as such.
func (s *shares) clear(r RequestID) bool {
	x := &s.h.t.Requests[r]
	return !x.Cut && countUpTo(s.blur, x.End) == countUpTo(s.blur, x.FirstRead-1)
}

// not notes whose a task is not.
func (s *shares) not(i int, r RequestID) {
	kept := s.may[i][:0]
	for _, x := range s.may[i] {
		if x != r {
			kept = append(kept, x)
		}
	}
	s.may[i] = kept
	if len(kept) == 0 {
		s.odd++
	}
	s.settle(i)
}

// take gives a task to a request.
func (s *shares) take(i int, r RequestID) {
	for _, x := range s.may[i] {
		if _, sure := s.need[x]; sure && x != r {
			s.todo = append(s.todo, x)
		}
	}
	s.may[i] = []RequestID{r}
	s.settle(i)
}
