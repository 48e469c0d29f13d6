package timeline

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/recording"
)

// Move is a read or a write by a strand that lets others continue.
type Move struct {
	At      Time  // when it returned, or when the first of several did
	Arrived Time  // when the bytes that were read arrived, if Conn is set
	Conn    int32 // the outbound connection it read on: index of Conns; None for all other moves
}

// AddMoves sets the moves of a strand, in any order.
func (l *Goroutines) AddMoves(s StrandID, list []Move) {
	if l.moves == nil {
		l.moves = map[StrandID][]Move{}
	}
	slices.SortStableFunc(list, func(a, b Move) int { return cmp.Compare(a.At, b.At) })
	l.moves[s] = list
}

// AwaitedRead returns the read for whose bytes a strand waited at a time, when it was on no thread, or asleep. Two
// conditions must hold: as soon as the strand runs again, the first thing it does on a connection is to read those bytes
// from an outbound one, and the bytes arrived while it was away. Otherwise AwaitedRead returns nil.
func AwaitedRead(t *Timeline, s StrandID, at Time) *Move {
	moves := t.Goroutines.moves[s]
	i := sort.Search(len(moves), func(k int) bool { return moves[k].At > at })
	if i == len(moves) || moves[i].Conn == None {
		return nil
	}
	x := &moves[i]
	if t.Strands[s].Goroutine == recording.NoGoroutine {
		return x.afterSleep(t.Strands[s].Intervals, at)
	}
	runs := t.Goroutines.stintsOf(t, s)
	k := sort.Search(len(runs), func(k int) bool { return runs[k].To > at })
	if k == len(runs) || runs[k].From <= at || x.At > runs[k].To || runs[k].Exact && x.Arrived > runs[k].From || k > 0 && x.Arrived < runs[k-1].To {
		return nil
	}
	return x
}

// afterSleep returns the move if a thread makes it before it sleeps again, and if its bytes arrived during the sleep in which
// the thread is at a time. Otherwise it returns nil.
func (x *Move) afterSleep(life []Interval, at Time) *Move {
	k := sort.Search(len(life), func(k int) bool { return life[k].To > at })
	if k == len(life) || life[k].State != StateSleeping || x.Arrived < life[k].From || x.Arrived > life[k].To {
		return nil
	}
	for k++; k < len(life) && life[k].From < x.At; k++ {
		if life[k].State == StateSleeping {
			return nil
		}
	}
	return x
}

// ConnBehind returns the connection whose bytes are awaited in a segment that belongs to no call, by a strand that
// works for others. It returns nil if that is not known.
func ConnBehind(t *Timeline, g *Segment) *Conn {
	if g.Call != None || g.Cause != CauseRemote || g.Strand == None {
		return nil
	}
	if x := AwaitedRead(t, g.Strand, g.From); x != nil {
		return &t.Conns[x.Conn]
	}
	return nil
}
