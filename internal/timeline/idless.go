package timeline

// UnseenIDs is what tells which goroutine, operation of Node or context of Python something
// was done for, as Unseen names it.
const UnseenIDs = "ids"

// Idless reports that the ids of a request's runtime were not seen during it, or not all along: it
// came while they were still looked for.
func (t *Timeline) Idless(r *Request) bool {
	return len(t.UnseenIn(UnseenIDs, r.Process, r.Start, r.End)) > 0
}
