package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Families of hypotheses share what they work out first: who waited for whom at locks, pools and interpreters' locks,
// and what the holders did meanwhile.
const (
	familyLocks        = "locks"
	familyPools        = "pools"
	familyInterpreters = "interpreters"
)

// contention describes how long requests waited at one lock, and what its holders did meanwhile.
type contention struct {
	deeds   *deeds
	lock    timeline.LockID // None: waits at locks that are not known
	name    string          // of the lock
	stays   []stay
	total   Duration
	parts   [][deedKinds]Duration // of each stay: how long holders did each kind of thing meanwhile
	by      [deedKinds]Duration   // their sums
	did     []deed                // what holders did while some strand waited
	weights []Duration            // of each deed: how long requests waited for it, in all; 0 if its kind is not known
	drawing Duration              // of the stays' time: what passed under frames that draw random numbers
	queue   queue
	room    string // for waits for room in a full queue: the code that puts into it, with its line
	through string // see convoys: the other lock at which most waits behind this one's holders are
}

// known is the waiting time for which the holder's activity is known.
func (k *contention) known() Duration { return k.total - k.by[deedUnknown] }

// waitsWhile returns how long requests waited for a lock while its holders did what is selects: that much of each wait,
// from its beginning.
func waitsWhile(k *contention, is func(*deed) bool) (out []stay) {
	var did []diagnosis.Span
	for i := range k.did {
		if d := &k.did[i]; is(d) {
			did = append(did, diagnosis.Span{Request: timeline.None, From: d.from, To: d.to})
		}
	}
	sum := sumOf(did)
	for _, s := range k.stays {
		if s.To = s.From + diagnosis.Time(sum.of(s.Span)); s.From < s.To {
			out = append(out, s)
		}
	}
	return out
}

// contentions returns requests' waits for one cause by lock, the longest first; its callers share them. If locks wait
// for each other in a circle, what is known of them depends on which is looked at first. So each cause has deeds of its
// own, and the result is always the same.
func contentions(c *diagnosis.Case, cause timeline.Cause) []*contention {
	return c.Shared("contentions "+cause.String(), func() any {
		if cause == timeline.CauseLock {
			return collectWaits(c, newDeeds(c), cause)
		}
		return collectWaits(c, makeDeeds(c), cause)
	}).([]*contention)
}

func collectWaits(c *diagnosis.Case, d *deeds, cause timeline.Cause) (out []*contention) {
	all, counts := stays(c, cause, whole), map[timeline.LockID]int{}
	lockOf := locksOf(c, cause, all)
	for i := range all {
		counts[lockOf(&all[i])]++
	}
	index := map[timeline.LockID]*contention{}
	for i := range all {
		lock := lockOf(&all[i])
		k := index[lock]
		if k == nil {
			k = &contention{deeds: d, lock: lock, name: lockName(c, lock), stays: make([]stay, 0, counts[lock])}
			index[lock] = k
			out = append(out, k)
		}
		k.stays = append(k.stays, all[i])
	}
	for _, k := range out {
		k.fill(c)
	}
	slices.SortFunc(out, func(a, b *contention) int { return cmp.Or(cmp.Compare(b.total, a.total), cmp.Compare(a.lock, b.lock)) })
	return out
}

// locksOf returns a function that gives the lock which a wait is for, as far as that is known. Threads that wait for an
// interpreter wait for the one interpreter lock of their process.
func locksOf(c *diagnosis.Case, cause timeline.Cause, all []stay) func(*stay) timeline.LockID {
	known := func(s *stay) timeline.LockID {
		if s.wait == timeline.None {
			return timeline.None
		}
		return c.Waits[s.wait].Lock
	}
	if cause != timeline.CauseInterpreterLock {
		return known
	}
	of := map[recording.ProcessID]timeline.LockID{}
	for i := range all {
		if lock := known(&all[i]); lock != timeline.None {
			p := c.Strands[all[i].strand].Process
			if other, ok := of[p]; ok && other != lock {
				lock = timeline.None
			}
			of[p] = lock
		}
	}
	return func(s *stay) timeline.LockID {
		lock := known(s)
		if lock == timeline.None && s.strand != timeline.None {
			if only, ok := of[c.Strands[s.strand].Process]; ok {
				lock = only
			}
		}
		return lock
	}
}

// fill lays what the holders did over the requests' waits.
func (k *contention) fill(c *diagnosis.Case) {
	var list []deed
	if k.lock != timeline.None {
		list = k.deeds.lock(k.lock)
		k.queue = queueAt(c, k.lock)
	}
	for i := range k.stays {
		s := &k.stays[i]
		k.total += s.To.Sub(s.From)
		if s.wait != timeline.None && k.deeds.draws(c.Waits[s.wait].Stack) {
			k.drawing += s.To.Sub(s.From)
		}
	}
	if 2*k.drawing >= k.total {
		readsDraw(list)
	}
	k.did, k.parts = list, make([][deedKinds]Duration, len(k.stays))
	over := newOverlay(list)
	for i := range k.stays {
		s := &k.stays[i]
		k.parts[i] = over.lay(s.From, s.To)
		for kind, d := range k.parts[i] {
			k.by[kind] += d
		}
	}
	k.weights = over.weights()
}

