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
	empty bool
}

func newLedger(tl *timeline.Timeline) *ledger {
	return &ledger{tl, make([][]Span, len(tl.Requests)), make([]Duration, len(tl.Requests)), true}
}

// normal sorts spans by request and time, clips them to their requests and merges
// overlaps.
func normal(tl *timeline.Timeline, spans []Span) []Span {
	in := spans
	if !slices.IsSortedFunc(in, bySpan) {
		in = slices.Clone(in)
		slices.SortFunc(in, bySpan)
	}
	var out []Span
	for _, s := range in {
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

func bySpan(a, b Span) int {
	if a.Request != b.Request {
		return cmp.Compare(a.Request, b.Request)
	}
	if a.From != b.From {
		return cmp.Compare(a.From, b.From)
	}
	return cmp.Compare(a.To, b.To)
}

// left returns what of normal spans is not taken yet.
func (l *ledger) left(spans []Span) []Span {
	if l.empty {
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

// take books normal spans of which nothing is taken yet.
func (l *ledger) take(spans []Span) {
	l.empty = false
	for i := 0; i < len(spans); {
		id := spans[i].Request
		fresh := len(l.taken[id]) == 0
		for ; i < len(spans) && spans[i].Request == id; i++ {
			l.taken[id] = append(l.taken[id], spans[i])
			l.sum[id] += spans[i].To.Sub(spans[i].From)
		}
		if !fresh {
			slices.SortFunc(l.taken[id], bySpan)
		}
	}
}

// overlap returns how much of the normal spans a lies in the normal spans b.
func overlap(a, b []Span) Duration {
	var sum Duration
	for i, k := 0, 0; i < len(a) && k < len(b); {
		x, y := &a[i], &b[k]
		if x.Request == y.Request {
			if from, to := max(x.From, y.From), min(x.To, y.To); from < to {
				sum += to.Sub(from)
			}
		}
		if x.Request < y.Request || x.Request == y.Request && x.To <= y.To {
			i++
		} else {
			k++
		}
	}
	return sum
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

// noise computes by how much the quantiles of the halves of a symptom differ without off.
func (l *ledger) noise(s *Symptom, off []Duration) (p50, p99 Duration) {
	var q [2][2]Duration
	for i, ids := range s.halves {
		after := make([]Duration, len(ids))
		for k, id := range ids {
			after[k] = l.tl.Requests[id].Duration() - l.sum[id] - off[id]
		}
		slices.Sort(after)
		q[i] = [2]Duration{Quantile(after, 50), Quantile(after, 99)}
	}
	return apart(q[0][0], q[1][0]), apart(q[0][1], q[1][1])
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
