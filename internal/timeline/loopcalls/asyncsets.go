package loopcalls

import "github.com/getdwell/dwell/internal/timeline"

// Some calls are known to belong to one request, but not to which. Evidence about one of them then holds for all of
// them, and evidence that assigns two of them to two requests is wrong.

// agreeInSets applies what was found since to whole sets.
func agreeInSets(t *timeline.Timeline, sets [][]timeline.CallID) {
	for _, set := range sets {
		whose, agree := mostAgree(t, set)
		if whose == timeline.None {
			continue
		}
		for _, id := range set {
			c := &t.Calls[id]
			if within := c.SendFrom >= t.Requests[whose].FirstRead && c.SendFrom <= t.Requests[whose].End; !agree || !within {
				t.Assign(c, timeline.None, timeline.WhyNoAsync)
			} else if c.Request != whose {
				t.Assign(c, whose, timeline.WhyAwaitedSet)
			}
		}
	}
}

// mostAgree is the request that most calls of a set belong to, if any has one, and whether at least two thirds of the
// assigned calls belong to it.
func mostAgree(t *timeline.Timeline, set []timeline.CallID) (timeline.RequestID, bool) {
	of, all := map[timeline.RequestID]int{}, 0
	whose := timeline.RequestID(timeline.None)
	for _, id := range set {
		r := t.Calls[id].Request
		if r == timeline.None {
			continue
		}
		all++
		if of[r]++; whose == timeline.None || of[r] > of[whose] {
			whose = r
		}
	}
	return whose, whose != timeline.None && 3*of[whose] >= 2*all
}
