package diagnosis

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
)

// ledger remembers which pieces of which requests are explained already, so that
// no millisecond is counted twice.
type ledger struct {
	tl    *timeline.Timeline
	taken [][]Span   // per request: sorted, disjoint
	sum   []Duration // per request: their length
}

func newLedger(tl *timeline.Timeline) *ledger {
	return &ledger{tl, make([][]Span, len(tl.Requests)), make([]Duration, len(tl.Requests))}
}

// normal sorts spans by request and time, clips them to their requests and merges
// overlaps. Requests in which facts were lost support nothing: their spans go.
func normal(tl *timeline.Timeline, spans []Span) []Span {
	in := slices.Clone(spans)
	slices.SortFunc(in, func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.Request, b.Request), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	var out []Span
	for _, s := range in {
		r := &tl.Requests[s.Request]
		s.From, s.To = max(s.From, r.Start), min(s.To, r.End)
		if s.From >= s.To || r.Lossy || !r.Measured() {
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

// left returns what of normal spans is not taken yet.
func (l *ledger) left(spans []Span) []Span {
	var out []Span
	for _, s := range spans {
		for _, t := range l.taken[s.Request] {
			if t.To <= s.From || t.From >= s.To {
				continue
			}
			if t.From > s.From {
				out = append(out, Span{s.Request, s.From, t.From})
			}
			s.From = t.To
		}
		if s.From < s.To {
			out = append(out, s)
		}
	}
	return out
}

// take books normal spans of which nothing is taken yet.
func (l *ledger) take(spans []Span) {
	for _, s := range spans {
		l.taken[s.Request] = append(l.taken[s.Request], s)
		l.sum[s.Request] += s.To.Sub(s.From)
	}
	for _, s := range spans {
		slices.SortFunc(l.taken[s.Request], func(a, b Span) int { return cmp.Compare(a.From, b.From) })
	}
}

// overlap returns how much of the normal spans a lies in the normal spans b.
func overlap(tl *timeline.Timeline, a, b []Span) Duration {
	l := newLedger(tl)
	l.take(b)
	return Total(a) - Total(l.left(a))
}

// perRequest sums normal spans by request.
func perRequest(n int, spans []Span) []Duration {
	sum := make([]Duration, n)
	for _, s := range spans {
		sum[s.Request] += s.To.Sub(s.From)
	}
	return sum
}

// impact computes what taking out off, per request, would save at an endpoint after
// all that is taken already.
func (l *ledger) impact(s *Symptom, off []Duration) Impact {
	im := Impact{Endpoint: s.Endpoint}
	var all Duration
	for _, id := range s.Requests {
		all += l.tl.Requests[id].Duration()
		if off[id] > 0 {
			im.Requests++
			im.Total += off[id]
		}
	}
	if im.Requests == 0 {
		return im
	}
	im.P50, im.P99 = l.savings(s.Requests, off)
	im.Share = ShareOf(int64(im.Total), int64(all))
	return im
}

// savings computes by how much the quantiles of requests fall without off.
func (l *ledger) savings(ids []RequestID, off []Duration) (p50, p99 Duration) {
	before, after := make([]Duration, len(ids)), make([]Duration, len(ids))
	for i, id := range ids {
		before[i] = l.tl.Requests[id].Duration() - l.sum[id]
		after[i] = before[i] - off[id]
	}
	slices.Sort(before)
	slices.Sort(after)
	return Quantile(before, 50) - Quantile(after, 50), Quantile(before, 99) - Quantile(after, 99)
}

// spread computes how far the savings differ between the halves of a symptom: a saving
// that only one half shows is noise.
func (l *ledger) spread(s *Symptom, off []Duration) (p50, p99 Duration) {
	a50, a99 := l.savings(s.halves[0], off)
	b50, b99 := l.savings(s.halves[1], off)
	return apart(a50, b50), apart(a99, b99)
}
