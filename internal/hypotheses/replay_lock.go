package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
)

// sooner returns, for each wait at a lock, the share that goes if holders no longer do some kind of thing while they
// have it. The strands come for the lock when they did. Each has it, in order of coming, for as long as it had without
// that.
func (k *contention) sooner(c *diagnosis.Case, spare deedKind) map[timeline.WaitID]diagnosis.Share {
	list, jobs := k.deeds.lock(k.lock), k.jobs(c)
	order := slices.Clone(c.Locks[k.lock].Waits)
	slices.SortFunc(order, func(a, b timeline.WaitID) int {
		return cmp.Or(cmp.Compare(c.Waits[a].From, c.Waits[b].From), cmp.Compare(a, b))
	})
	gone := map[timeline.WaitID]diagnosis.Share{}
	var free diagnosis.Time // when the last of the strands that came before gives it back
	at := 0
	for _, id := range order {
		w := &c.Waits[id]
		for ; at < len(jobs) && jobs[at].came < w.From; at++ {
			t := jobs[at].Hold
			free = max(free, jobs[at].came) + diagnosis.Time(t.To.Sub(t.From)-during(list, t, spare))
		}
		was, is := w.To.Sub(w.From), max(0, free.Sub(w.From))
		gone[id] = max(0, diagnosis.ShareOf(int64(was-is), int64(was)))
	}
	return gone
}

// job is a tenure, with the time at which its holder came for the lock.
type job struct {
	timeline.Hold
	came diagnosis.Time
}

// jobs lists the tenures of a lock by when their holders came for it.
func (k *contention) jobs(c *diagnosis.Case) (out []job) {
	came := k.comings(c)
	for _, t := range k.deeds.tenures(k.lock) {
		out = append(out, job{t, came.of(t)})
	}
	slices.SortStableFunc(out, func(a, b job) int { return cmp.Compare(a.came, b.came) })
	return out
}

// during returns for how much of a tenure its holder did some kind of thing.
func during(list []deed, t timeline.Hold, kind deedKind) (d Duration) {
	for _, x := range meanwhile(list, t.From, t.To) {
		if x.kind == kind {
			d += min(x.to, t.To).Sub(max(x.from, t.From))
		}
	}
	return d
}

// comings knows when each strand came for a lock before it had it.
type comings struct {
	c     *diagnosis.Case
	waits map[timeline.StrandID][]timeline.WaitID // in order of time
}

func (k *contention) comings(c *diagnosis.Case) comings {
	a := comings{c, map[timeline.StrandID][]timeline.WaitID{}}
	for _, id := range c.Locks[k.lock].Waits {
		s := c.Waits[id].Strand
		a.waits[s] = append(a.waits[s], id)
	}
	for _, list := range a.waits {
		slices.SortFunc(list, func(x, y timeline.WaitID) int { return cmp.Compare(c.Waits[x].From, c.Waits[y].From) })
	}
	return a
}

// of returns when a holder came: when its wait began, if that ended as it got the lock, else when it got the lock.
func (a comings) of(t timeline.Hold) diagnosis.Time {
	if w := a.wait(t); w != timeline.None {
		return a.c.Waits[w].From
	}
	return t.From
}

// wait returns the holder's own wait, if that ended as it got the lock, or None.
func (a comings) wait(t timeline.Hold) timeline.WaitID {
	list := a.waits[t.Strand]
	i, _ := slices.BinarySearchFunc(list, t.From+granted, func(id timeline.WaitID, at diagnosis.Time) int { return cmp.Compare(a.c.Waits[id].To, at) })
	if i > 0 && t.From.Sub(a.c.Waits[list[i-1]].To) < Duration(granted) {
		return list[i-1]
	}
	return timeline.None
}

// granted is how soon after the end of its wait a strand has what it waited for, at the latest.
const granted = diagnosis.Time(milli)

// spareOf returns what requests would not wait for the lock if its holders no longer did some kind of thing while they
// have it. It is found by replay if that is most of what is known of the holders, or a quarter if most is known: a
// queue shrinks by more than its server's work does. Otherwise it is as long as they did it.
func (k *contention) spareOf(c *diagnosis.Case, kind deedKind) (out []stay) {
	if k.lock == timeline.None || !k.mostly(kind) && (2*k.known() < k.total || 4*k.by[kind] < k.known()) {
		return k.of(kind)
	}
	gone := k.sooner(c, kind)
	for _, s := range k.stays {
		s.To = s.From + diagnosis.Time(gone[s.wait].Of(s.To.Sub(s.From)))
		if s.From < s.To {
			out = append(out, s)
		}
	}
	return out
}

// queues returns what requests wait less for workers that are spared waits for the lock. gone is what requests' own
// waits are spared; of all other waits the same share goes.
func (k *contention) queues(c *diagnosis.Case, gone []stay) []diagnosis.Span {
	if k.lock == timeline.None {
		return behindWorkers(c, gone)
	}
	share := diagnosis.ShareOf(int64(diagnosis.Total(spansOf(gone))), int64(k.total))
	spared := make([]stay, 0, len(c.Locks[k.lock].Waits))
	for _, id := range c.Locks[k.lock].Waits {
		w := &c.Waits[id]
		to := w.From + diagnosis.Time(share.Of(w.To.Sub(w.From)))
		spared = append(spared, stay{diagnosis.Span{Request: timeline.None, From: w.From, To: to}, w.Strand, id})
	}
	return behindStrands(c, gone, spared)
}
