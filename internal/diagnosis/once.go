package diagnosis

import (
	"cmp"
	"slices"
)

const (
	// fewTimes is the largest number of occurrences that are listed one by one.
	fewTimes = 3
	// nearlyAll is the share of a candidate's time that these occurrences must have.
	nearlyAll = Whole * 9 / 10
)

// once returns when something happened, all that was seen of it, if it happened only a few times and is worth having
// for those: nobody can know what it does to another hour. It returns "" if it is not worth having, or happened more
// often.
func (j *judge) once(sc *scored, seen []Span) (words string, when []Time) {
	if sc.best.Requests == 0 {
		return "", nil
	}
	at := slices.IndexFunc(j.Symptoms, func(s Symptom) bool { return s.Endpoint == sc.best.Endpoint })
	if s := &j.Symptoms[at]; sc.best.Mean < j.least(s.Mean, j.Worth) {
		return "", nil
	}
	first, by := j.byBlock(at, seen)
	order := make([]int, len(by))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(min(1, max(-1, by[b]-by[a]))) })
	var all, sum Duration
	for _, d := range by {
		all += d
	}
	n := 0
	for n < len(order) && ShareOf(int64(sum), int64(all)) < nearlyAll {
		sum += by[order[n]]
		n++
	}
	hit := order[:n]
	slices.Sort(hit)
	var times []string
	in := 0
	for i, b := range hit {
		in += len(j.Symptoms[at].runs[b])
		if i == 0 || b > hit[i-1]+1 {
			when = append(when, first[b])
			times = append(times, "+"+Human(first[b].Sub(j.Start)))
		}
	}
	switch {
	case len(times) > fewTimes || 2*in > len(j.Symptoms[at].Requests): // or nearly always
		return "", nil
	case len(times) == 1:
		return "happened once, at " + times[0], when
	}
	return "happened " + Plural(len(times), "time") + ", at " + list(times), when
}

func list(words []string) string {
	s := words[0]
	for i, w := range words[1:] {
		if sep := ", "; i == len(words)-2 {
			s += " and " + w
		} else {
			s += sep + w
		}
	}
	return s
}

// byBlock sums spans by block of a symptom, and returns the first time in each.
func (j *judge) byBlock(symptom int, spans []Span) (first []Time, by []Duration) {
	n := len(j.Symptoms[symptom].runs)
	first, by = make([]Time, n), make([]Duration, n)
	for _, s := range spans {
		p := j.ledger.places[s.Request]
		if int(p.symptom) != symptom {
			continue
		}
		if by[p.run] == 0 || s.From < first[p.run] {
			first[p.run] = s.From
		}
		by[p.run] += s.To.Sub(s.From)
	}
	return first, by
}

// Dominant is a mechanism that a reader must learn of first, whatever else is reported about it.
type Dominant struct {
	ID, Place, Endpoint string
	Mean                Share    // share of all the time of the endpoint's requests
	Slow                Share    // share of what slow requests take longer than ordinary ones
	Steady              bool     // says where the time goes, in slow and ordinary requests alike: it may be their purpose
	Others              bool     // it is what programs beside the service cost
	Chance              bool     // chance decides which requests it hits: a lead of the service's own may come before it
	With                []string // ids of what goes with it: for a lead that explains at least half of each
}

// slower: if slow requests take at least this many times as long as ordinary ones, the mechanism that says where that
// time goes must be looked at, even if it is no finding.
const slower = 2

