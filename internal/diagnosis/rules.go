package diagnosis

import (
	"slices"
	"strconv"

	"github.com/getdwell/dwell/recording"
)

// scored is a candidate's remaining time held against the bounds at each endpoint.
type scored struct {
	left    []Span
	impacts []Impact // where it is a finding, the largest first
	best    Impact   // the largest, finding or not
	why     shortfall
}

// shortfall says by which bound the best impact is no finding.
type shortfall struct {
	explains Share    // of slow minus ordinary
	ratio    int64    // p99 to p50, in thousandths
	need     Duration // p99 saving that would do
	where    bool     // it met the bounds on savings, not those on what says where
}

func (s *scored) passes() bool { return len(s.impacts) > 0 }

func (s *scored) weight() Duration { return s.impacts[0].P50 + s.impacts[0].P99 }

// score holds normal spans, of which nothing is taken yet, against the bounds.
func (j *judge) score(cd *candidate, left []Span) scored {
	sc := scored{left: left}
	off := perRequest(len(j.Requests), left)
	for i := range j.Symptoms {
		s := &j.Symptoms[i]
		im := j.ledger.impact(s, off)
		noise50, noise99 := s.Noise50, s.Noise99
		if j.worth(im.P50, s.P50, noise50) || j.worth(im.P99, s.P99, noise99) {
			spread50, spread99 := j.ledger.spread(s, off)
			noise50, noise99 = max(noise50, spread50), max(noise99, spread99)
		}
		saves := j.worth(im.P50, s.P50, noise50) || j.worth(im.P99, s.P99, noise99)
		ok := saves
		if cd.trial.Where && !cd.Proven && !j.explains(s, off) {
			ok = false
		}
		if larger(im, sc.best) || sc.best.Endpoint == "" {
			sc.best = im
			sc.why = j.shortfall(s, off)
			sc.why.where = saves
			sc.why.need = max(j.MinSaving, j.MinShare.Of(s.P99), noise99)
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
	return s.P99 >= Duration(j.WhereRatio)*s.P50 && why.explains >= j.WhereShare
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
	}
}

// verdict books a trial that gave no finding as refuted or undecided.
func (j *judge) verdict(t *trial) {
	if t.found {
		return
	}
	out := Outcome{ID: t.ID, Verdict: Undecided, Evidence: t.res.Evidence, Missing: t.res.Undecided}
	if out.Missing == "" {
		out.Missing = j.unseen(t)
	}
	cd := j.atMost(t)
	if out.Missing == "" && cd != nil {
		out.Missing = j.hidden(t, cd)
	}
	if out.Missing != "" {
		j.out.Undecided = append(j.out.Undecided, out)
		return
	}
	out.Verdict = Refuted
	j.refute(t, cd, &out)
	j.out.Refuted = append(j.out.Refuted, out)
}

// refute adds the numbers that refute, after the most telling one of the test: the
// largest saving beside its bound, even if all time that was not accounted for were
// its, and what explains it instead.
func (j *judge) refute(t *trial, atMost *candidate, out *Outcome) {
	var ev []Evidence
	best := j.bestOf(t)
	if best != nil && best.alone.passes() {
		var gone Share
		if out.ExplainedBy, gone = j.explainer(best); out.ExplainedBy != "" {
			out.Evidence = append([]Evidence{Part("of its time goes with "+out.ExplainedBy, gone)}, out.Evidence...)
		}
	}
	switch {
	case atMost != nil:
		if s := ShareOf(int64(Total(normal(j.Timeline, t.res.Hidden))), int64(j.Time())); s >= Whole/100 {
			ev = append(ev, Part("of all request time is not accounted for", s))
		}
		ev = append(ev, j.short(t, atMost)...)
	case best != nil:
		ev = j.short(t, best)
	default:
		ev = append(ev, NS("p99 would fall by", 0).Against(int64(j.MinSaving)))
	}
	at := min(1, len(out.Evidence))
	out.Evidence = slices.Insert(slices.Clone(out.Evidence), at, ev...)
	out.Evidence = append(out.Evidence, Count("requests examined", len(j.Overall.Requests)).Against(int64(j.MinRequests)))
}

// short says by how much a candidate fell short.
func (j *judge) short(t *trial, best *candidate) []Evidence {
	sc := j.score(best, j.ledger.left(best.spans))
	ev := []Evidence{NS("p99 would fall by", sc.best.P99).Against(int64(sc.why.need))}
	if t.Where && sc.why.where {
		ev = append(ev,
			Part("of slow minus ordinary", sc.why.explains).Against(int64(j.WhereShare)),
			Evidence{What: "p99 to p50", Value: sc.why.ratio, Unit: UnitRatio}.Against(j.WhereRatio*1000))
	}
	return ev
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

// losses counts, by hook, the facts that were lost while measured requests ran.
func (j *judge) losses() map[string]int64 {
	by := map[string]int64{}
	for _, l := range j.Losses {
		for _, id := range j.Overall.Requests {
			if r := &j.Requests[id]; r.Start <= l.To && l.From <= r.End {
				by[l.Hook] += l.Count
				break
			}
		}
	}
	return by
}

// unseen says which losses keep a hypothesis from being refuted. A loss whose hook is
// no known one concerns all hypotheses.
func (j *judge) unseen(t *trial) string {
	var n int64
	for hook, count := range j.lost {
		if slices.Contains(t.Needs, hook) || !slices.Contains(hooks, hook) {
			n += count
		}
	}
	if n == 0 {
		return ""
	}
	return plural(int(n), "fact") + " lost while requests ran"
}

// hooks are those a loss is known not to reach beyond.
var hooks = []string{
	recording.HookSched, recording.HookProcesses, recording.HookSockets, recording.HookIO,
	recording.HookArrivals, recording.HookDNS, recording.HookTLS, recording.HookGoroutines,
	recording.HookAsync, recording.HookBoundaries, recording.HookSamples, recording.HookHost,
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
	off := perRequest(len(j.Requests), j.ledger.left(normal(j.Timeline, t.res.Hidden)))
	s := j.symptom(sc.impacts[0].Endpoint)
	return "up to " + inWords(mean(off, s.Slow)) + " of a slow request is not accounted for and could be its"
}

// inWords prints a duration with one decimal in the unit that fits.
func inWords(d Duration) string {
	unit, name := Duration(1000), " us"
	switch {
	case d >= 1000*milli:
		unit, name = 1000*milli, " s"
	case d >= milli:
		unit, name = milli, " ms"
	}
	return strconv.FormatInt(int64(d/unit), 10) + "." + strconv.FormatInt(int64(d%unit*10/unit), 10) + name
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
