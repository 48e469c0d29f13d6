package main

import (
	"math"
	"slices"
)

// worth is the least effect, as a share of the mean, of p50 or of p99, from which on a fault has
// to be said first.
const worth = 0.10

// outcome is how good what was said of a faulty service is.
type outcome string

const (
	right  outcome = "right"  // the fault is said first
	wrong  outcome = "wrong"  // something else is found first
	missed outcome = "missed" // nothing is found, and the fault is not the first lead where that would do
)

// effect is by how much of them the mean, p50 and p99 fall without the fault: the largest.
func (r *result) effect() float64 {
	if r.Twin == nil {
		return 0
	}
	bad, good := r.Faulty.Clients, r.Twin.Clients
	share := func(bad, good float64) float64 { return (bad - good) / max(1, bad) }
	return max(share(bad.Mean, good.Mean), share(float64(bad.P50), float64(good.P50)), share(float64(bad.P99), float64(good.P99)))
}

// judged tells whether the fault costs so much that it has to be said first, and nobody else more.
func (r *result) judged() bool { return r.effect() >= worth && !r.disturbed() }

// disturbed tells whether a program that nobody planted cost the service more than the fault did: by
// the kernel's count it waited longer for processors than its twin did, by more than the fault took.
// What should be said first is not known then.
func (r *result) disturbed() bool {
	planted := r.Plan.Beside != "" || r.Plan.Against != "" || r.Plan.Lazier > 0
	return r.Twin != nil && !planted && r.Faulty.Ready-r.Twin.Ready > max(0.1*r.Faulty.Clients.Mean, r.logged())
}

// outcome holds what is said first against what was planted.
func (r *result) outcome() outcome {
	k := kindOf(r.Plan.Fault)
	id, list := r.Faulty.Said.first()
	switch {
	case slices.Contains(k.names, id) && (list == "found" || k.lead):
		return right
	case list == "found":
		return wrong
	}
	return missed
}

// falsely are the findings of a service in which no fault was planted. That it waits for
// processors is none where a competitor for them was.
func (a *answer) falsely(p *plan) (list []item) {
	for _, f := range a.Findings {
		if f.ID != "run-queue" || p.Beside == "" {
			list = append(list, f)
		}
	}
	return list
}

// first is what is said first, and what is said of it.
func (a *answer) first() (id, list string) {
	switch {
	case len(a.Findings) > 0:
		return a.Findings[0].ID, "found"
	case len(a.Leads) > 0:
		return a.Leads[0].ID, "lead"
	}
	return "nothing", ""
}

// became is what is said of the first of the names that anything is said of.
func (a *answer) became(names []string) string {
	for _, is := range []struct {
		what string
		list []item
	}{{"found", a.Findings}, {"lead", a.Leads}, {"minor", a.Minor}, {"ruled out", a.Refuted}, {"undecided", a.Undecided}} {
		if slices.ContainsFunc(is.list, func(i item) bool { return slices.Contains(names, i.ID) }) {
			return is.what
		}
	}
	return "not said"
}

// promised is the finding that names the fault, if its fix is the twin's.
func (r *result) promised() *item {
	k := kindOf(r.Plan.Fault)
	if k.another || k.lead || r.Twin == nil {
		return nil
	}
	list := r.Faulty.Said.Findings
	if i := slices.IndexFunc(list, func(f item) bool { return slices.Contains(k.names, f.ID) }); i >= 0 {
		return &list[i]
	}
	return nil
}

// saved is by how much the mean falls without the fault, and how far chance moves that: the
// half of a 90 % range, of requests that are drawn one by one. Where they queue it is larger.
func (r *result) saved() (mean, chance float64) {
	of := func(w waited) float64 { return w.Spread * w.Spread / float64(max(1, w.Requests)) }
	bad, good := r.Faulty.Clients, r.Twin.Clients
	return bad.Mean - good.Mean, 1.645 * math.Sqrt(of(bad)+of(good))
}

// logged is by how much shorter the fault's place in a request is without it, by the services'
// own logs: what the rest of a request takes, or the machine, does not move it. Of a fault that is
// not in that place, it is what the clients waited less.
func (r *result) logged() float64 {
	if kindOf(r.Plan.Fault).outside {
		mean, _ := r.saved()
		return mean
	}
	return r.Faulty.Logged - r.Twin.Logged
}

// held is where the saving that was measured lies.
type held struct {
	strictly bool // in the range that was promised, by what the clients waited
	byChance bool // there, or no farther from it than chance moves what was measured
	byLog    bool // in the range, by the services' logs
}

func (r *result) held() held {
	i := r.promised().Impact
	in := func(saved, slack float64) bool {
		return float64(i.Low)-slack <= saved && (i.LowerBound || saved <= float64(i.High)+slack)
	}
	saved, chance := r.saved()
	return held{in(saved, 0), in(saved, chance), in(r.logged(), 0)}
}
