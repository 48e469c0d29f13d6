package diagnosis

import (
	"cmp"
	"slices"
	"strings"
)

// refute says, in numbers and in words, why a hypothesis is refuted: the largest saving
// beside its bound, even if all time that was not accounted for were its, and what
// explains it instead. The most telling number of the test stays first.
func (j *judge) refute(t *trial, atMost *candidate, out *Outcome) {
	best := j.bestOf(t)
	lead := t.res.Lead
	if best != nil && best.Lead != "" {
		lead = best.Lead
	}
	var ev []Evidence
	var counting string
	var but miss
	switch {
	case atMost != nil:
		if s := ShareOf(int64(Total(normal(j.Timeline, t.res.Hidden))), int64(j.Time())); s >= Whole/100 && t.res.Hides == "" {
			ev = append(ev, Part("of all request time is of unknown cause", s))
			counting = "counting the " + Percent(s) + " of unknown cause, "
		}
		fell, words := j.short(t, atMost)
		if ev = append(ev, fell...); best != nil || counting != "" || lead == "" {
			but = words
		}
	case best != nil:
		ev, but = j.short(t, best)
	default:
		ev = append(ev, NS("p99 would fall by", 0).Against(int64(j.MinSaving)))
	}
	out.Why = clauses(lead, counting, but)
	if best != nil && (best.alone.passes() || t.Queue) {
		id, gone := j.explainer(best)
		if id != "" && (best.alone.passes() || gone >= Whole/2) {
			out.ExplainedBy = id
			out.Evidence = append([]Evidence{Part("of its time goes with "+out.ExplainedBy, gone)}, out.Evidence...)
			with := Percent(gone) + " of its time goes with " + out.ExplainedBy
			if out.Why = "a consequence: " + with; gone < Whole/2 {
				out.Why = lead + "; " + with + "; the rest taken out, " + but.words
			}
		}
	}
	at := min(1, len(out.Evidence))
	out.Evidence = slices.Insert(slices.Clone(out.Evidence), at, ev...)
	out.Evidence = append(out.Evidence, Count("requests examined", len(j.Overall.Requests)).Against(int64(j.MinRequests)))
}

// miss says by which bound a candidate fell short: of savings, or of what says where,
// not why.
type miss struct {
	words string
	where bool
}

// clauses joins what was measured and by what it fell short. That a cause takes much
// time but is not why slow requests are slow has to read as no contradiction.
func clauses(lead, counting string, but miss) string {
	switch {
	case lead == "" || but.words == "":
		return lead + counting + but.words
	case counting != "" && strings.HasPrefix(but.words, explains):
		return lead + "; " + counting + "it " + but.words
	case counting != "":
		return lead + "; " + counting + but.words
	case !but.where:
		return lead + "; taken out, " + but.words
	case strings.HasSuffix(lead, ")"): // it has a bound of its own
		return lead + " and " + but.words
	}
	return lead + ", but " + but.words
}

const explains = "explains "

// short says by how much a candidate fell short, as evidence and in words.
func (j *judge) short(t *trial, best *candidate) (ev []Evidence, but miss) {
	sc := j.score(best, j.ledger.left(best.spans))
	if sc.passes() && !best.alone.passes() && best.alone.best.Endpoint != "" {
		sc = best.alone // only what earlier findings take lets it save something
	}
	ev = []Evidence{
		NS("p99 would fall by", sc.best.P99).Against(int64(sc.why.need.least)),
		NS("p50 would fall by", sc.best.P50).Against(int64(sc.why.need50.least)),
	}
	if !t.Where || !sc.why.where {
		return ev, miss{words: saved(&sc)}
	}
	ev = append(ev,
		Part("of slow minus ordinary", sc.why.explains).Against(int64(j.WhereShare)),
		Evidence{What: "p99 to p50", Value: sc.why.ratio, Unit: UnitRatio}.Against(j.WhereRatio*1000))
	var missed []string
	if sc.why.explains < j.WhereShare {
		missed = append(missed, explains+Percent(sc.why.explains)+" of what makes slow requests slow (bound "+Percent(j.WhereShare)+")")
	}
	if sc.why.ratio < j.WhereRatio*1000 {
		missed = append(missed, "p99 is "+decimals(Duration(sc.why.ratio/100), 1)+" x p50 (bound "+Thousands(j.WhereRatio)+" x)")
	}
	if missed == nil && sc.why.few {
		missed = append(missed, "fewer than "+Thousands(aFew)+" requests took "+Thousands(j.WhereRatio)+" x p50")
	}
	if missed == nil { // it fell short only of what earlier findings left
		return ev, miss{words: saved(&sc)}
	}
	return ev, miss{strings.Join(missed, "; "), true}
}

