package diagnosis

import "github.com/getdwell/dwell/internal/timeline"

// inferredShare is how much of the time of spans belongs to calls whose request no fact names:
// a finding that rests on them is as sure as their assignment.
func inferredShare(t *timeline.Timeline, spans []Span) Share {
	if len(t.Calls) == 0 {
		return 0
	}
	var all, inferred Duration
	for _, s := range spans {
		all += s.To.Sub(s.From)
		for g := t.Requests[s.Request].Segments(); g.Next(); {
			if g.Call == timeline.None || t.Calls[g.Call].Certainty() == timeline.Told {
				continue
			}
			if from, to := max(s.From, g.From), min(s.To, g.To); from < to {
				inferred += to.Sub(from)
			}
		}
	}
	return ShareOf(int64(inferred), int64(all))
}
