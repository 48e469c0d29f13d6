package timeline

import (
	"slices"

	"github.com/getdwell/dwell/recording"
)

// Probes on waits of goroutines are away for a time if they cost too much. Something that is visible for part of the time only
// seems to happen now and then. So requests of Go during which a set of probes was away are left out, if that is why much of
// their endpoint's time has no known cause, and if the requests that are left are many enough, are like them, and lack little.
const (
	openLeast    = 100 // per mille of the time of the requests left out has no known cause, at least
	openLess     = 4   // and the share of the requests that are left is at most that share divided by this
	watchedLeast = 100 // requests that are left, at least
	unlike       = 4   // their median differs from that of those left out by one part in so many at most: a service is slower while probes come and go
	cutMost      = 10  // at most one request per so many that are left began with the probes present and outlasted them: else long ones were missing
)

// watching sums up the requests of an endpoint during which a set of probes was present (0), and those during which it was
// away at some time (1).
type watching struct {
	left, cut int
	all, open [2]Duration // their time, and the part of it that has no known cause
}

// add counts a request.
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
	w.all[side] += r.Duration()
	w.open[side] += open
}

// tells reports whether the set's absence explains why much is not known, and enough requests are left without it.
func (w *watching) tells() bool {
	left, out := w.unknown(0), w.unknown(1)
	return w.left >= watchedLeast && w.cut*cutMost <= w.left && out >= openLeast && left*openLess <= out
}

// unknown is the part of the time that has no known cause, per mille.
func (w *watching) unknown(side int) Duration { return 1000 * w.open[side] / max(1, w.all[side]) }

// Unwatched reports whether a request is left out because waits of goroutines were not watched during it.
func Unwatched(t *Timeline, r *Request) bool {
	what, ok := t.unseen.leftOut[r.Endpoint]
	return ok && ofGoroutine(t, r) && t.unseen.in(what, r.Process, r.Start, r.End)
}

func ofGoroutine(t *Timeline, r *Request) bool {
	return r.Strand != None && t.Strands[r.Strand].Goroutine != recording.NoGoroutine
}

// LeaveOutUnwatched leaves out, with their calls, the requests during which waits of goroutines were not watched. If several sets
// of probes explain what is unknown of an endpoint, the one counts that leaves most requests.
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

// alike reports whether the requests of an endpoint during which a set of probes was present took about as long as the others.
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

// cutUnwatched marks the requests that are left out, and their calls, as cut.
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
		for _, what := range t.unseen.leftOut { // it may belong to a request that is left out
			c.Cut = c.Cut || t.unseen.in(what, c.Process, c.Start, c.End)
		}
	}
}

// unknownOf is the part of a request that has no known cause.
func unknownOf(r *Request) (open Duration) {
	for g := r.Segments(); g.Next(); {
		if g.Cause == CauseUnknown {
			open += g.To.Sub(g.From)
		}
	}
	return open
}
