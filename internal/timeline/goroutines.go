package timeline

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/recording"
)

// GoroutineKey names a goroutine.
type GoroutineKey struct {
	Process   recording.ProcessID
	Goroutine recording.GoroutineID
}

// AddAwake lists the spans in which any thread of a process ran, was ready to run, or was in an unknown state. It
// covers each process whose goroutines waited for each other. Outside these spans no goroutine ran, on any thread.
func (l *Goroutines) AddAwake(t *Timeline) {
	waits := map[recording.ProcessID]bool{}
	for i := range t.Waits {
		if s := &t.Strands[t.Waits[i].Strand]; s.Goroutine != recording.NoGoroutine {
			waits[s.Process] = true
		}
	}
	l.awake = t.ThreadsIn(waits, func(s State) bool { return s != StateSleeping && s != StateDisk })
}

// Goroutines holds what is known of goroutines besides their Waits.
type Goroutines struct {
	Stints map[GoroutineKey][]ThreadStint
	Calls  map[StrandID][]CallID  // calls that they made or handed over, in order of start
	LetGo  map[StrandID][]StackAt // stacks from which they release locks, in order of time
	ended  map[WaitID]StrandID    // which strand ended their waits
	// How their waits in a select ended.
	Selects  map[StrandID][]SelectEnd
	Timed    map[StrandID]Time     // goroutines that a timer started: when they were first seen to run
	Starters map[StrandID]StrandID // which strand started a goroutine, if known
	awake    map[recording.ProcessID][]Interval
	moves    map[StrandID][]Move // moves of strands that let others continue, threads among them, in order of time
}

// SetEnds records which strand ended each wait of a goroutine.
func (l *Goroutines) SetEnds(t *Timeline, by map[*Off]StrandID) {
	l.ended = map[WaitID]StrandID{}
	for i := range t.Waits {
		if s, ok := by[t.Waits[i].Off]; ok {
			l.ended[WaitID(i)] = s
		}
	}
}

func (l *Goroutines) stintsOf(t *Timeline, s StrandID) []ThreadStint {
	return l.Stints[GoroutineKey{t.Strands[s].Process, t.Strands[s].Goroutine}]
}

// renumber replaces the calls' ids with their new ones.
func (l *Goroutines) renumber(t *Timeline, ids []CallID) {
	for _, list := range l.Calls {
		for i := range list {
			list[i] = ids[list[i]]
		}
		slices.SortFunc(list, func(a, b CallID) int {
			return cmp.Or(cmp.Compare(t.Calls[a].Start, t.Calls[b].Start), cmp.Compare(a, b))
		})
	}
}

// WaitsIn returns the Waits of a strand that overlap a span; their ends may lie outside it.
func (t *Timeline) WaitsIn(s StrandID, from, to Time) []WaitID {
	waits := t.Strands[s].Waits
	i, _ := slices.BinarySearchFunc(waits, from+1, func(id WaitID, at Time) int { return cmp.Compare(t.Waits[id].Back, at) })
	k, _ := slices.BinarySearchFunc(waits, to, func(id WaitID, at Time) int { return cmp.Compare(t.Waits[id].From, at) })
	return waits[i:max(i, k)]
}

// ParkedBy returns the strand that ended the wait of a goroutine, or None.
func (t *Timeline) ParkedBy(w WaitID) StrandID {
	if by, ok := t.Goroutines.ended[w]; ok {
		return by
	}
	return None
}

// AwaitsTimer reports whether an activity of a goroutine lies before a timer started that goroutine.
func (l *Goroutines) AwaitsTimer(s StrandID, a Activity) bool {
	began, ok := l.Timed[s]
	return ok && a.To <= began && a.Wait == None
}

// SelectEnd is the end of a wait in a select: which strand handed something over then, or took it.
type SelectEnd struct {
	At    Time
	By    StrandID // None: not known, or a timer
	Conn  int32    // the connection whose goroutine By was: index of facts' connections; or None
	Timer bool
}

// SelectedIn returns the last end of a strand's wait in a select within (from, to]; nil if there is none.
func (l *Goroutines) SelectedIn(s StrandID, from, to Time) *SelectEnd {
	list := l.Selects[s]
	i, _ := slices.BinarySearchFunc(list, to+1, func(x SelectEnd, at Time) int { return cmp.Compare(x.At, at) })
	if i == 0 || list[i-1].At <= from {
		return nil
	}
	return &list[i-1]
}

// ThreadStint is a span in which a goroutine was on a thread, as far as is known. It lasts from the first time the
// goroutine is seen there until another goroutine is seen there, or the thread goes idle. The time between the thread's
// last idle span and the first sighting belongs to the stint too, unless the goroutine was seen to start running there.
type ThreadStint struct {
	From, To Time
	Thread   StrandID
	Timer    bool // the thread was woken for it by a timer, as far as is known
	Exact    bool // its beginning was seen
	Yields   bool // it was preempted so that others could run
}

// StintsAfter returns the stints that end after a time.
func StintsAfter(list []ThreadStint, at Time) []ThreadStint {
	return list[sort.Search(len(list), func(k int) bool { return list[k].To > at }):]
}

// Pause is a span in which all goroutines of a process were stopped.
type Pause struct {
	Process  recording.ProcessID
	From, To Time
}
