package diagnosis

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
)

// ledger records which pieces of which requests are already explained, so that no millisecond is counted twice.
type ledger struct {
	taken    [][]Span   // per request: sorted, disjoint; nil until something is taken
	rest     []Duration // per request: its duration without them
	symptoms []Symptom
	places   []place
	orders   [][]runOrder    // see order
	samples  [][][]int       // see resamples
	befores  [][2][]Duration // see before
}

func newLedger(tl *timeline.Timeline, symptoms []Symptom) *ledger {
	n := len(tl.Requests)
	l := &ledger{
		rest: make([]Duration, n), symptoms: symptoms, places: places(n, symptoms),
		orders: make([][]runOrder, len(symptoms)), samples: make([][][]int, len(symptoms)), befores: make([][2][]Duration, len(symptoms)),
	}
	for i := range l.rest {
		l.rest[i] = tl.Requests[i].Duration()
	}
	return l
}

// normal sorts spans by request and time, clips them to their requests and merges overlaps.
func normal(tl *timeline.Timeline, spans []Span) []Span {
	i := normalUpTo(tl, spans)
	if i == len(spans) {
		return spans
	}
	in := spans
	if !slices.IsSortedFunc(in[max(0, i-1):], bySpan) {
		in = slices.Clone(in)
		slices.SortFunc(in, bySpan)
		i = normalUpTo(tl, in)
	}
	return mergeOnto(tl, append(make([]Span, 0, len(in)), in[:i]...), in[i:])
}

// mergeOnto appends sorted spans to normal ones. Both may share one list, with the normal ones in front.
func mergeOnto(tl *timeline.Timeline, out, more []Span) []Span {
	for _, s := range more {
		r := &tl.Requests[s.Request]
		s.From, s.To = max(s.From, r.Start), min(s.To, r.End)
		if s.From >= s.To || !r.Measured() {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Request == s.Request && s.From <= out[n-1].To {
			out[n-1].To = max(out[n-1].To, s.To)
			continue
		}
		out = append(out, s)
	}
	return out
}

// normalUpTo returns the index up to which all spans are normal.
func normalUpTo(tl *timeline.Timeline, spans []Span) int {
	last := Span{Request: timeline.None}
	for i, s := range spans {
		r := &tl.Requests[s.Request]
		if s.Request < last.Request || s.Request == last.Request && s.From <= last.To ||
			s.From >= s.To || s.From < r.Start || s.To > r.End || !r.Measured() {
			return i
		}
		last = s
	}
	return len(spans)
}

// both returns the union of two lists of normal spans, normal.
func both(a, b []Span) []Span {
	switch {
	case len(b) == 0:
		return a
	case len(a) == 0:
		return b
	}
	out := make([]Span, 0, len(a)+len(b))
	for len(a)+len(b) > 0 {
		from := &a
		if len(a) == 0 || len(b) > 0 && bySpan(b[0], a[0]) < 0 {
			from = &b
		}
		s := (*from)[0]
		*from = (*from)[1:]
		if n := len(out); n > 0 && out[n-1].Request == s.Request && s.From <= out[n-1].To {
			out[n-1].To = max(out[n-1].To, s.To)
			continue
		}
		out = append(out, s)
	}
	return out
}

func bySpan(a, b Span) int {
	if a.Request != b.Request {
		return cmp.Compare(a.Request, b.Request)
	}
	if a.From != b.From {
		return cmp.Compare(a.From, b.From)
	}
	return cmp.Compare(a.To, b.To)
}

// left returns the parts of normal spans that are not taken yet.
func (l *ledger) left(spans []Span) []Span {
	if l.taken == nil {
		return spans
	}
	out := make([]Span, 0, len(spans))
	for _, s := range spans {
		taken := l.taken[s.Request]
		i, _ := slices.BinarySearchFunc(taken, s.From, func(t Span, at Time) int {
			if t.To <= at {
				return -1
			}
			return 1
		})
		for ; i < len(taken) && taken[i].From < s.To; i++ {
			if t := taken[i]; t.From > s.From {
				out = append(out, Span{s.Request, s.From, t.From})
			}
			s.From = taken[i].To
		}
		if s.From < s.To {
			out = append(out, s)
		}
	}
	return out
}

// take books normal spans, none of which is taken yet.
func (l *ledger) take(spans []Span) {
	if l.taken == nil {
		l.taken = make([][]Span, len(l.rest))
	}
	clear(l.orders)
	clear(l.befores)
	for i := 0; i < len(spans); {
		id := spans[i].Request
		fresh := len(l.taken[id]) == 0
		for ; i < len(spans) && spans[i].Request == id; i++ {
			l.taken[id] = append(l.taken[id], spans[i])
			l.rest[id] -= spans[i].To.Sub(spans[i].From)
		}
		if !fresh {
			slices.SortFunc(l.taken[id], bySpan)
		}
	}
}

// overlap returns how much of the normal spans a lies in the normal spans b.
func overlap(a, b []Span) (sum Duration) {
	overlaps(a, b, func(s Span) { sum += s.To.Sub(s.From) })
	return sum
}

// overlaps visits each piece of the normal spans a that lies in the normal spans b.
func overlaps(a, b []Span, each func(Span)) {
	for i, k := 0, 0; i < len(a) && k < len(b); {
		x, y := &a[i], &b[k]
		if x.Request == y.Request {
			if from, to := max(x.From, y.From), min(x.To, y.To); from < to {
				each(Span{x.Request, from, to})
			}
		}
		if x.Request < y.Request || x.Request == y.Request && x.To <= y.To {
			i++
		} else {
			k++
		}
	}
}

// lose sums spans by request. The next call with other spans reuses the memory of the result.
func (j *judge) lose(spans []Span) (off []Duration) {
	if len(spans) > 0 && len(spans) == len(j.gone) && &spans[0] == &j.gone[0] {
		return j.off
	}
	for _, s := range j.gone {
		j.off[s.Request] = 0
	}
	for _, s := range spans {
		j.off[s.Request] += s.To.Sub(s.From)
	}
	j.gone = spans
	return j.off
}
