package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
)

// convoys returns the contentions at locks, each with the waits at other locks whose
// holders waited for this one: they go with it. The longest come first.
func convoys(c *diagnosis.Case) []*contention {
	plain := contentions(c, timeline.CauseLock)
	behind := map[timeline.LockID][]stay{}
	through := map[timeline.LockID]tally{}
	for _, k := range plain {
		for _, s := range k.stays {
			for _, d := range meanwhile(k.did, s.From, s.To) {
				if d.lock == k.lock || d.lock == timeline.None || c.Locks[d.lock].Kind != timeline.CauseLock {
					continue // pools and interpreters have hypotheses of their own
				}
				if through[d.lock] == nil {
					through[d.lock] = tally{}
				}
				through[d.lock][k.name] += d.to.Sub(d.from)
				part := s
				part.From, part.To = d.from, d.to
				behind[d.lock] = append(behind[d.lock], part)
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

// most is how many requests waited at once at most.
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