// saved says what a candidate would save of the quantile where that is nearest to its
// bound, and the bound.
func saved(sc *scored) string {
	name, saves, need := "p99", sc.best.P99, sc.why.need
	if near := func(d Duration, b bound) Share { return ShareOf(int64(d), int64(b.least)) }; near(sc.best.P50, sc.why.need50) > near(saves, need) {
		name, saves, need = "p50", sc.best.P50, sc.why.need50
	}
	kind := "bound "
	if need.noise {
		kind = "noise "
	}
	if saves <= 0 {
		return "neither p50 nor p99 falls (bound " + Human(need.least) + ")"
	}
	return name + " falls by " + Human(saves) + " (" + kind + Human(need.least) + ")"
}

func (j *judge) bestOf(t *trial) (best *candidate) {
	for _, cd := range t.cands {
		if best == nil || larger(cd.alone.best, best.alone.best) {
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

// atMost is a candidate that has all the time that was not accounted for besides a
// trial's own; nil if that hides nothing.
func (j *judge) atMost(t *trial) *candidate {
	if len(t.res.Hidden) == 0 {
		return nil
	}
	spans := slices.Clone(t.res.Hidden)
	if best := j.bestOf(t); best != nil {
		spans = append(spans, best.spans...)
	}
	return &candidate{trial: t, spans: normal(j.Timeline, spans)}
}

// hidden says whether time that was not accounted for could change the verdict.
func (j *judge) hidden(t *trial, atMost *candidate) string {
	sc := j.score(atMost, j.ledger.left(atMost.spans))
	if !sc.passes() {
		return ""
	}
	left := j.ledger.left(normal(j.Timeline, t.res.Hidden))
	off := j.lose(left)
	defer j.regain(left)
	s := j.symptom(sc.impacts[0].Endpoint)
	up, of := mean(off, s.Slow), " of a slow request "
	if up == 0 {
		up, of = mean(off, s.Ordinary), " of an ordinary request "
	}
	return "up to " + Human(up) + of + cmp.Or(t.res.Hides, "is of unknown cause and could be its")
}

// uneven says whether a cause would save much, again and again, but by less than two
// halves of the recording differ by. One that only says where is held against other
// bounds as well.
func (j *judge) uneven(t *trial) string {
	best := j.bestOf(t)
	if best == nil || t.Where || t.Queue {
		return ""
	}
	left := j.ledger.left(best.spans)
	sc := j.score(best, left)
	s := j.symptom(sc.best.Endpoint)
	if sc.passes() || !sc.why.need.noise && !sc.why.need50.noise {
		return ""
	}
	at := slices.IndexFunc(j.Symptoms, func(x Symptom) bool { return x.Endpoint == sc.best.Endpoint })
	m := &j.ledger.remove(left, j.lose(left))[at]
	j.regain(left)
	for _, q := range []struct {
		name             string
		saves, again, of Duration
		need             bound
	}{{"p99", sc.best.P99, m.again(99), s.P99, sc.why.need}, {"p50", sc.best.P50, m.again(50), s.P50, sc.why.need50}} {
		if q.need.noise && j.worth(min(q.saves, q.again)/plainly, q.of, 0) {
			return q.name + " would fall by " + Human(q.saves) + ", but two halves of the recording differ by " + Human(q.need.least) + " there: record for longer, or under a steadier load"
		}
	}
	return ""
}

// plainly is how many times what a finding must save is no longer near to it.
const plainly = 2
