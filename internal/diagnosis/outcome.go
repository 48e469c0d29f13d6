package diagnosis

import (
	"cmp"
	"slices"
	"strings"
)

// verdict books a trial without a finding: as leads, as minor, as ruled out or as undecided. What was seen is never
// ruled out, unless it has next to no time.
func (j *judge) verdict(t *trial) {
	if t.found {
		return
	}
	if j.leads(t) {
		return
	}
	best := j.bestOf(t)
	if best != nil && !j.few() && j.behindLead(best) != "" {
		j.out.Minor = append(j.out.Minor, j.minor(t, best))
		return
	}
	out := Outcome{ID: t.ID, Evidence: t.res.Evidence, Missing: t.res.Undecided}
	out.Another = t.res.Another && out.Missing != ""
	if out.Missing == "" && j.few() {
		out.Missing = j.tooFew()
	}
	if out.Missing == "" {
		out.Missing = j.hidden(t)
	}
	if out.Missing == "" {
		out.Missing = j.unseen(t)
	}
	if out.Missing != "" {
		j.out.Undecided = append(j.out.Undecided, out)
		return
	}
	if best != nil {
		if all, slow := j.takes(best); max(all, slow) >= j.Present {
			j.out.Minor = append(j.out.Minor, j.minor(t, best))
			return
		}
	}
	j.ruleOut(t, best, &out)
	j.out.Refuted = append(j.out.Refuted, out)
}

// leads books the candidates of a trial that are leads, and reports whether there are any.
func (j *judge) leads(t *trial) (any bool) {
	for _, cd := range t.cands {
		if _, gone := j.explainer(cd); !cd.Others && (j.follows(cd) || 2*gone >= Whole) || j.behindLead(cd) != "" {
			continue
		}
		sc := cd.remaining(j)
		best, why, spans := sc.best, "", cd.spans
		words, when := j.once(&sc, j.ledger.left(cd.seen))
		switch {
		case sc.worth && !sc.sure:
			why = "seen in " + Plural(sc.best.Requests, "request") + ", too few to prove it"
		case sc.worth && cd.Decide != "":
			why = "not proven"
		case sc.worth && t.Where:
			why = "shows where the time goes, not why"
		case sc.worth:
			why = "seen only in what the findings leave" // it passes now, but was no candidate for a finding
		case words != "":
			why = words
		case len(cd.Seen) > 0:
			var worth bool
			if best, worth = j.mostSeen(cd); worth {
				why, spans = cd.atLeast(j, &sc.best), cd.seen
			}
		}
		if why == "" {
			continue
		}
		f := j.finding(cd, cd.atMost(j, spans, &best), []Impact{best})
		j.rankLead(&f, cd, spans)
		f.Why, f.Decide = why, cmp.Or(cd.Decide, t.res.Undecided, cd.Next, cd.Fix)
		if why == words {
			f.When, f.weight = when, min(f.weight, 2*f.Impact.Mean) // that slow requests have it may be chance
		}
		if why == words && !t.Where && cd.Fix != "" {
			f.Decide = "record for longer: if it happens again, " + cd.Fix
		}
		j.out.Leads = append(j.out.Leads, f)
		cd.lead, any = true, true
	}
	return any
}

// atMost adds to the spans of a lead what may go away as well, and sets its impact to what that saves.
func (cd *candidate) atMost(j *judge, spans []Span, im *Impact) []Span {
	if len(cd.May) == 0 {
		return spans
	}
	spans = both(spans, cd.May)
	left := j.ledger.left(spans)
	for i, m := range j.ledger.remove(left, j.lose(left)) {
		if s := &j.Symptoms[i]; s.Endpoint == im.Endpoint {
			*im = m.impact(s)
		}
	}
	return spans
}

// yield withdraws the leads of a trial that go with what programs beside the service cost, if that was booked after
// them. This can happen if hypotheses explain each other in a circle.
func (t *trial) yield(j *judge) {
	var back, leads bool
	for _, cd := range t.cands {
		if cd.lead && slices.ContainsFunc(j.cands, func(o *candidate) bool { return o.Others && o.leadsTo(cd) }) {
			cd.lead, back = false, true
			j.out.Leads = slices.DeleteFunc(j.out.Leads, func(f Finding) bool { return f.ID == t.ID && f.Title == cd.Title })
		}
		leads = leads || cd.lead
	}
	if back && !leads {
		j.out.Minor = append(j.out.Minor, j.minor(t, j.bestOf(t)))
	}
}

