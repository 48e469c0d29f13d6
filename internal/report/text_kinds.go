package report

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
)

// kind is one kind of time that must have a line of its own in the table: a phase, or a cause.
type kind struct{ phase, cause string }

func (k kind) has(l timeLine) bool {
	if l.size() == 0 {
		return false
	}
	return k.phase != "" && l.phase == k.phase || k.phase == "" && l.cause == k.cause
}

// foundKinds returns, for each finding of the shown endpoint, the kind of time that most of its saving is. Without
// findings it returns that of the first lead.
func foundKinds(r *Report) (list []kind) {
	of := r.Findings
	if order := leadsToTell(r); len(of) == 0 && len(order) > 0 {
		of = r.Leads[order[0] : order[0]+1]
	}
	name := focus(r).Name
	for i := range of {
		parts := of[i].Impact.told.portions
		if len(parts) == 0 || of[i].Endpoint != name && of[i].Endpoint != "" {
			continue
		}
		k := kind{cause: parts[0].Cause.String()}
		if parts[0].Phase != timeline.PhaseHandler {
			k = kind{phase: parts[0].Phase.String()}
		}
		if !slices.Contains(list, k) {
			list = append(list, k)
		}
	}
	return list
}
