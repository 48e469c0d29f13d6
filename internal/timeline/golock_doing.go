package timeline

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/recording"
)

// goLives are what is known of what goroutines did, besides their Waits.
type goLives struct {
	stints map[goKey][]goStint
	calls  map[StrandID][]CallID  // that they made or handed over, in order of start
	letGo  map[StrandID][]StackAt // with which they let locks go, in order of time
	ended  map[WaitID]StrandID    // who ended their waits
	// How their waits in a select ended.
	selects map[StrandID][]selected
	awake   map[recording.ProcessID][]Interval
}

// newGoLives lists them. The ids of calls change once more, in orderCalls.
func newGoLives(t *Timeline, f *facts, runs goRuns, calls []made) goLives {
	l := goLives{stints: runs.stints, calls: map[StrandID][]CallID{}, letGo: map[StrandID][]StackAt{}, selects: selects(t, f)}
	index := indexGoroutines(t)
	for i := range t.Calls {
		c := &t.Calls[i]
		by := c.Strand
		if g := calls[i].caller; g != recording.NoGoroutine {
			by = index.of(goKey{c.Process, g})
		} else if c.Why == WhyGoDial { // written by the connection's own goroutine
			by = t.Requests[c.Request].Strand
		}
		if by != None && t.Strands[by].Goroutine != recording.NoGoroutine {
			l.calls[by] = append(l.calls[by], CallID(i))
		}
	}
	for _, u := range f.parks.unparks {
		if i, s := f.stacks.stackIndex.get(u.Stack), index.of(f.goKeyOf(u.Thread, u.Goroutine)); i != None && s != None {
			l.letGo[s] = append(l.letGo[s], StackAt{Time: u.at, Stack: StackID(i), Goroutine: u.Goroutine})
		}
	}
	return l
}

// ending lists who ended the waits of goroutines.
func (l *goLives) ending(t *Timeline, by map[*Off]StrandID) {
	l.ended = map[WaitID]StrandID{}
	for i := range t.Waits {
		if s, ok := by[t.Waits[i].Off]; ok {
			l.ended[WaitID(i)] = s
		}
	}
}

func (l *goLives) stintsOf(t *Timeline, s StrandID) []goStint {
	return l.stints[goKey{t.Strands[s].Process, t.Strands[s].Goroutine}]
}

// renumber follows calls to their new ids.
func (l *goLives) renumber(t *Timeline, ids []CallID) {
	for _, list := range l.calls {
		for i := range list {
			list[i] = ids[list[i]]
		}
		slices.SortFunc(list, func(a, b CallID) int {
			return cmp.Or(cmp.Compare(t.Calls[a].Start, t.Calls[b].Start), cmp.Compare(a, b))
		})
	}
}

// doingGo is Doing for a goroutine: its waits, what the threads did on which it was, and
// its calls. Of the rest nothing is known.
func (t *Timeline) doingGo(s StrandID, from, to Time) []Activity {
	var list []Activity
	at := from
	waits := t.Strands[s].Waits
	i, _ := slices.BinarySearchFunc(waits, from+1, func(w WaitID, at Time) int { return cmp.Compare(t.Waits[w].Back, at) })
	for ; i < len(waits) && t.Waits[waits[i]].From < to; i++ {
		w := &t.Waits[waits[i]]
		list = t.awakeGo(s, at, min(w.From, to), list)
		a := Activity{From: max(w.From, at), To: min(w.To, to), Cause: w.Cause, Phase: PhaseHandler, Call: None, Wait: waits[i], Stack: w.Stack}
		if a.From < a.To {
			list = append(list, a)
		}
		ready := Activity{From: max(w.To, at), To: min(w.Back, to), Cause: CauseRunnable, Phase: PhaseHandler, Call: None, Wait: None, Stack: None}
		if ready.From < ready.To {
			list = append(list, ready)
		}
		at = max(at, min(w.Back, to))
	}
	return t.awakeGo(s, at, to, list)
}

// awakeGo tells what a goroutine did between two waits.
func (t *Timeline) awakeGo(s StrandID, from, to Time, list []Activity) []Activity {
	at := from
	for _, u := range stintsAfter(t.golang.stintsOf(t, s), from) {
		if u.from >= to {
			break
		}
		if u.from > at {
			list = t.absentGo(s, at, u.from, list)
		}
		a, b := max(u.from, at), min(u.to, to)
		for _, x := range t.Doing(u.thread, a, b) {
			if x.Cause == CauseUnknown || x.Wait != None && t.Waits[x.Wait].Rule == RuleIdle {
				list = t.absentGo(s, x.From, x.To, list) // the thread was idle: the goroutine had left it
				continue
			}
			list = append(list, x)
		}
		at = max(at, b)
	}
	return t.absentGo(s, at, to, list)
}

// absentGo tells what a goroutine did while it was on no thread and in no wait that is
// known: it waited for its call, if it had one.
func (t *Timeline) absentGo(s StrandID, from, to Time, list []Activity) []Activity {
	calls := t.golang.calls[s]
	stack := t.lettingGo(s, to)
	i := sort.Search(len(calls), func(k int) bool { return t.Calls[calls[k]].Start > from })
	for i > 0 && t.Calls[calls[i-1]].End > from {
		i--
	}
	for ; from < to; i++ {
		a := Activity{From: from, To: to, Phase: PhaseHandler, Call: None, Wait: None, Stack: stack, Later: stack != None}
		if i < len(calls) && t.Calls[calls[i]].Start < to {
			if a.To = max(from, t.Calls[calls[i]].Start); a.From < a.To {
				list = t.splitAsleep(s, a, list)
			}
			c := &t.Calls[calls[i]]
			for at, end := a.To, min(c.End, to); at < end; {
				b := Activity{From: at, Call: calls[i], Cause: CauseRemote, Wait: None, Stack: stack, Later: stack != None}
				b.Phase, b.To = c.phaseAt(at)
				b.To = min(max(b.To, at+1), end)
				list = append(list, b)
				at = b.To
			}
			from = max(a.To, min(c.End, to))
			continue
		}
		return t.splitAsleep(s, a, list)
	}
	return list
}

// lettingGo is the stack with which a goroutine next lets a lock go: what it does before
// that is called from there. None if it lets none go.
func (t *Timeline) lettingGo(s StrandID, at Time) StackID {
	list := t.golang.letGo[s]
	i, _ := slices.BinarySearchFunc(list, at, func(x StackAt, at Time) int { return cmp.Compare(x.Time, at) })
	if i == len(list) {
		return None
	}
	return list[i].Stack
}
