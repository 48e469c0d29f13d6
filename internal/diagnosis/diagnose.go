package diagnosis

import (
	"cmp"
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Diagnosis is the verdict on every hypothesis, and what the verdicts rest on.
type Diagnosis struct {
	Options   Options // with the defaults filled in
	Overall   Symptom
	Symptoms  []Symptom // every endpoint, the most frequent first
	Findings  []Finding // by impact; none counts time that an earlier one counted
	Leads     []Finding // first what must be looked at first, then by impact: worth having, but says where, not why, or is not proven
	Minor     []Finding // seen, and worth little here; in the order of the hypotheses, as are Refuted and Undecided
	Refuted   []Outcome // ruled out
	Undecided []Outcome
	SLOs      []SLOResult
	Titles    map[string]string // titles of the hypotheses, by id
	Dominant  []Dominant        // mechanisms that take half of the mean, or half of the excess of slow requests
	Open      []Unexplained     // causes that take half of some requests, and that nothing above covers
}

// Diagnose tests the hypotheses on a timeline.
func Diagnose(tl *timeline.Timeline, hyps []Hypothesis, o Options) *Diagnosis {
	return DiagnoseBy(recording.Workers{}, tl, hyps, o)
}

// DiagnoseBy is Diagnose, with the hypotheses tested by several workers.
func DiagnoseBy(by recording.Workers, tl *timeline.Timeline, hyps []Hypothesis, o Options) *Diagnosis {
	c, each := newCase(tl, o)
	d := &Diagnosis{Options: c.Options, Overall: c.Overall, Symptoms: each, Titles: map[string]string{}}
	j := &judge{Case: c, ledger: newLedger(tl, c.Symptoms), off: make([]Duration, len(tl.Requests)), out: d}
	j.lost = j.losses()
	for i := range hyps {
		d.Titles[hyps[i].ID] = hyps[i].Title
		t := &trial{Hypothesis: &hyps[i]}
		t.res.Undecided = j.unobserved(t.Hypothesis)
		j.trials = append(j.trials, t)
	}
	j.test(by)
	for _, t := range j.trials {
		j.candidates(t)
	}
	j.rank()
	order := j.causesFirst()
	for _, t := range order {
		j.verdict(t)
	}
	for _, t := range order {
		t.yield(j)
	}
	d.Dominant, d.SLOs = j.dominant(), j.promised()
	d.Open = unexplained(j)
	j.inOrder()
	return d
}

// causesFirst returns the trials in an order in which each follows those that may explain it.
func (j *judge) causesFirst() (order []*trial) {
	booked := map[string]bool{}
	var book func(t *trial)
	book = func(t *trial) {
		if booked[t.ID] {
			return
		}
		booked[t.ID] = true
		for _, cause := range j.trials {
			if slices.Contains(cause.Explains, t.ID) {
				book(cause)
			}
		}
		order = append(order, t)
	}
	for _, t := range j.trials {
		book(t)
	}
	return order
}

// inOrder sorts everything except the findings. Leads are sorted by what they could save or by their excess in slow
// requests, after those that must be looked at first; the rest is in the order of the hypotheses.
func (j *judge) inOrder() {
	at := map[string]int{}
	for i, t := range j.trials {
		at[t.ID] = i
	}
	outcome := func(a, b Outcome) int { return cmp.Compare(at[a.ID], at[b.ID]) }
	slices.SortStableFunc(j.out.Refuted, outcome)
	slices.SortStableFunc(j.out.Undecided, outcome)
	slices.SortStableFunc(j.out.Minor, func(a, b Finding) int { return cmp.Compare(at[a.ID], at[b.ID]) })
	ranks := map[string]int{}
	for i := range j.out.Leads {
		f := &j.out.Leads[i]
		ranks[f.ID+" "+f.Place] = j.foremost(f)
	}
	slices.SortStableFunc(j.out.Leads, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(ranks[a.ID+" "+a.Place], ranks[b.ID+" "+b.Place]), cmp.Compare(b.weight, a.weight), cmp.Compare(at[a.ID], at[b.ID]))
	})
	putBefore(j.out.Leads)
	for _, t := range j.trials {
		t.putBehind(j.out.Leads)
	}
}

// judge holds the state of one diagnosis.
type judge struct {
	*Case
	ledger *ledger
	trials []*trial
	cands  []*candidate
	lost   map[string]int64 // facts lost while measured requests ran, by hook
	off    []Duration       // see lose
	gone   []Span           // the spans that off sums up
	out    *Diagnosis
}

// trial is one hypothesis under test.
type trial struct {
	*Hypothesis
	res   Result
	cands []*candidate
	doubt *doubt // what it may not rest on
	found bool
}

