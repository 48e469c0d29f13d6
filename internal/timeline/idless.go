package timeline

// UnseenIDs is what tells which goroutine, operation of Node or context of Python something
// was done for, as Unseen names it.
const UnseenIDs = "ids"

// Idless reports that the ids of a request's runtime were not seen during it, or not all along: it
// came while they were still looked for.
func (t *Timeline) Idless(r *Request) bool {
	return len(t.UnseenIn(UnseenIDs, r.Process, r.Start, r.End)) > 0
}

// cutIdless cuts the requests and calls during which the ids of their process's runtime were
// not seen: whose they were may be unknown, or wrong.
func cutIdless(t *Timeline) {
	if len(t.unseen) == 0 {
		return
	}
	for i := range t.Requests {
		r := &t.Requests[i]
		r.Cut = r.Cut || t.Idless(r)
	}
	for i := range t.Calls {
		c := &t.Calls[i]
		c.Cut = c.Cut || len(t.UnseenIn(UnseenIDs, c.Process, c.Start, c.End)) > 0
	}
}
