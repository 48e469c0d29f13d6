package diagnosis

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline/lists"
)

// removal is the effect on a symptom of removing something from its requests, after everything that is taken already.
type removal struct {
	before, after sortedRuns
	requests      int        // number that lose time
	total         Duration   // sum over them
	by            []Duration // by run
}

// place is the symptom that contains a request, and the run in it.
type place struct{ symptom, run int32 }

// places finds the place of every request; symptom is -1 if it is in none.
func places(n int, symptoms []Symptom) []place {
	out := make([]place, n)
	for i := range out {
		out[i].symptom = -1
	}
	for i := range symptoms {
		for k, run := range symptoms[i].runs {
			for _, id := range run {
				out[id] = place{int32(i), int32(k)}
			}
		}
	}
	return out
}

// remove computes, for each symptom, the effect of removing off from each request. The spans represent the same time,
// ordered by request. The time is linear in the spans, and in the requests of the runs that contain them.
func (l *ledger) remove(spans []Span, off []Duration) []removal {
	out := make([]removal, len(l.symptoms))
	for i := 0; i < len(spans); {
		id := spans[i].Request
		for i++; i < len(spans) && spans[i].Request == id; i++ {
		}
		p := l.places[id]
		if p.symptom < 0 || off[id] <= 0 {
			continue
		}
		m := &out[p.symptom]
		if m.by == nil {
			m.by = make([]Duration, len(l.symptoms[p.symptom].runs))
		}
		m.requests++
		m.total += off[id]
		m.by[p.run] += off[id]
	}
	for i := range out {
		if out[i].requests > 0 {
			l.shorten(i, &out[i], off)
		}
	}
	return out
}

// shorten fills in the durations of a symptom's requests before and after.
func (l *ledger) shorten(symptom int, m *removal, off []Duration) {
	runs := l.symptoms[symptom].runs
	orders := l.order(symptom)
	m.before, m.after = make(sortedRuns, len(runs)), make(sortedRuns, len(runs))
	var room []Duration
	for k, o := range orders {
		m.before[k], m.after[k] = o.left, o.left
		if m.by[k] > 0 {
			room = slices.Grow(room[:0], len(o.ids))
			m.after[k] = o.without(off, room)
		}
	}
}

// runOrder holds the requests of a run, sorted by what is left of their durations.
type runOrder struct {
	ids  []RequestID
	left []Duration
}

// order returns the runs of a symptom, each sorted; it is computed again after a take.
func (l *ledger) order(symptom int) []runOrder {
	if l.orders[symptom] != nil {
		return l.orders[symptom]
	}
	list := make([]runOrder, len(l.symptoms[symptom].runs))
	for k, run := range l.symptoms[symptom].runs {
		o := runOrder{ordered(run, func(id RequestID) Duration { return l.rest[id] }), make([]Duration, len(run))}
		for i, id := range o.ids {
			o.left[i] = l.rest[id]
		}
		list[k] = o
	}
	l.orders[symptom] = list
	return list
}

// without returns the run's remaining durations less off, sorted: requests that lose nothing are in order already. It
// uses room as scratch memory.
func (o *runOrder) without(off, room []Duration) []Duration {
	out, less := make([]Duration, 0, len(o.ids)), room[:0]
	for i, id := range o.ids {
		if d := off[id]; d > 0 {
			less = append(less, o.left[i]-d)
		} else {
			out = append(out, o.left[i])
		}
	}
	lists.SortNumbers(less)
	return mergeInto(out, less)
}

// mergeInto merges two sorted lists from the end, using the spare room of the first one.
func mergeInto(a, b []Duration) []Duration {
	i, k := len(a)-1, len(b)-1
	a = append(a, b...)
	for at := len(a) - 1; k >= 0; at-- {
		if i >= 0 && a[i] > b[k] {
			a[at] = a[i]
			i--
		} else {
			a[at] = b[k]
			k--
		}
	}
	return a
}

// impact returns what is saved at the endpoint.
func (m *removal) impact(s *Symptom) Impact {
	im := Impact{Endpoint: s.Endpoint, Requests: m.requests, Total: m.total}
	if m.requests > 0 {
		im.Mean = m.total / Duration(len(s.Requests))
		im.P50, im.P99 = fall(m.before, m.after, 50), fall(m.before, m.after, 99)
		im.Share = ShareOf(int64(m.total), int64(s.total))
	}
	return im
}
