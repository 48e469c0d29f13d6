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

// AddAwake lists, of each process whose goroutines waited for each other, the spans in
// which one of its threads ran, was ready to, or did what is not known. Outside of them
// no goroutine ran, wherever it was.
func (l *Goroutines) AddAwake(t *Timeline) {
	waits := map[recording.ProcessID]bool{}
	for i := range t.Waits {
		if s := &t.Strands[t.Waits[i].Strand]; s.Goroutine != recording.NoGoroutine {
			waits[s.Process] = true
		}
	}
	l.awake = t.ThreadsIn(waits, func(s State) bool { return s != StateSleeping && s != StateDisk })
}

// Goroutines are what is known of what goroutines did, besides their Waits.
type Goroutines struct {
	Stints map[GoroutineKey][]ThreadStint
	Calls  map[StrandID][]CallID  // that they made or handed over, in order of start
	LetGo  map[StrandID][]StackAt // with which they let locks go, in order of time
	ended  map[WaitID]StrandID    // who ended their waits
	// How their waits in a select ended.
	Selects  map[StrandID][]SelectEnd
	Timed    map[StrandID]Time     // those that a timer started: when they were first seen to run
	Starters map[StrandID]StrandID // who started those that serve requests, where that is known
	awake    map[recording.ProcessID][]Interval
	moves    map[StrandID][]Move // of those that let others go on, in order of time
}

// SetEnds lists who ended the waits of goroutines.
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

// renumber follows calls to their new ids.
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

// WaitsIn returns the Waits of a strand that overlap a span; the ends may stick out.
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

// AwaitsTimer reports that what a goroutine is said to have done was before a timer started it.
func (l *Goroutines) AwaitsTimer(s StrandID, a Activity) bool {
	began, ok := l.Timed[s]
	return ok && a.To <= began && a.Wait == None
}

// SelectEnd is the end of a wait in a select: who handed something over then, or took it.
type SelectEnd struct {
	At    Time
	By    StrandID // None: not known, or a timer
	Conn  int32    // None, or the connection whose goroutine it was: index of facts' connections
	Timer bool
}

// SelectedIn is the last end of a wait of a strand in a select within (from, to]; nil if there is none.
func (l *Goroutines) SelectedIn(s StrandID, from, to Time) *SelectEnd {
	list := l.Selects[s]
	i, _ := slices.BinarySearchFunc(list, to+1, func(x SelectEnd, at Time) int { return cmp.Compare(x.At, at) })
	if i == 0 || list[i-1].At <= from {
		return nil
	}
	return &list[i-1]
}

// ThreadStint is a span in which a goroutine was on a thread, as far as can be told: from
// one sight of it there to the next of another, or to the thread's going idle. What
// came before the first sight since the thread was idle counts to it, too, unless it was
// seen that it began to run there.
type ThreadStint struct {
	From, To Time
	Thread   StrandID
	Timer    bool // the thread was woken for it by time, as far as can be seen
	Exact    bool // it was seen to begin
	Yields   bool // it had to let others run
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
