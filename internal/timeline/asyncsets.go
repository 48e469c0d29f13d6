package timeline

// Of calls it may be known that they are of one request, and not of which.
// What else tells whose one of those is, tells it of all; what tells two requests of two of them is wrong.

// agreeInSets makes what was found since count for whole sets.
func agreeInSets(t *Timeline, sets [][]CallID) {
	for _, set := range sets {
		whose, agree := mostAgree(t, set)
		if whose == None {
			continue
		}
		for _, id := range set {
			c := &t.Calls[id]
			if within := c.SendFrom >= t.Requests[whose].FirstRead && c.SendFrom <= t.Requests[whose].End; !agree || !within {
				t.assign(c, None, WhyNoAsync)
			} else if c.Request != whose {
				t.assign(c, whose, WhyAsyncHint)
			}
		}
	}
}

// mostAgree is whose most calls of a set are, if any is somebody's, and whether nearly all that are agree.
func mostAgree(t *Timeline, set []CallID) (RequestID, bool) {
	of, all := map[RequestID]int{}, 0
	whose := RequestID(None)
	for _, id := range set {
		r := t.Calls[id].Request
		if r == None {
			continue
		}
		all++
		if of[r]++; whose == None || of[r] > of[whose] {
			whose = r
		}
	}
	return whose, whose != None && 3*of[whose] >= 2*all
}
