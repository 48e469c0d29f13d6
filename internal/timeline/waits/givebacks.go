package waits

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

const (
	// fewWaits is how many waits at one place are needed to say what they are for.
	fewWaits = 5
	// atOnce is how close together two wake-ups by one thread are parts of one act.
	atOnce recording.Time = 100_000
)

// queueWaits are rules of waits that may be for a pool: the queue of a pool looks like any other.
var queueWaits = []string{"jvm-queue", "jvm-condition", "py-queue", "py-condition", "ruby-queue", "ruby-condition", "condition", timeline.RuleGoChannel, timeline.RuleGoCond,
	timeline.RuleGoSend, timeline.RuleJVMRoom, timeline.RulePythonRoom, timeline.RuleRubyRoom}

// giveBacks finds the pools among waits on queues and conditions, by how the waits end. Requests wait there, and each
// wait is ended by a thread that serves another request and itself waits at the same place at times. It ends one wait
// at a time. In contrast, a queue of work or results is filled by threads that do not wait there, and a broadcast ends
// many waits.
func (s *Sleeps) giveBacks() {
	for _, waits := range s.conditionsByPlace(queueWaits) {
		if !s.givenBack(waits) {
			continue
		}
		for _, id := range waits {
			w := &s.t.Waits[id]
			w.Cause, w.Rule, w.Quality = timeline.CausePool, timeline.RuleGiveBack, timeline.Inferred
		}
	}
}

// lineKey is a place in the code, by its line.
type lineKey struct {
	lockKey
	line int64 // 0: not known
}

// conditionsByPlace lists the waits for conditions under some rules, by their place in the code; the places are in
// order of their first wait. Known lines are separate places: a function that waits for its turn often also waits for
// the work it does in that turn.
func (s *Sleeps) conditionsByPlace(rules []string) [][]timeline.WaitID {
	t := s.t
	var places [][]timeline.WaitID
	index := map[lineKey]int{}
	for i := range t.Waits {
		w := &t.Waits[i]
		if w.Cause != timeline.CauseCondition || w.Stack == timeline.None || !slices.Contains(rules, w.Rule) {
			continue
		}
		key, site := s.siteKey(lockKey{process: t.Strands[w.Strand].Process}, t.SiteFrame(w.Stack))
		if key.site == "" {
			continue
		}
		line := lineKey{key, t.Frames[site].Line}
		at, known := index[line]
		if !known {
			at = len(places)
			index[line] = at
			places = append(places, nil)
		}
		places[at] = append(places[at], timeline.WaitID(i))
	}
	return places
}

// givenBack reports whether nine in ten waits at one place ended as those for a pool do.
func (s *Sleeps) givenBack(waits []timeline.WaitID) bool {
	t := s.t
	waiter := map[timeline.StrandID]bool{}
	for _, id := range waits {
		waiter[t.Waits[id].Strand] = true
	}
	var ended, back int
	last := map[timeline.StrandID]recording.Time{}
	for _, k := range lists.Sorted(len(waits), func(i int) recording.Time { return t.Waits[waits[i]].To }) {
		w := &t.Waits[waits[k]]
		by := s.releaser(w.Off, w.Strand)
		if w.Request == timeline.None || by == timeline.None {
			continue
		}
		ended++
		before, many := last[by]
		many = many && w.To-before < atOnce
		last[by] = w.To
		if waiter[by] && !many {
			back++
		}
	}
	return ended >= fewWaits && 10*back >= 9*ended
}

// releaser returns the other strand of the same process that ended a sleep from inside a futex wake, or None. A Ruby
// thread that polls while it waits for another thread is woken by a write. A strand that releases a file lock wakes the
// next one, in any process.
func (s *Sleeps) releaser(off *timeline.Off, of timeline.StrandID) timeline.StrandID {
	if by, ok := s.ParkedBy[off]; ok && by != of {
		return by
	}
	if off == nil || off.Release != 1 && off.Syscall != "ppoll" && !lockOfFile(off) || off.WakerKind != recording.WakerThread || off.Woken == recording.NoTime {
		return timeline.None
	}
	by := s.f.Strand(off.Waker)
	if by == timeline.None || by == of || s.t.Strands[by].Process != s.t.Strands[of].Process && !lockOfFile(off) {
		return timeline.None
	}
	return by
}

// lockOfFile reports whether a sleep waits for a file lock, which processes share.
func lockOfFile(off *timeline.Off) bool { return off.Syscall == "flock" || off.Syscall == "fcntl" }
