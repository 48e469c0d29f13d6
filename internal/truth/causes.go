package truth

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/load"
	"github.com/getdwell/dwell/internal/timeline"
)

// The tolerance of a cause: the larger of both.
const (
	TolerancePercent = 5
	Tolerance        = 100_000 // ns
)

// Agreement is how one cause compares over all requests that had it.
type Agreement struct {
	Cause        timeline.Cause
	Requests     int
	Within       int   // of them, those that differ by at most the tolerance
	Truth, Dwell int64 // means; ns
	MedianOff    int64 // median of dwell minus truth; ns
	P95Off       int64 // 95th percentile of |dwell minus truth|; ns
}

// measure is the truth of one cause of one request.
type measure struct {
	cause timeline.Cause
	truth func(*Served) int64
}

// agreements compares each cause that the service reports. Some have clocks that say
// how long they ran; others know only what they computed.
func agreements(tl *timeline.Timeline, truth Truth, m matches) []Agreement {
	onCPU := func(s *Served) int64 { return cmp.Or(s.Ran, s.Computed) }
	measures := []measure{
		{timeline.CauseSleep, func(s *Served) int64 { return s.Slept }},
		{timeline.CauseOnCPU, onCPU},
		{timeline.CauseRemote, func(s *Served) int64 { return s.Waited }},
	}
	if slices.ContainsFunc(truth.Served, func(s Served) bool { return s.Ran > 0 }) {
		measures = append(measures, measure{timeline.CauseRunnable, func(s *Served) int64 { return s.Runnable }})
	}
	served := map[int]*Served{}
	for i := range truth.Served {
		served[truth.Served[i].ID] = &truth.Served[i]
	}
	var all []Agreement
	for _, one := range measures {
		if a := agree(tl, m, served, one); a.Requests > 0 {
			all = append(all, a)
		}
	}
	return all
}

func agree(tl *timeline.Timeline, m matches, served map[int]*Served, one measure) Agreement {
	a := Agreement{Cause: one.cause}
	var offs, absolute []int64
	for _, id := range m.used {
		s := served[m.entry[id]]
		if s == nil {
			continue
		}
		want, got := one.truth(s), caused(&tl.Requests[id], one.cause)
		if want == 0 && got == 0 {
			continue
		}
		a.Requests++
		a.Truth += want
		a.Dwell += got
		off := got - want
		if one.cause == timeline.CauseRemote && s.Ran > 0 {
			off = wokenLate(off, caused(&tl.Requests[id], timeline.CauseRunnable)-s.Runnable)
		}
		offs, absolute = append(offs, off), append(absolute, max(off, -off))
		if max(off, -off) <= max(Tolerance, want*TolerancePercent/100) {
			a.Within++
		}
	}
	if a.Requests == 0 {
		return a
	}
	a.Truth /= int64(a.Requests)
	a.Dwell /= int64(a.Requests)
	slices.Sort(offs)
	slices.Sort(absolute)
	a.MedianOff, a.P95Off = load.Quantile(offs, 50), load.Quantile(absolute, 95)
	return a
}

// wokenLate takes from what is missing of a wait what there is too much of being
// runnable. The kernel's account of who is runnable, which is the service's, begins when
// its processor hears of it; if the host has given that processor to others, that is
// late, and to the service it looks as if the answer had been. The recording has the
// wake-up's own time; ns.
func wokenLate(wait, runnable int64) int64 {
	if wait >= 0 || runnable <= 0 {
		return wait
	}
	return min(0, wait+runnable)
}

// caused sums the segments of one cause, without those before the request was read,
// of which the service knows nothing; ns.
func caused(r *timeline.Request, cause timeline.Cause) (total int64) {
	for s := r.Segments(); s.Next(); {
		if s.Cause == cause && s.Phase != timeline.PhaseUnread {
			total += int64(s.To.Sub(s.From))
		}
	}
	return total
}
