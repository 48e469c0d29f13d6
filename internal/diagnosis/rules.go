package diagnosis

// scored is a candidate's remaining time held against the bounds at each endpoint.
type scored struct {
	left    []Span
	impacts []Impact // where it is a finding, the largest first
	best    Impact   // the largest, finding or not
	why     shortfall
}

// shortfall says by which bound the best impact is no finding.
type shortfall struct {
	explains     Share // of slow minus ordinary
	ratio        int64 // p99 to p50, in thousandths
	few          bool  // that is what it should be, but of too few requests
	need50, need bound // savings of p50 and of p99 that would do
	where        bool  // it met the bounds on savings, not those on what says where
}

// bound is what a saving was held against.
type bound struct {
	least Duration
	noise bool // it is what two halves of the recording differ by
}

// bound returns what a saving of a quantile must reach.
func (j *judge) bound(of, noise Duration) bound {
	least := max(j.MinSaving, j.MinShare.Of(of))
	return bound{max(least, noise), noise > least}
}

func (s *scored) passes() bool { return len(s.impacts) > 0 }

func (s *scored) weight() Duration { return s.impacts[0].P50 + s.impacts[0].P99 }

// score holds normal spans, of which nothing is taken yet, against the bounds.
func (j *judge) score(cd *candidate, left []Span) scored {
	sc := scored{left: left}
	off := j.lose(left)
	defer j.regain(left)
	for i, m := range j.ledger.remove(left, off) {
		s := &j.Symptoms[i]
		im := m.impact(s)
		noise50, noise99 := s.Noise50, s.Noise99
		if j.worth(im.P50, s.P50, noise50) || j.worth(im.P99, s.P99, noise99) {
			noise50, noise99 = max(noise50, m.spread(50)), max(noise99, m.spread(99))
		}
		saves := j.worth(im.P50, s.P50, noise50) || j.worth(im.P99, s.P99, noise99) || !cd.trial.Where && j.recurs(s, &m)
		ok := saves
		if cd.trial.Where && !cd.Proven && !j.explains(s, off) {
			ok = false
		}
		if larger(im, sc.best) || sc.best.Endpoint == "" {
			sc.best = im
			sc.why = j.shortfall(s, off)
			sc.why.where = saves
			sc.why.need50, sc.why.need = j.bound(s.P50, noise50), j.bound(s.P99, noise99)
		}
		if ok {
			sc.impacts = append(sc.impacts, im)
			if n := len(sc.impacts) - 1; larger(im, sc.impacts[0]) {
				sc.impacts[0], sc.impacts[n] = sc.impacts[n], sc.impacts[0]
			}
		}
	}
	return sc
}

func larger(a, b Impact) bool {
	if x, y := a.P50+a.P99, b.P50+b.P99; x != y {
		return x > y
	}
	return a.Total > b.Total
}

// recurs reports whether what makes two halves of a recording differ is the cause itself,
// as with one that stops everybody now and then: without it they differ by less than it
// saves, also in what is left of the recording without the runs that it hit hardest.
func (j *judge) recurs(s *Symptom, m *removal) bool {
	return m.requests > 0 && (j.worth(m.again(50), s.P50, m.after.apart(50)) || j.worth(m.again(99), s.P99, m.after.apart(99)))
}

// worth holds a saving against what every finding must save, noise included.
func (j *judge) worth(saving, of, noise Duration) bool {
	return saving >= j.MinSaving && saving >= j.MinShare.Of(of) && saving > noise
}

// explains holds it against the bounds for what says where, not why.
func (j *judge) explains(s *Symptom, off []Duration) bool {
	if j.SLO > 0 && s.P99 > j.SLO {
		return true
	}
	why := j.shortfall(s, off)
	return s.P99 >= Duration(j.WhereRatio)*s.P50 && !why.few && why.explains >= j.WhereShare
}

// aFew is how many requests show a tail: one that was hit by chance shows none.
const aFew = 3

// lone reports that p99 is so many times p50, and that fewer than a few requests are.
func (j *judge) lone(s *Symptom) bool {
	bound := Duration(j.WhereRatio) * s.P50
	n := len(s.Requests)
	return s.P99 >= bound && n >= aFew && j.Requests[s.Requests[n-aFew]].Duration() < bound
}

func (j *judge) shortfall(s *Symptom, off []Duration) shortfall {
	whole := func(ids []RequestID) (sum Duration) {
		for _, id := range ids {
			sum += j.Requests[id].Duration()
		}
		return sum / Duration(max(1, len(ids)))
	}
	diff := whole(s.Slow) - whole(s.Ordinary)
	part := mean(off, s.Slow) - mean(off, s.Ordinary)
	return shortfall{
		explains: max(0, ShareOf(int64(part), int64(diff))),
		ratio:    int64(ShareOf(int64(s.P99), int64(s.P50))) / 1000,
		few:      j.lone(s),
	}
}

// verdict books a trial that gave no finding as refuted or undecided.
func (j *judge) verdict(t *trial) {
	if t.found {
		return
	}
	out := Outcome{ID: t.ID, Verdict: Undecided, Evidence: t.res.Evidence, Missing: t.res.Undecided}
	out.Another = t.res.Another && out.Missing != ""
	if out.Missing == "" {
		out.Missing = j.unseen(t)
	}
	cd := j.atMost(t)
	if out.Missing == "" && cd != nil {
		out.Missing = j.hidden(t, cd)
	}
	if out.Missing == "" {
		out.Missing = j.uneven(t)
	}
	if out.Missing != "" {
		j.out.Undecided = append(j.out.Undecided, out)
		return
	}
	out.Verdict = Refuted
	j.refute(t, cd, &out)
	j.out.Refuted = append(j.out.Refuted, out)
}
