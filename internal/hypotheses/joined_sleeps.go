package hypotheses

import (
	"maps"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
)

// joinedSleeps are waits of tasks for what another request's sleeps for: they go on as the call is answered that this one makes once
// its timer has fired, as where what is asked for meanwhile is let come together. Of each it is what the two have in common, where
// the unexplained waits of an endpoint mostly end so.
func joinedSleeps(c *diagnosis.Case) (out []stay) {
	if len(c.With(timeline.CauseSleep)) == 0 {
		return nil
	}
	ended, all, joined := map[string][]stay{}, map[string]Duration{}, map[string]Duration{}
	for _, loop := range c.Loops() {
		answers := answeredOn(c, loop)
		for _, s := range stays(c, timeline.CauseUnknown, func(s *timeline.Segment) bool {
			return s.Strand == loop && s.Phase == timeline.PhaseHandler && s.Call == timeline.None && s.To.Sub(s.From) >= milli
		}) {
			endpoint := c.Requests[s.Request].Endpoint
			all[endpoint] += s.To.Sub(s.From)
			id := answers.before(c, &s)
			if id == timeline.None {
				continue
			}
			if nap := sleptBefore(c, &c.Calls[id]); nap.From < nap.To && nap.From < s.To && s.From < nap.To {
				joined[endpoint] += s.To.Sub(s.From)
				s.From, s.To = max(s.From, nap.From), min(s.To, nap.To)
				ended[endpoint] = append(ended[endpoint], s)
			}
		}
	}
	for _, endpoint := range slices.Sorted(maps.Keys(ended)) {
		if len(ended[endpoint]) >= fewBehind && diagnosis.ShareOf(int64(joined[endpoint]), int64(all[endpoint])) >= mostlyBehind {
			out = append(out, ended[endpoint]...)
		}
	}
	return out
}

// sleptBefore is the sleep of a call's request right before it made that.
func sleptBefore(c *diagnosis.Case, k *timeline.Call) (nap diagnosis.Span) {
	if k.Request == timeline.None {
		return nap
	}
	r := &c.Requests[k.Request]
	for s := r.Segments(); s.Next() && s.From < k.SendFrom; {
		switch {
		case s.Cause == timeline.CauseSleep && nap.To == s.From:
			nap.To = s.To
		case s.Cause == timeline.CauseSleep:
			nap = diagnosis.Span{Request: r.ID, From: s.From, To: s.To}
		case s.Call != timeline.None && s.Call != k.ID:
			nap = diagnosis.Span{}
		}
	}
	return nap
}