// candidate is a Candidate with its normal spans.
type candidate struct {
	Candidate
	trial *trial
	spans []Span
	seen  []Span // spans, and what else was seen of it
	alone scored // judged before any finding was taken
	taken bool   // it is a finding
	lead  bool

	weight Duration // its finding's rank, once taken
}

// test tests the hypotheses. One worker tests all hypotheses of a family, because they share what was made for them:
// see Case.Shared.
func (j *judge) test(by recording.Workers) {
	var families [][]*trial
	index := map[string]int{}
	for _, t := range j.trials {
		if t.res.Undecided != "" {
			continue
		}
		at, known := index[t.Family]
		if !known || t.Family == "" {
			at = len(families)
			index[t.Family] = at
			families = append(families, nil)
		}
		families[at] = append(families[at], t)
	}
	slices.SortStableFunc(families, func(a, b []*trial) int { return -strings.Compare(a[0].Family, b[0].Family) }) // what takes long begins first

	cases := recording.Of(by, func() *Case {
		c := *j.Case
		c.shared = nil
		return &c
	})
	by.Do(len(families), func(worker, i int) {
		for _, t := range families[i] {
			t.res = t.Test(cases[worker])
			for k := range t.res.Candidates {
				c := &t.res.Candidates[k]
				c.Spans, c.May = normal(j.Timeline, c.Spans), normal(j.Timeline, c.May) // the original lists are released
			}
		}
	})
}

// candidates judges each candidate of a trial alone.
func (j *judge) candidates(t *trial) {
	t.doubt = j.doubts(t.Needs)
	for i := range t.res.Candidates {
		rc := &t.res.Candidates[i]
		cd := &candidate{Candidate: *rc, trial: t, spans: t.doubt.sure(rc.Spans)}
		if cd.seen = cd.spans; len(rc.Seen) > 0 {
			cd.seen = t.doubt.sure(normal(j.Timeline, slices.Concat(rc.Spans, rc.Seen)))
		}
		cd.alone = j.score(cd, cd.spans)
		t.cands = append(t.cands, cd)
		j.cands = append(j.cands, cd)
	}
}

// unobserved returns why nothing can be decided about h; "" if it can.
func (j *judge) unobserved(h *Hypothesis) string {
	var off []string
	for _, hook := range h.Needs {
		if !j.Recorded(hook) {
			off = append(off, hook)
		}
	}
	switch {
	case len(off) > 0:
		return "not recorded: " + strings.Join(off, ", ")
	case len(j.Symptoms) == 0:
		return j.tooFew()
	}
	return ""
}

// tooFew returns the reason if there are too few requests to decide anything.
func (j *judge) tooFew() string {
	return Plural(len(j.Overall.Requests), "request") + " measured, at least " + Plural(j.MinRequests, "request") + " of an endpoint needed"
}

// rank takes findings one by one, the largest first, but a cause before its consequences, until nothing that is left
// meets the bounds. Findings are ordered by impact. A cause has the weight of what it explains, and what other programs
// cost comes last.
func (j *judge) rank() {
	var weights []Duration
	for {
		best, sc := j.largest()
		if best == nil {
			break
		}
		weight := sc.weight()
		best, sc, weight = j.upstream(best, sc, weight)
		if weight = j.behind(best, weight); best.Others {
			weight = 0 // reported separately
		}
		best.taken, best.trial.found, best.weight = true, true, weight
		f := j.finding(best, best.spans, sc.impacts)
		at, _ := slices.BinarySearchFunc(weights, weight, func(w, t Duration) int {
			if w >= t {
				return -1
			}
			return 1
		})
		weights = slices.Insert(weights, at, weight)
		j.out.Findings = slices.Insert(j.out.Findings, at, f)
		j.ledger.take(sc.left)
	}
}

// largest returns the candidate whose finding weighs most. Candidates that are the service's own come before others.
func (j *judge) largest() (best *candidate, bs scored) {
	for _, cd := range j.cands {
		if cd.taken || !cd.alone.passes() || j.follows(cd) {
			continue
		}
		sc := cd.remaining(j)
		if sc.passes() && (best == nil || best.Others && !cd.Others || best.Others == cd.Others && sc.weight() > bs.weight()) {
			best, bs = cd, sc
		}
	}
	return best, bs
}

// behind limits the weight of a queue to that of the findings that explain a part of it (partOf): a finding that says
// where time is lost comes after the one that says why.
func (j *judge) behind(of *candidate, weight Duration) Duration {
	for _, cd := range j.cands {
		if of.trial.Queue && cd.taken && j.partOf(cd, of) {
			weight = min(weight, cd.weight)
		}
	}
	return weight
}

// partOf reports whether a candidate may explain a queue, and does so for a tenth of it.
func (j *judge) partOf(cause, queue *candidate) bool {
	return slices.Contains(cause.trial.Explains, queue.trial.ID) &&
		ShareOf(int64(overlap(queue.spans, cause.spans)), int64(Total(queue.spans))) >= Whole/10
}

