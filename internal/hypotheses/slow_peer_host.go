package hypotheses

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
)

// crowdedShare is for how much of the time between two samples of the host some thread must
// wait for a processor for any thread there to have to.
const crowdedShare = diagnosis.Whole / 2

// crowded are the times, in order and disjoint, in which a thread of this host may have had to
// wait for a processor: how long a peer here takes to answer is then no measure of it. At other
// times it may have waited as the service's own threads do.
type crowded struct {
	times []window
	own   map[netip.Addr]bool // addresses of this host, as far as can be seen
	late  Duration            // 99 of 100 requests wait no longer for a processor
}

func crowdedTimes(c *diagnosis.Case) crowded {
	var out []window
	for i := 1; i < len(c.Hosts); i++ {
		a, b := &c.Hosts[i-1], &c.Hosts[i]
		wall := int64(b.Time.Sub(a.Time))
		busy := b.Busy - a.Busy
		if wall <= 0 || diagnosis.ShareOf(busy, busy+b.Idle-a.Idle) < c.Saturated &&
			diagnosis.ShareOf(b.Pressure-a.Pressure, wall) < crowdedShare && diagnosis.ShareOf(b.Throttled-a.Throttled, wall) < throttledShare &&
			diagnosis.ShareOf(b.Stolen-a.Stolen, busy+b.Idle-a.Idle+b.Stolen-a.Stolen) < stolenShare {
			continue
		}
		if n := len(out); n > 0 && out[n-1].to == a.Time {
			out[n-1].to = b.Time
		} else {
			out = append(out, window{a.Time, b.Time})
		}
	}
	t := crowded{out, map[netip.Addr]bool{}, lateness(c)}
	for i := range c.Conns {
		if at, err := netip.ParseAddrPort(c.Conns[i].Local); err == nil {
			t.own[at.Addr()] = true
		}
	}
	return t
}

// lateness is how long requests' threads wait for processors at most, in 99 of 100 requests.
func lateness(c *diagnosis.Case) Duration {
	ids := c.Measured()
	waits := make([]Duration, 0, len(ids))
	for _, id := range ids {
		r, sum := &c.Requests[id], Duration(0)
		for s := r.Segments(); r.Has(timeline.CauseRunnable) && s.Next(); {
			if s.Cause == timeline.CauseRunnable {
				sum += s.To.Sub(s.From)
			}
		}
		waits = append(waits, sum)
	}
	slices.Sort(waits)
	return diagnosis.Quantile(waits, 99)
}

// apart tells the time that was spent waiting for a peer from what of it may have been spent
// waiting for a processor: if the peer is on this host, all waits that touch a time in which it
// was crowded, and those that are not as usual, by no more than twice what requests here wait for one: an
// answer takes a thread that reads and one that writes. A part of a wait is no less doubtful than the whole.
func (t crowded) apart(c *diagnosis.Case, calls []timeline.CallID, spans []diagnosis.Span) (its, doubtful []diagnosis.Span) {
	if !t.here(c, calls) {
		return spans, nil
	}
	usual := usualLength(spans)
	for _, s := range spans {
		i, _ := slices.BinarySearchFunc(t.times, s.From+1, func(w window, at diagnosis.Time) int { return cmp.Compare(w.to, at) })
		d := s.To.Sub(s.From)
		if i < len(t.times) && t.times[i].from < s.To || d > steadyTimes*usual && d-usual <= 2*t.late {
			doubtful = append(doubtful, s)
		} else {
			its = append(its, s)
		}
	}
	return its, doubtful
}

// usualLength is the median length of spans, 0 of none.
func usualLength(spans []diagnosis.Span) Duration {
	lengths := make([]Duration, len(spans))
	for i, s := range spans {
		lengths[i] = s.To.Sub(s.From)
	}
	slices.Sort(lengths)
	return diagnosis.Quantile(lengths, 50)
}

// here reports a peer all of whose addresses are loopback, or what we are reached at or connect
// from.
func (t crowded) here(c *diagnosis.Case, calls []timeline.CallID) bool {
	return !slices.ContainsFunc(calls, func(id timeline.CallID) bool {
		at, err := netip.ParseAddrPort(cmp.Or(c.Calls[id].Proxy, c.Calls[id].Address))
		return err != nil || !at.Addr().IsLoopback() && !t.own[at.Addr()]
	})
}
