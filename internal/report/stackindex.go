package report

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// stackLead is how long before the fact of a sleep its stack may have been taken.
const stackLead timeline.Time = 50_000

// stackIndex finds the stacks of strands.
type stackIndex struct {
	tl         *timeline.Timeline
	goroutines map[goKey][]timeline.StackAt // in order of time
	places     map[place]timeline.StackID   // None: stacks seen there differ
}

type goKey struct {
	process   recording.ProcessID
	goroutine recording.GoroutineID
}

// place is a point in a thread's code: it waits there in this system call, with this stack pointer.
type place struct {
	strand  timeline.StrandID
	sp      int64
	syscall string
}

func newStackIndex(tl *timeline.Timeline) *stackIndex {
	x := &stackIndex{tl: tl, goroutines: map[goKey][]timeline.StackAt{}, places: map[place]timeline.StackID{}}
	for i := range tl.Strands {
		st := &tl.Strands[i]
		for k := range st.Stacks {
			if g := st.Stacks[k].Goroutine; g != recording.NoGoroutine {
				key := goKey{st.Process, g}
				x.goroutines[key] = append(x.goroutines[key], st.Stacks[k])
			}
		}
		x.learn(timeline.StrandID(i))
	}
	for _, list := range x.goroutines {
		slices.SortStableFunc(list, func(a, b timeline.StackAt) int { return cmp.Compare(a.Time, b.Time) })
	}
	return x
}

// learn records which stack a strand has at each place where it was seen to sleep.
func (x *stackIndex) learn(id timeline.StrandID) {
	st := &x.tl.Strands[id]
	if len(st.Stacks) == 0 {
		return
	}
	for k := range st.Intervals {
		off := st.Intervals[k].Off
		if off == nil || off.SP == 0 || !asleep(st.Intervals[k].State) {
			continue
		}
		stack, _ := x.ownOf(id, &st.Intervals[k])
		if stack == timeline.None {
			continue
		}
		p := place{id, off.SP, off.Syscall}
		if old, ok := x.places[p]; ok && old != stack {
			stack = timeline.None
		}
		x.places[p] = stack
	}
}

func asleep(s timeline.State) bool { return s == timeline.StateSleeping || s == timeline.StateDisk }

// of returns the stacks of a strand, in order of time.
func (x *stackIndex) of(id timeline.StrandID) []timeline.StackAt {
	st := &x.tl.Strands[id]
	if st.Goroutine != recording.NoGoroutine {
		return x.goroutines[goKey{st.Process, st.Goroutine}]
	}
	return st.Stacks
}

// between returns the stacks of a strand in [from, to).
func (x *stackIndex) between(id timeline.StrandID, from, to timeline.Time) []timeline.StackAt {
	list := x.of(id)
	i := sort.Search(len(list), func(k int) bool { return list[k].Time >= from })
	j := i + sort.Search(len(list)-i, func(k int) bool { return list[i+k].Time >= to })
	return list[i:j]
}

// ownOf returns the stack that was taken in a strand's sleep, and when; None if none was taken.
func (x *stackIndex) ownOf(id timeline.StrandID, iv *timeline.Interval) (timeline.StackID, timeline.Time) {
	from := iv.From
	if iv.Off != nil && iv.Off.Since != recording.NoTime {
		from = iv.Off.Since
	}
	for _, s := range x.between(id, from-stackLead, iv.To+1) {
		if s.Origin == recording.StackBlocked {
			return s.Stack, s.Time
		}
	}
	return timeline.None, recording.NoTime
}

// sleepStack returns the stack in which a strand slept. borrowed means that it is the stack of all other sleeps seen
// at the same place.
func (x *stackIndex) sleepStack(id timeline.StrandID, iv *timeline.Interval) (stack timeline.StackID, borrowed bool) {
	if stack, _ := x.ownOf(id, iv); stack != timeline.None {
		return stack, false
	}
	if iv.Off.SP == 0 {
		return timeline.None, false
	}
	if stack, ok := x.places[place{id, iv.Off.SP, iv.Off.Syscall}]; ok {
		return stack, true
	}
	return timeline.None, false
}

// intervals returns the intervals of a strand that overlap [from, to).
func intervals(st *timeline.Strand, from, to timeline.Time) []timeline.Interval {
	list := st.Intervals
	i := sort.Search(len(list), func(k int) bool { return list[k].To > from })
	j := sort.Search(len(list), func(k int) bool { return list[k].From >= to })
	return list[i:max(i, j)]
}
