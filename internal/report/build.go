package report

import (
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Build makes the view model of a diagnosis.
func Build(d *diagnosis.Diagnosis, tl *timeline.Timeline) *Report {
	r := &Report{
		Version:   Version,
		Recording: recorded(tl),
		Requests:  requests(d, tl),
		Endpoints: []Endpoint{},
		Processes: processesOf(d, tl),
		Calls:     calls(d, tl),
		Findings:  findings(d, tl.Start, d.Findings),
		Leads:     findings(d, tl.Start, d.Leads),
		Minor:     findings(d, tl.Start, d.Minor),
		Dominant:  []Dominant{},
		SLOs:      slos(d, tl.Start),
		Refuted:   []Refuted{},
		Undecided: []Undecided{},
		Seen:      seen(tl),
	}
	for i := range d.Symptoms {
		r.Endpoints = append(r.Endpoints, endpoint(tl, &d.Symptoms[i]))
	}
	for _, x := range d.Open {
		if i := slices.IndexFunc(r.Endpoints, func(e Endpoint) bool { return e.Name == x.Endpoint }); i >= 0 {
			open := Open{x.Cause.String(), Pair{Decimal(x.Ordinary), Decimal(x.Slow)}, placeOf(tl, x.Stack), x.Cause}
			r.Endpoints[i].Open = append(r.Endpoints[i].Open, open)
		}
	}
	setRates(r, d, tl)
	r.Seen.titles = d.Titles
	for _, m := range d.Dominant {
		r.Dominant = append(r.Dominant, Dominant{m.ID, m.Place, m.Endpoint, Decimal(m.Mean), Decimal(m.Slow), m.Steady, m.Others, m.Chance, m.With})
	}
	for _, o := range d.Refuted {
		r.Refuted = append(r.Refuted, Refuted{o.ID, o.Why, Decimal(o.Time), evidence(o.Evidence)})
	}
	for _, o := range d.Undecided {
		r.Undecided = append(r.Undecided, Undecided{o.ID, o.Missing, evidence(o.Evidence), o.Another})
	}
	return r
}

func recorded(tl *timeline.Timeline) Recording {
	span := int64(tl.End.Sub(tl.Start))
	r := Recording{
		Seconds:          Decimal(span / 1000),
		Events:           tl.Events,
		OverheadCPUShare: share(tl.Overhead.UserCPU+tl.Overhead.BPF, span),
		OverheadLater:    overheadLater(tl),
		Stolen:           stolen(tl),
		Truncated:        tl.Truncated,
	}
	for _, l := range tl.Losses {
		r.Lost += l.Count
	}
	for _, kind := range []string{"container", "pod", "unit"} {
		if what, is := strings.CutPrefix(tl.Manifest.Target, "attach by "+kind+" "); is {
			r.Of = kind + " " + what
		}
	}
	if n := len(tl.Windows); n > 1 {
		r.Windows = &Windows{n, Decimal(int64(tl.InWindows(tl.Start, tl.End)) / 1000)}
	}
	w := tl.WaitStacks
	if all := int64(w.Own + w.Borrowed + w.None); all > 0 && tl.Recorded(recording.HookStacks) {
		r.WaitStacks = &WaitStacks{share(int64(w.Own), all), share(int64(w.Borrowed), all)}
	}
	return r
}

// overheadLater is the share of a core that recording used in the second half of the recording. The first half
// includes the cost of loading the recorder's parts.
func overheadLater(tl *timeline.Timeline) Decimal {
	list := tl.Overhead.Samples
	half := slices.IndexFunc(list, func(s timeline.OverheadSample) bool { return s.Time >= tl.Start+(tl.End-tl.Start)/2 })
	if half < 0 {
		return 0
	}
	from, to := list[half], list[len(list)-1]
	return share(int64(max(0, to.Used-from.Used)), int64(to.Time.Sub(from.Time)))
}

// stolen is the share of the processors' time that a hypervisor gave to other guests, between the first and the last
// sample of the host.
func stolen(tl *timeline.Timeline) Decimal {
	if len(tl.Hosts) == 0 {
		return 0
	}
	a, b := &tl.Hosts[0], &tl.Hosts[len(tl.Hosts)-1]
	taken := b.Stolen - a.Stolen
	return share(taken, taken+b.Busy-a.Busy+b.Idle-a.Idle)
}

func requests(d *diagnosis.Diagnosis, tl *timeline.Timeline) Requests {
	s := &d.Overall
	r := Requests{Traffic: traffic(tl, s.ByID()), Mean: s.Mean, P50: s.P50, P90: s.P90, P99: s.P99, Max: s.Max(), singles: singles(d, tl), Unconnected: unconnected(d, tl)}
	var all, open, unknown int64
	var unwatched []Duration
	for i := range tl.Requests {
		q := &tl.Requests[i]
		switch {
		case d.Options.Endpoint != "" && q.Endpoint != d.Options.Endpoint:
		case q.Cut:
			r.Cut++
			if tl.Idless(q) {
				r.Early++
			} else if timeline.Unwatched(tl, q) {
				unwatched = append(unwatched, q.Duration())
			}
		case q.Excluded != "":
			r.Excluded++
		default:
			all += int64(q.Duration())
			open += int64(q.Duration())
			for g := q.Segments(); g.Next(); {
				open -= int64(g.To.Sub(g.From))
				if g.Cause == timeline.CauseUnknown {
					unknown += int64(g.To.Sub(g.From))
				}
			}
		}
	}
	slices.Sort(unwatched)
	r.Unwatched, r.UnwatchedP50 = len(unwatched), diagnosis.Quantile(unwatched, 50)
	r.UnaccountedShare, r.UnknownShare = share(open, all), share(unknown, all)
	n, owned, inferred := 0, 0, 0
	for i := range tl.Calls {
		if c := &tl.Calls[i]; !c.Cut {
			n++
			if c.Request != timeline.None {
				owned++
				if c.Certainty() != timeline.Told {
					inferred++
				}
			}
		}
	}
	r.AssociatedShare = unit
	if n > 0 {
		r.AssociatedShare, r.InferredShare = share(int64(owned), int64(n)), share(int64(inferred), int64(n))
	}
	return r
}

func findings(d *diagnosis.Diagnosis, start timeline.Time, list []diagnosis.Finding) []Finding {
	out := make([]Finding, 0, len(list))
	for i := range list {
		out = append(out, finding(d, start, &list[i]))
	}
	return out
}

// impact returns what a finding saves, in the form that scripts read.
func impact(f *diagnosis.Finding) Impact {
	im := &f.Impact
	return Impact{
		im.Mean, im.MeanRange.Low, im.MeanRange.High, im.P50, im.Range50.Low, im.Range50.High,
		im.P99, im.Range99.Low, im.Range99.High, Decimal(im.Share), f.AtLeast, im.Unsure, madeOf(im.Portions), grounds{slow: im.Slow, seen: im.Seen, portions: im.Portions},
	}
}

func madeOf(list []diagnosis.Portion) (out []Saved) {
	for _, p := range list {
		if p.Phase != timeline.PhaseHandler {
			out = append(out, Saved{Phase: p.Phase.String(), Took: p.Mean})
		} else {
			out = append(out, Saved{Cause: p.Cause.String(), Took: p.Mean})
		}
	}
	return out
}

func finding(d *diagnosis.Diagnosis, start timeline.Time, f *diagnosis.Finding) Finding {
	out := Finding{
		ID: f.ID, Title: f.Title, Endpoint: f.Impact.Endpoint, Place: f.Place,
		Impact:   impact(f),
		Evidence: evidence(f.Evidence), Fix: f.Fix, Next: f.Next,
		WhatIf: whatIfs(f.WhatIf),
		Why:    f.Why, Decide: f.Decide, ExplainedBy: f.ExplainedBy,
		mean: d.Overall.Mean, p50: d.Overall.P50, p99: d.Overall.P99,
	}
	for i := range d.Symptoms {
		if s := &d.Symptoms[i]; s.Endpoint == f.Impact.Endpoint {
			out.mean, out.p50, out.p99, out.Impact.told.slowest = s.Mean, s.P50, s.P99, len(s.Slow)
		}
	}
	for _, t := range f.When {
		out.When = append(out.When, t.Sub(start))
	}
	for _, im := range f.Also {
		out.Also = append(out.Also, im.Endpoint)
	}
	return out
}

func evidence(in []diagnosis.Evidence) []Evidence {
	out := make([]Evidence, 0, len(in))
	for _, e := range in {
		v := Evidence{What: e.What, Value: value(e.Value, e.Unit), Unit: e.Unit.String(), Requests: e.Requests}
		if e.Bounded {
			b := value(e.Bound, e.Unit)
			v.Bound = &b
		}
		out = append(out, v)
	}
	return out
}
