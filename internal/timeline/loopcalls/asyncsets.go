package loopcalls

import "github.com/getdwell/dwell/internal/timeline"

// Of calls it may be known that they are of one request, and not of which.
// What else tells whose one of those is, tells it of all; what tells two requests of two of them is wrong.

// agreeInSets makes what was found since count for whole sets.
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

// mostAgree is whose most calls of a set are, if any is somebody's, and whether nearly all that are agree.
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