// rankLead fills in what a lead is ranked by: its share of the mean and of a slow request. A request may exist for what
// it computes or for what a peer answers: such time can only be made cheaper, so its usual amount counts half. Chance
// decides which requests a wait for a processor makes slow, so such a wait counts by its share of the mean.
func (j *judge) rankLead(f *Finding, cd *candidate, spans []Span) {
	s := j.symptom(f.Impact.Endpoint)
	off := j.lose(spans)
	f.weight = mean(off, s.byID) + mean(off, s.Slow)
	sure := Total(spans) == Total(cd.spans) // else little of it is certainly its own
	where := cd.trial.Where && !cd.trial.Queue
	f.rank = leadRank{beside: cd.Others || cd.Peer && !sure, chance: cd.byChance(), peer: cd.Peer, own: !cd.Others && !cd.Peer, all: ShareOf(int64(mean(off, s.byID)), int64(s.Mean))}
	f.rank.needless = where && f.rank.own && !cd.trial.Work && cd.Decide == ""
	switch {
	case f.rank.needless:
		f.rank.before = 2 * f.rank.all
	case where && f.rank.own && cd.Decide == "":
		f.rank.before = f.rank.all / 2
	}
	switch {
	case cd.Others, cd.byChance():
		f.weight = 2 * mean(off, s.byID)
	case where && (cd.Peer || cd.trial.Work):
		f.weight -= min(mean(off, s.Ordinary), mean(off, s.byID), mean(off, s.Slow))
	}
	f.rank.slow = j.ofSlow(s, off)
	if j.meanOf(s.Slow) < slower*j.meanOf(s.Ordinary) || !sure {
		f.rank.slow = 0
	} else if f.rank.own {
		f.rank.apart = newBeside(j).ownOfSlow(s, spans)
	}
}

// byChance reports whether chance decides which requests a wait hits, as for a processor.
func (cd *candidate) byChance() bool { return cd.trial.Queue && cd.trial.Where }

// behindLead returns the lead that may explain a candidate and has half of its time: for leads, too, a cause comes
// before its consequences.
func (j *judge) behindLead(of *candidate) string {
	for _, cd := range j.cands {
		if cd.leadsTo(of) {
			return cd.trial.ID
		}
	}
	return ""
}

// leadsTo reports whether a candidate is such a lead for another one. What programs beside the service cost does not
// follow from what the service does.
func (cd *candidate) leadsTo(of *candidate) bool {
	if !cd.lead || cd == of || of.Others && !cd.Others || !slices.Contains(cd.trial.Explains, of.trial.ID) {
		return false
	}
	both := overlap(of.seen, cd.seen)
	return both > 0 && 2*both >= Total(of.seen)
}

// mostSeen returns the largest effect, over all endpoints, of removing all that was seen of a candidate, and whether
// that is worth having.
func (j *judge) mostSeen(cd *candidate) (Impact, bool) {
	all := *cd
	all.Decide = ""
	sc := j.score(&all, j.ledger.left(cd.seen))
	return sc.best, sc.worth
}

// minor describes what was seen and is worth little here: with what it is worth, or with the finding whose consequence
// it is.
func (j *judge) minor(t *trial, best *candidate) Finding {
	sc := best.remaining(j)
	im := sc.best
	if im.Requests == 0 {
		most, _ := j.mostSeen(best)
		im = Impact{Endpoint: most.Endpoint}
	}
	f := j.finding(best, best.spans, []Impact{im})
	f.Evidence = slices.Concat(t.res.Evidence[:min(1, len(t.res.Evidence))], f.Evidence)
	lead := cmp.Or(best.Lead, t.res.Lead)
	f.Why = clauses(lead, "without it, "+j.savings(&f.Impact))
	if lead := j.behindLead(best); lead != "" {
		f.Why = clauses(cmp.Or(best.Lead, t.res.Lead), "half of it and more goes with the lead "+lead)
	}
	f.Impact.Unsure = j.behindLead(best) == "" && j.might(0, nil, &f.Impact)
	id, gone := j.explainer(best)
	if id != "" && (2*gone >= Whole || best.alone.passes()) {
		f.ExplainedBy, f.Impact.Unsure = id, false
		f.Evidence = append([]Evidence{Part("of its time goes with "+id, gone)}, f.Evidence...)
		with := Percent(gone) + " of its time goes with " + id
		if f.Why = "a consequence: " + with; 2*gone < Whole {
			f.Why = clauses(lead, with+"; without the rest, "+j.savings(&f.Impact))
		}
	}
	return f
}

// savings says what an impact saves of the mean, or of p99 or p50 if that is more.
func (j *judge) savings(im *Impact) string {
	if max(im.Mean, im.P50, im.P99) < j.Resolution {
		return "less is saved than can be measured (" + Human(j.Resolution) + ")"
	}
	of := func(name string, d Duration, r Range) string {
		s := name + " falls by " + Human(d)
		if r != (Range{}) {
			s += " (" + Human(max(0, r.Low)) + " to " + Human(r.High) + ")"
		}
		return s
	}
	switch {
	case im.P99 > im.Mean && im.P99 >= im.P50:
		return of("p99", im.P99, im.Range99)
	case im.P50 > im.Mean:
		return of("p50", im.P50, im.Range50)
	}
	return of("the mean", im.Mean, im.MeanRange)
}

