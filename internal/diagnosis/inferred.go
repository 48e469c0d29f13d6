package diagnosis

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
)

// inferredShare returns how much of the time of spans belongs to calls whose request no fact names: a finding that
// rests on them is only as certain as their assignment. It takes linear time if the spans of a request are together.
func inferredShare(t *timeline.Timeline, spans []Span) Share {
	if len(t.Calls) == 0 {
		return 0
	}
	var all, inferred Duration
	of, guessed := RequestID(timeline.None), []Span(nil)
	for _, s := range spans {
		all += s.To.Sub(s.From)
		if s.Request != of {
			of, guessed = s.Request, inferredIn(t, s.Request, guessed[:0])
		}
		i, _ := slices.BinarySearchFunc(guessed, s.From+1, func(x Span, at Time) int { return cmp.Compare(x.To, at) })
		for ; i < len(guessed) && guessed[i].From < s.To; i++ {
			inferred += min(s.To, guessed[i].To).Sub(max(s.From, guessed[i].From))
		}
	}
	return ShareOf(int64(inferred), int64(all))
}

// inferredIn appends a request's time in such calls, in order.
func inferredIn(t *timeline.Timeline, id RequestID, list []Span) []Span {
	for g := t.Requests[id].Segments(); g.Next(); {
		if g.Call != timeline.None && t.Calls[g.Call].Certainty() != timeline.Told {
			list = append(list, Span{id, g.From, g.To})
		}
	}
	return list
}