// follows reports whether a candidate is the consequence of a finding that may explain it and takes at least half of
// its time. It applies to queues: without its cause a queue shrinks by more than the time known to go away, so the rest
// is no finding of its own. It applies to hypotheses that say where the time goes, because they said it about the
// whole. It also applies to a candidate at the same place as the finding, such as a lock's: one fix addresses both.
func (j *judge) follows(of *candidate) bool {
	spans := of.spans
	if len(spans) == 0 {
		spans = of.seen // how much of it is its own is not known
	}
	for _, cd := range j.cands {
		if (of.trial.Queue || of.trial.Where || of.Place != "" && of.Place == cd.Place) && cd.taken && slices.Contains(cd.trial.Explains, of.trial.ID) && overlap(spans, cd.spans)*2 >= Total(spans) {
			return true
		}
	}
	return false
}

// upstream follows a candidate to its cause, to the cause of that, and so on.
func (j *judge) upstream(cd *candidate, sc scored, weight Duration) (*candidate, scored, Duration) {
	for range j.trials {
		cause, cs, most := j.cause(cd, sc)
		if cause == nil {
			break
		}
		if !most {
			weight = 0
		}
		cd, sc = cause, cs
		weight = max(weight, cs.weight())
	}
	return cd, sc, weight
}

// cause returns a candidate that may explain another and meets the bounds. It must cover most of the other's time (then
// most is true), lie mostly inside it, or be a part of a queue. If two candidates may explain each other, the cause is
// the one that says why.
func (j *judge) cause(of *candidate, sc scored) (cause *candidate, cs scored, most bool) {
	for _, cd := range j.cands {
		if cd.taken || !cd.alone.passes() || !slices.Contains(cd.trial.Explains, of.trial.ID) ||
			cd.trial.Where && !of.trial.Where && slices.Contains(of.trial.Explains, cd.trial.ID) {
			continue
		}
		cs = cd.remaining(j)
		if !cs.passes() {
			continue
		}
		both := overlap(sc.left, cs.left)
		most = both*2 >= Total(sc.left)
		if most || both*2 >= Total(cs.left) || of.trial.Queue && j.partOf(cd, of) {
			return cd, cs, most
		}
	}
	return nil, scored{}, false
}

// finding describes a candidate by the effect of removing spans of it. The endpoint with the largest effect comes
// first.
func (j *judge) finding(cd *candidate, spans []Span, impacts []Impact) Finding {
	f := Finding{
		ID: cd.trial.ID, Title: cd.Title, Place: cd.Place, Impact: j.ranged(cd, spans, impacts[0]), Also: impacts[1:],
		Fix: cd.Fix, Next: cd.Next, AtLeast: cd.AtLeast, WhatIf: cd.WhatIf,
	}
	s := j.symptom(f.Impact.Endpoint)
	left := j.ledger.left(spans)
	f.Impact.Portions, f.Impact.Slow = portions(j.Timeline, s, left), mean(j.lose(left), s.Slow)
	off := j.lose(cd.seen)
	f.Impact.Seen = mean(off, s.byID)
	worst := mostOf(s.Requests, off)
	for _, e := range cd.Evidence {
		if e.Requests == nil {
			e = e.On(worst)
		}
		f.Evidence = append(f.Evidence, e)
	}
	f.Evidence = append(f.Evidence,
		NS("its time in an ordinary request", mean(off, s.Ordinary)).On(s.Ordinary),
		NS("its time in a slow request", mean(off, s.Slow)).On(s.Slow))
	if share := inferredShare(j.Timeline, spans); share > 0 {
		f.Evidence = append(f.Evidence, Part("of its time is of calls whose request is inferred", share))
	}
	return f
}

func (j *judge) symptom(endpoint string) *Symptom {
	for i := range j.Symptoms {
		if j.Symptoms[i].Endpoint == endpoint {
			return &j.Symptoms[i]
		}
	}
	return &j.Overall
}

// mostOf returns the few requests that lose most; of equal ones the first.
func mostOf(ids []RequestID, off []Duration) []RequestID {
	var out []RequestID
	for _, id := range ids {
		if len(out) == evidenceRequests && off[id] <= off[out[len(out)-1]] {
			continue
		}
		at := len(out)
		for at > 0 && off[id] > off[out[at-1]] {
			at--
		}
		out = slices.Insert(out, at, id)
		out = out[:min(len(out), evidenceRequests)]
	}
	return out
}

func mean(per []Duration, ids []RequestID) Duration {
	if len(ids) == 0 {
		return 0
	}
	var sum Duration
	for _, id := range ids {
		sum += per[id]
	}
	return sum / Duration(len(ids))
}