// dominant finds the mechanisms that take half of an endpoint's time, or make up half of the excess of its slow
// requests. For each place it picks the endpoint with the largest share, and sorts by the endpoint's total request time
// that this share represents. What goes with a finding, or with a lead, is reported there.
func (j *judge) dominant() (out []Dominant) {
	for _, cd := range j.cands {
		if !cd.taken && (j.goes(cd.seen) || !cd.lead && j.behindLead(cd) != "" || slices.ContainsFunc(j.cands, cd.after)) {
			continue
		}
		seen, with := j.goesWith(cd)
		off := j.lose(seen)
		var most Dominant
		for i := range j.Symptoms {
			s := &j.Symptoms[i]
			d := Dominant{
				ID: cd.trial.ID, Place: cd.Place, Endpoint: s.Endpoint, Others: cd.Others, Chance: cd.byChance(), With: with,
				Mean: ShareOf(int64(mean(off, s.byID)), int64(s.Mean)), Slow: j.ofSlow(s, off),
			}
			where := cd.trial.Where && !cd.trial.Queue
			if d.Slow >= Whole/2 && mean(off, s.Slow) < j.least(s.P50, j.Worth) || where && !j.Broken(s) && j.meanOf(s.Slow) < slower*j.meanOf(s.Ordinary) {
				d.Slow = 0 // slow requests are hardly slower
			}
			d.Steady = where && d.Slow < Whole/2
			if max(d.Mean, d.Slow) >= Whole/2 && max(d.Mean, d.Slow) > max(most.Mean, most.Slow) {
				most = d
			}
		}
		if most.ID != "" {
			out = append(out, most)
		}
	}
	weight := func(d *Dominant) Duration { return min(Whole, max(d.Mean, d.Slow)).Of(j.symptom(d.Endpoint).total) }
	slices.SortStableFunc(out, func(a, b Dominant) int { return cmp.Compare(weight(&b), weight(&a)) })
	return out
}

// goesWith returns what was seen of a candidate and, if it is a lead, of what goes with it.
func (j *judge) goesWith(lead *candidate) (seen []Span, with []string) {
	seen = lead.seen
	for _, cd := range j.cands {
		leads := func(of *candidate) bool { return of.lead }
		goes := lead.lead && j.behindLead(cd) == lead.trial.ID && !slices.ContainsFunc(cd.trial.cands, leads)
		if (goes || cd.after(lead)) && !j.goes(cd.seen) {
			seen, with = both(seen, cd.seen), append(with, cd.trial.ID)
		}
	}
	return seen, slices.Compact(with)
}

// after reports whether one lead follows from another, and so comes after it.
func (cd *candidate) after(lead *candidate) bool {
	return cd.lead && lead.lead && cd.trial.res.After == lead.trial.ID
}

// putBehind sorts leads so that those of a trial come after the last lead that they follow from.
func (t *trial) putBehind(leads []Finding) {
	last := -1
	for i := range leads {
		if leads[i].ID == t.res.After {
			last = i
		}
	}
	slices.SortStableFunc(leads[:last+1], func(a, b Finding) int {
		switch {
		case a.ID == b.ID:
			return 0
		case a.ID == t.ID:
			return 1
		case b.ID == t.ID:
			return -1
		}
		return 0
	})
}

// goes reports whether at least half of some normal spans belongs to a finding.
func (j *judge) goes(spans []Span) bool {
	return slices.ContainsFunc(j.cands, func(f *candidate) bool { return f.taken && 2*overlap(spans, f.spans) >= Total(spans) })
}

// plainly decides when a lead of the service's own comes before another lead that may be larger. It comes before what
// programs beside the service cost if it is at least this share of the excess of slow requests. It comes before a peer
// that always takes as long if it is at least this share of the mean or of that excess.
//
// A wait that no request needs (needless) always comes before such a peer. It comes before the cost of other programs,
// and before waits for a processor, if it takes at least half as much of the mean as they do. What requests compute, of
// which half may be saved, must take at least twice as much.
const plainly = Whole / 4

// putBefore moves, in front of each lead, the first lead that must be looked at before it, unless one is already there.
func putBefore(leads []Finding) {
	for i := 0; i < len(leads); i++ {
		k := slices.IndexFunc(leads, func(own Finding) bool { return own.rank.comesBefore(&leads[i].rank) })
		if k > i {
			own := leads[k]
			copy(leads[i+1:k+1], leads[i:k])
			leads[i] = own
			i++
		}
	}
}

// comesBefore reports whether a lead must be looked at before another one, even if that is larger.
func (r *leadRank) comesBefore(of *leadRank) bool {
	steady := of.peer && of.slow < Whole/2
	return r.own && (of.beside && r.apart >= plainly ||
		(of.beside || of.chance) && r.before >= of.all && r.before > 0 ||
		steady && (r.needless || max(r.all, r.slow) >= plainly))
}

// foremost returns the rank of a lead among the dominant mechanisms.
func (j *judge) foremost(f *Finding) int {
	at := slices.IndexFunc(j.out.Dominant, func(d Dominant) bool { return !d.Steady && d.ID == f.ID && d.Place == f.Place })
	if at < 0 {
		return len(j.out.Dominant)
	}
	return at
}
