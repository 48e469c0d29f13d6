package timeline

import (
	"slices"

	"github.com/getdwell/dwell/recording"
)

// Requests of Go during which probes on waits of goroutines were away are left out of what is judged where that is why much
// of the time of their endpoint has no known cause, and those that are left are enough and lack little of it: what is seen for
// a part of the time only would seem to happen now and then.
const (
	openLeast    = 10  // one in so many ns of those left out has no known cause, or more
	openLess     = 4   // and so many times less of those that are left, or less still
	watchedLeast = 100 // so many are left
	unlike       = 4   // of which half take as long as half of those left out, but for one part in so many: while probes come and go, or dwell begins, a service is slower
	cutMost      = 10  // and one in so many of these has begun while the probes were there and not ended, at most: else long ones were missing
)

// watching is what requests of an endpoint lack while a set of probes is there, and while it is away.
type watching struct {
	left, cut int
	all, open [2]float64 // of those during which it was there, and was not
}

// add takes a request into account.
func (w *watching) add(u *unseenTimes, what string, r *Request, open Duration) {
	side := 0
	switch {
	case !u.in(what, r.Process, r.Start, r.End):
		w.left++
	default:
		side = 1
		if !u.in(what, r.Process, r.Start, r.Start+1) {
			w.cut++
		}
	}
	w.all[side] += float64(r.Duration())
	w.open[side] += float64(open)
}

// tells reports that the set's absence is why much is not known, and that without that time enough is left.
func (w *watching) tells() bool {
	return w.left >= watchedLeast && w.cut*cutMost <= w.left && w.open[1] > 0 && w.open[1]*openLeast >= w.all[1] && w.open[0]*openLess*w.all[1] <= w.open[1]*w.all[0]
}

// Unwatched reports that a request is left out as waits of goroutines were not seen during it.
func Unwatched(t *Timeline, r *Request) bool {
	what, ok := t.unseen.leftOut[r.Endpoint]
	return ok && ofGoroutine(t, r) && t.unseen.in(what, r.Process, r.Start, r.End)
}

func ofGoroutine(t *Timeline, r *Request) bool {
	return r.Strand != None && t.Strands[r.Strand].Goroutine != recording.NoGoroutine
}

// LeaveOutUnwatched leaves them out, with their calls: of each endpoint by the set of probes for which most requests are left.
func LeaveOutUnwatched(t *Timeline) {
	sets := [...]string{UnseenChannels, UnseenConditions, UnseenLocks}
	lacks := map[string]*[len(sets)]watching{}
	for i := range t.Requests {
		r := &t.Requests[i]
		if len(t.unseen.away) == 0 || !r.Measured() || !ofGoroutine(t, r) {
			continue
		}
		of := lacks[r.Endpoint]
		if of == nil {
			of = &[len(sets)]watching{}
			lacks[r.Endpoint] = of
		}
		open := unknownOf(r)
		for k, what := range sets {
			of[k].add(&t.unseen, what, r, open)
		}
	}
	t.unseen.leftOut = map[string]string{}
	for endpoint, of := range lacks {
		most := 0
		for k := range of {
			if of[k].tells() && of[k].left > most && alike(t, endpoint, sets[k]) {
				most, t.unseen.leftOut[endpoint] = of[k].left, sets[k]
			}
		}
	}
	if len(t.unseen.leftOut) > 0 {
		cutUnwatched(t)
	}
}

// alike reports that requests of an endpoint during which a set of probes was there took about as long as others.
func alike(t *Timeline, endpoint, what string) bool {
	var took [2][]Duration
	for i := range t.Requests {
		if r := &t.Requests[i]; r.Endpoint == endpoint && r.Measured() && ofGoroutine(t, r) {
			side := 0
			if t.unseen.in(what, r.Process, r.Start, r.End) {
				side = 1
			}
			took[side] = append(took[side], r.Duration())
		}
	}
	for _, list := range took {
		slices.Sort(list)
	}
	left, out := took[0][len(took[0])/2], took[1][len(took[1])/2]
	return max(left-out, out-left)*unlike <= out
}

// cutUnwatched cuts requests that are left out, and their calls.
func cutUnwatched(t *Timeline) {
	for i := range t.Requests {
		r := &t.Requests[i]
		r.Cut = r.Cut || Unwatched(t, r)
	}
	for i := range t.Calls {
		c := &t.Calls[i]
		if c.Request != None {
			c.Cut = c.Cut || Unwatched(t, &t.Requests[c.Request])
			continue
		}
		for _, what := range t.unseen.leftOut { // whose it is could not be told, for want of that
			c.Cut = c.Cut || t.unseen.in(what, c.Process, c.Start, c.End)
		}
	}
}

// unknownOf is how much of a request has no known cause.
func unknownOf(r *Request) (open Duration) {
	for g := r.Segments(); g.Next(); {
		if g.Cause == CauseUnknown {
			open += g.To.Sub(g.From)
		}
	}
	return open
}