// readsDraw turns reads by holders, on no known connection, into waits for random numbers, for a lock around a source
// of those: not every read has a stack.
func readsDraw(list []deed) {
	for i := range list {
		if d := &list[i]; d.kind == deedIO && d.call == timeline.None && reads(d.syscall) {
			d.kind = deedEntropy
		}
	}
}

// of returns, for each stay, as much of it as holders did things of one kind, from its beginning.
func (k *contention) of(kind deedKind) (out []stay) {
	for i, s := range k.stays {
		if d := k.parts[i][kind]; d > 0 {
			s.To = s.From + diagnosis.Time(d)
			out = append(out, s)
		}
	}
	return out
}

// done returns the spans in which holders did things of one kind, whether or not a request waited for them.
func (k *contention) done(kind deedKind) (out []*deed) {
	for i := range k.did {
		if k.did[i].kind == kind {
			out = append(out, &k.did[i])
		}
	}
	return out
}

// mostly reports whether a kind has at least half of the time for which the holder's activity is known.
func (k *contention) mostly(kind deedKind) bool { return k.known() > 0 && 2*k.by[kind] >= k.known() }

// lockName names a lock for users.
func lockName(c *diagnosis.Case, id timeline.LockID) string {
	if id == timeline.None {
		return ""
	}
	return c.Locks[id].Name
}

// shared reports whether this is a wait not for a lock, but for a result that another request gets for all.
func (k *contention) shared(c *diagnosis.Case) bool {
	if k.lock == timeline.None {
		return false
	}
	waits := c.Locks[k.lock].Waits
	return len(waits) > 0 && c.Waits[waits[0]].Rule == timeline.RuleShared
}

// heldBy says who has the lock, to follow its name.
func (k *contention) heldBy(c *diagnosis.Case) string {
	if k.shared(c) {
		return ", fetched by " + k.holder(c)
	}
	return ", held by " + k.holder(c)
}

// named says which lock, to follow a verb.
func (k *contention) named(c *diagnosis.Case) string {
	if k.name == "" {
		return "a lock that dwell could not identify"
	}
	if k.shared(c) {
		return "a result that another request fetches in " + k.name
	}
	if k.through != "" && k.through != k.name {
		return "the lock in " + k.name + ", or for the one in " + k.through + " behind threads that wait for it"
	}
	return "the lock in " + k.name
}

// queue describes how many strands waited at a lock at once.
type queue struct {
	most     int
	tenths   int      // ten times the mean number that a waiter finds waiting, itself included
	families int      // the most thread pools that waited at once
	names    []string // all pools by waiting time, the longest first
}

// queueAt sweeps over the waits at a lock. Threads whose names differ only in numbers belong to one pool.
func queueAt(c *diagnosis.Case, id timeline.LockID) (q queue) {
	type step struct {
		at     diagnosis.Time
		by     int
		family int
	}
	families := newFamilies(c)
	steps := make([]step, 0, 2*len(c.Locks[id].Waits))
	for _, w := range c.Locks[id].Waits {
		wait := &c.Waits[w]
		f := families.of(wait.Strand, wait.To.Sub(wait.From))
		steps = append(steps, step{wait.From, 1, f}, step{wait.To, -1, f})
	}
	slices.SortFunc(steps, func(a, b step) int {
		if a.at != b.at {
			return cmp.Compare(a.at, b.at)
		}
		return cmp.Compare(a.by, b.by)
	})
	waiting := make([]int, len(families.names))
	n, groups := 0, 0
	var length, squares Duration
	for i, s := range steps {
		if i > 0 {
			d := s.at.Sub(steps[i-1].at)
			length += Duration(n) * d
			squares += Duration(n*n) * d
		}
		n += s.by
		if waiting[s.family] += s.by; waiting[s.family] == 0 {
			groups--
		} else if s.by > 0 && waiting[s.family] == 1 {
			groups++
		}
		q.most, q.families = max(q.most, n), max(q.families, groups)
	}
	if length > 0 {
		q.tenths = int(squares * 10 / length)
	}
	q.names = families.longest()
	return q
}

// waiter is a strand that waited, or None.
func (k *contention) waiter() timeline.StrandID {
	for i := range k.stays {
		if s := k.stays[i].strand; s != timeline.None {
			return s
		}
	}
	return timeline.None
}
