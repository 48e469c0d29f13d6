package diagnosis

// scored is a candidate's remaining time, held against the bounds at each endpoint.
type scored struct {
	left    []Span
	impacts []Impact // where it is a finding, the largest first
	best    Impact   // the largest, finding or not
	worth   bool     // it is worth having at some endpoint, though it may only say where
	sure    bool     // the same, at an endpoint with enough requests to decide that
}

func (s *scored) passes() bool { return len(s.impacts) > 0 }

func (s *scored) weight() Duration { return weight(&s.impacts[0]) }

// weight is the number by which impacts are compared: the sum of their savings of all three statistics.
func weight(im *Impact) Duration { return im.Mean + im.P50 + im.P99 }

func larger(a, b Impact) bool {
	if x, y := weight(&a), weight(&b); x != y {
		return x > y
	}
	return a.Total > b.Total
}

// score holds normal spans, none of which is taken yet, against the bounds.
func (j *judge) score(cd *candidate, left []Span) scored {
	sc := scored{left: left}
	off := j.lose(left)
	for i, m := range j.ledger.remove(left, off) {
		if m.requests == 0 {
			continue
		}
		s := &j.Symptoms[i]
		im := m.impact(s)
		worth := j.worth(i, &m, &im)
		sure := worth && !s.Few
		if sc.best.Requests == 0 || sure && !sc.sure || sure == sc.sure && (worth && !sc.worth || worth == sc.worth && larger(im, sc.best)) {
			sc.best = im
		}
		sc.worth, sc.sure = sc.worth || worth, sc.sure || sure
		if sure && cd.Decide == "" && (!cd.trial.Where || cd.Proven || j.explains(s, off)) {
			sc.impacts = append(sc.impacts, im)
			if n := len(sc.impacts) - 1; larger(im, sc.impacts[0]) {
				sc.impacts[0], sc.impacts[n] = sc.impacts[n], sc.impacts[0]
			}
		}
	}
	return sc
}

// remaining holds what is left of a candidate against the bounds; as long as nothing is taken, that is all of it.
func (cd *candidate) remaining(j *judge) scored {
	if j.ledger.taken == nil {
		return cd.alone
	}
	return j.score(cd, j.ledger.left(cd.spans))
}

// least returns the smallest saving of a statistic that is worth having.
func (j *judge) least(of Duration, share Share) Duration { return max(j.Resolution, share.Of(of)) }

// worth reports whether a saving is worth having: for the mean, p50 or p99, the lower end of its interval must be.
func (j *judge) worth(symptom int, m *removal, im *Impact) bool {
	return j.reaches(symptom, m, im, j.Worth)
}

// could reports whether removing time that may belong to a mechanism would clearly be worth having: the saving reaches
// the share (Open) from which unknown time counts.
func (j *judge) could(symptom int, m *removal, im *Impact) bool {
	return j.reaches(symptom, m, im, j.Open)
}

// might reports whether a saving may be worth having, however uncertain it is: all that was lost may have been at one
// moment.
func (j *judge) might(_ int, _ *removal, im *Impact) bool {
	s := j.symptom(im.Endpoint)
	return im.Mean >= j.least(s.Mean, j.Worth) || im.P50 >= j.least(s.P50, j.Worth) || im.P99 >= j.least(s.P99, j.Worth)
}

// reaches reports whether a saving reaches a share of the mean, of p50 or of p99, and the lower end of its interval is
// worth having.
func (j *judge) reaches(symptom int, m *removal, im *Impact, share Share) bool {
	s := &j.Symptoms[symptom]
	for _, q := range []struct {
		stat       int
		saving, of Duration
	}{{statMean, im.Mean, s.Mean}, {stat50, im.P50, s.P50}, {stat99, im.P99, s.P99}} {
		if q.saving >= j.least(q.of, share) && j.ledger.interval(symptom, m, q.stat, q.saving).Low >= j.least(q.of, j.Worth) {
			return true
		}
	}
	return false
}

// explains holds a removal against the bounds for hypotheses that say where, not why.
func (j *judge) explains(s *Symptom, off []Duration) bool {
	if j.Broken(s) {
		return true
	}
	return s.P99 >= Duration(j.WhereRatio)*s.P50 && !j.lone(s) && j.ofSlow(s, off) >= j.WhereShare
}

// ofSlow returns what share of the excess of slow requests over ordinary ones is due to a cause.
func (j *judge) ofSlow(s *Symptom, off []Duration) Share {
	whole := func(ids []RequestID) (sum Duration) {
		for _, id := range ids {
			sum += j.Requests[id].Duration()
		}
		return sum / Duration(max(1, len(ids)))
	}
	diff := whole(s.Slow) - whole(s.Ordinary)
	return max(0, ShareOf(int64(mean(off, s.Slow)-mean(off, s.Ordinary)), int64(diff)))
}

// aFew is how many requests are needed to show a tail: one that was hit by chance shows none.
const aFew = 3

// lone reports whether p99 is many times p50 (WhereRatio), but fewer than aFew requests are that slow.
func (j *judge) lone(s *Symptom) bool {
	bound := Duration(j.WhereRatio) * s.P50
	n := len(s.Requests)
	return s.P99 >= bound && n >= aFew && j.Requests[s.Requests[n-aFew]].Duration() < bound
}

// ranged fills in the intervals of the effect of removing what is left of a candidate's spans. What may go away as well
// raises their upper ends.
func (j *judge) ranged(cd *candidate, spans []Span, im Impact) Impact {
	j.intervals(spans, &im)
	if overlap(spans, cd.May) < Total(cd.May) {
		wide := im
		j.intervals(both(spans, cd.May), &wide)
		im.MeanRange.High = max(im.MeanRange.High, wide.MeanRange.High)
		im.Range50.High = max(im.Range50.High, wide.Range50.High)
		im.Range99.High = max(im.Range99.High, wide.Range99.High)
	}
	return im
}

func (j *judge) intervals(spans []Span, im *Impact) {
	left := j.ledger.left(spans)
	removed := j.ledger.remove(left, j.lose(left))
	for i := range j.Symptoms {
		if m := &removed[i]; j.Symptoms[i].Endpoint == im.Endpoint && m.requests > 0 {
			im.MeanRange = j.ledger.interval(i, m, statMean, im.Mean)
			if r := j.ledger.drawnAnew(i, m, j.waitBesides(i, left), im.Mean); r.High-r.Low >= im.MeanRange.High-im.MeanRange.Low+j.Resolution {
				judged := min(im.MeanRange.Low, j.least(j.Symptoms[i].Mean, j.Worth))
				im.MeanRange = Range{max(judged, min(r.Low, im.MeanRange.Low)), max(r.High, im.MeanRange.High)}
			}
			im.Range50 = j.ledger.interval(i, m, stat50, im.P50)
			im.Range99 = j.ledger.interval(i, m, stat99, im.P99)
		}
	}
}

// waitBesides returns, by run of a symptom, how long its requests wait for a processor outside spans.
func (j *judge) waitBesides(symptom int, spans []Span) []Duration {
	ready := j.Ready()
	by := make([]Duration, len(j.Symptoms[symptom].runs))
	book := func(s Span, sign Duration) {
		if p := j.ledger.places[s.Request]; int(p.symptom) == symptom {
			by[p.run] += sign * s.To.Sub(s.From)
		}
	}
	for _, s := range ready {
		book(s, 1)
	}
	overlaps(ready, spans, func(s Span) { book(s, -1) })
	return by
}
