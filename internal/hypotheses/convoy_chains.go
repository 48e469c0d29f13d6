package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
)

// convoys returns the contentions at locks, the longest first. Each includes the waits at other locks whose holders
// waited for this one: they go with it.
func convoys(c *diagnosis.Case) []*contention {
	plain := contentions(c, timeline.CauseLock)
	behind := map[timeline.LockID][]stay{}
	through := map[timeline.LockID]tally{}
	for _, k := range plain {
		for lock, did := range elsewhere(c, k) {
			if through[lock] == nil {
				through[lock] = tally{}
			}
			for _, part := range k.during(did) {
				through[lock][k.name] += part.To.Sub(part.From)
				behind[lock] = append(behind[lock], part)
			}
		}
	}
	var out []*contention
	for _, k := range plain {
		if len(behind[k.lock]) > 0 {
			k = &contention{deeds: k.deeds, lock: k.lock, name: k.name, stays: slices.Clone(k.stays)}
		}
		out = append(out, k)
	}
	for lock := range behind {
		if !slices.ContainsFunc(plain, func(k *contention) bool { return k.lock == lock }) {
			out = append(out, &contention{deeds: newDeeds(c), lock: lock, name: lockName(c, lock)})
		}
	}
	for _, k := range out {
		if list := behind[k.lock]; len(list) > 0 {
			k.stays = append(k.stays, list...)
			k.through, _ = through[k.lock].most()
			k.fill(c)
			k.queue.most = most(k.stays)
		}
	}
	slices.SortFunc(out, func(a, b *contention) int { return cmp.Or(cmp.Compare(b.total, a.total), cmp.Compare(a.lock, b.lock)) })
	return out
}

// elsewhere returns when a lock's holders waited for other locks, by lock, in order of time. Pools and interpreters
// have hypotheses of their own.
func elsewhere(c *diagnosis.Case, k *contention) map[timeline.LockID]*busySum {
	spans := map[timeline.LockID][]diagnosis.Span{}
	for i := range k.did {
		if d := &k.did[i]; d.lock != k.lock && d.lock != timeline.None && c.Locks[d.lock].Kind == timeline.CauseLock {
			spans[d.lock] = append(spans[d.lock], diagnosis.Span{Request: timeline.None, From: d.from, To: d.to})
		}
	}
	out := map[timeline.LockID]*busySum{}
	for lock, list := range spans {
		sum := sumOf(list)
		out[lock] = &sum
	}
	return out
}

// during returns the pieces of the stays in which holders did something.
func (k *contention) during(did *busySum) (out []stay) {
	for _, s := range k.stays {
		for _, piece := range did.in(s.Span) {
			part := s
			part.Span = piece
			out = append(out, part)
		}
	}
	return out
}

// most returns how many requests waited at once at most.
func most(stays []stay) (most int) {
	type step struct {
		at diagnosis.Time
		by int
	}
	var steps []step
	for _, s := range stays {
		steps = append(steps, step{s.From, 1}, step{s.To, -1})
	}
	slices.SortFunc(steps, func(a, b step) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	n := 0
	for _, s := range steps {
		n += s.by
		most = max(most, n)
	}
	return most
}