// atLeast describes a lead that is only partly its own: what removing the part that is certainly its own saves.
func (cd *candidate) atLeast(j *judge, im *Impact) string {
	open := "how much of that it causes itself is not known"
	if cd.Peer {
		open = "how much of that the peer itself causes is not known"
	}
	if max(im.Mean, im.P50, im.P99) < j.Resolution {
		return open + "; it may be very little"
	}
	return open + "; without what it surely causes, " + j.savings(im)
}

// takes returns the largest share of the time of an endpoint's requests, and of its slow ones, that was seen of a
// candidate.
func (j *judge) takes(cd *candidate) (all, slow Share) {
	off := j.lose(cd.seen)
	for i := range j.Symptoms {
		s := &j.Symptoms[i]
		all = max(all, ShareOf(int64(mean(off, s.byID)), int64(s.Mean)))
		slow = max(slow, ShareOf(int64(mean(off, s.Slow)), int64(j.meanOf(s.Slow))))
	}
	return all, slow
}

func (j *judge) meanOf(ids []RequestID) (sum Duration) {
	for _, id := range ids {
		sum += j.Requests[id].Duration()
	}
	return sum / Duration(max(1, len(ids)))
}

// ruleOut states the number that rules a hypothesis out: that nothing was seen of it, or how little of the time.
func (j *judge) ruleOut(t *trial, best *candidate, out *Outcome) {
	out.Why = t.res.Lead
	if best != nil {
		all, slow := j.takes(best)
		out.Time = max(all, slow)
		out.Why = clauses(cmp.Or(best.Lead, t.res.Lead), "at most "+Percent(out.Time)+" of an endpoint's requests or of its slow ones (bound "+Percent(j.Present)+")")
	}
	if out.Why == "" {
		out.Why = "no time of " + Plural(len(j.Overall.Requests), "request") + " went into it"
	}
	share := Part("of the mean and of slow requests at most", out.Time).Against(int64(j.Present))
	out.Evidence = slices.Insert(slices.Clone(out.Evidence), min(1, len(out.Evidence)), share)
	out.Evidence = append(out.Evidence, Count("requests examined", len(j.Overall.Requests)).Against(int64(j.MinRequests)))
}

func clauses(list ...string) string {
	return strings.Join(slices.DeleteFunc(list, func(s string) bool { return s == "" }), "; ")
}

// bestOf returns the trial's candidate with the largest impact; if equal, the one with the most time seen.
func (j *judge) bestOf(t *trial) (best *candidate) {
	for _, cd := range t.cands {
		if best == nil || larger(cd.alone.best, best.alone.best) || cd.alone.best.Total == best.alone.best.Total && Total(cd.seen) > Total(best.seen) {
			best = cd
		}
	}
	return best
}

// explainer returns the finding that took most of a candidate's time, and the share.
func (j *judge) explainer(of *candidate) (id string, gone Share) {
	for _, cd := range j.cands {
		if !cd.taken {
			continue
		}
		if s := ShareOf(int64(overlap(of.spans, cd.spans)), int64(Total(of.spans))); s > gone {
			id, gone = cd.trial.ID, s
		}
	}
	return id, gone
}

// hidden returns why time that was not accounted for could turn a hypothesis into a finding; "" if it could not.
func (j *judge) hidden(t *trial) string {
	hidden := normal(j.Timeline, t.res.Hidden)
	s := j.possible(t, hidden, j.could)
	if s == nil {
		return ""
	}
	return "up to " + j.upTo(s, hidden) + cmp.Or(t.res.Hides, "is of unknown cause and could be its")
}

// possible returns the endpoint at which a trial would be a finding if some normal spans belonged to it too, according
// to the function worth. It returns the endpoint with the largest impact, or nil.
func (j *judge) possible(t *trial, spans []Span, worth func(symptom int, m *removal, im *Impact) bool) (of *Symptom) {
	if len(spans) == 0 {
		return nil
	}
	if best := j.bestOf(t); best != nil {
		spans = both(spans, best.spans)
	}
	left := j.ledger.left(spans)
	off := j.lose(left)
	var most Impact
	for i, m := range j.ledger.remove(left, off) {
		s := &j.Symptoms[i]
		if im := m.impact(s); m.requests > 0 && worth(i, &m, &im) && (!t.Where || j.explains(s, off)) && (of == nil || larger(im, most)) {
			of, most = s, im
		}
	}
	return of
}

// upTo says how much time of an endpoint's slow request, or of an ordinary one, normal spans are.
func (j *judge) upTo(s *Symptom, spans []Span) string {
	left := j.ledger.left(spans)
	off := j.lose(left)
	up, which := mean(off, s.Slow), " of a slow request "
	if up == 0 {
		up, which = mean(off, s.Ordinary), " of an ordinary request "
	}
	return Human(up) + which
}
