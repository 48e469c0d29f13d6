package timeline

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// Open tells how many of a set of requests are open at a time and, if exactly one is open, which one.
type Open struct {
	starts, ends   []recording.Time
	started, ended []RequestID // prefix sums of the request ids
}

// OpenAmong returns the Open of the requests that a predicate selects.
func OpenAmong(t *Timeline, of func(*Request) bool) *Open {
	var list []RequestID
	for i := range t.Requests {
		if of(&t.Requests[i]) {
			list = append(list, RequestID(i))
		}
	}
	return newOpenOnes(t, list)
}

// OpenIn returns the Open of the requests of each process.
func OpenIn(t *Timeline) map[recording.ProcessID]*Open {
	of, all := map[recording.ProcessID][]RequestID{}, map[recording.ProcessID]*Open{}
	for i := range t.Requests {
		p := t.Requests[i].Process
		of[p] = append(of[p], RequestID(i))
	}
	for p, list := range of {
		all[p] = newOpenOnes(t, list)
	}
	return all
}

func newOpenOnes(t *Timeline, list []RequestID) *Open {
	sums := func(at func(*Request) recording.Time) (times []recording.Time, sums []RequestID) {
		sum := RequestID(0)
		times, sums = make([]recording.Time, 0, len(list)), make([]RequestID, 0, len(list))
		for _, r := range lists.ByTime(slices.Clone(list), func(r *RequestID) recording.Time { return at(&t.Requests[*r]) }) {
			sum += r
			times, sums = append(times, at(&t.Requests[r])), append(sums, sum)
		}
		return times, sums
	}
	o := &Open{}
	o.starts, o.started = sums(func(r *Request) recording.Time { return r.FirstRead })
	o.ends, o.ended = sums(func(r *Request) recording.Time { return r.End })
	return o
}

// During returns how many requests are open at some time in [from, to].
func (o *Open) During(from, to recording.Time) int {
	return CountUpTo(o.starts, to) - CountUpTo(o.ends, from-1)
}

// At returns the request that is open at a time; None unless exactly one is open.
func (o *Open) At(t recording.Time) RequestID {
	if o == nil || o.During(t, t) != 1 {
		return None
	}
	return sumOf(o.started, CountUpTo(o.starts, t)) - sumOf(o.ended, CountUpTo(o.ends, t-1))
}

// Throughout returns the request that is open during a whole span, if no other request is open in any part of it; else
// None.
func (o *Open) Throughout(from, to recording.Time) RequestID {
	if o == nil || o.During(from, to) != 1 || o.During(to, to) != 1 || o.During(from, from) != 1 {
		return None
	}
	return o.At(to)
}

// sumOf returns the sum of the first n.
func sumOf(sums []RequestID, n int) RequestID {
	if n == 0 {
		return 0
	}
	return sums[n-1]
}

// CountUpTo counts the times that are at most t.
func CountUpTo(times []recording.Time, t recording.Time) int {
	n, _ := slices.BinarySearch(times, t+1)
	return n
}

// FullAt takes the begin and end times of some spans. The function it returns reports whether, at a time, as many of
// the spans are open as ever are at once. FullAt sorts both lists.
func FullAt(begun, over []recording.Time) func(recording.Time) bool {
	slices.Sort(begun)
	slices.Sort(over)
	open := func(at recording.Time) int { return CountUpTo(begun, at) - CountUpTo(over, at) }
	most := 0
	for _, at := range begun {
		most = max(most, open(at))
	}
	return func(at recording.Time) bool { return open(at) >= most }
}
