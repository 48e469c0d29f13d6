package timeline

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/recording"
)

// Move is a read or a write of a goroutine that lets others go on.
type Move struct {
	At      Time  // it returned, or the first of several did
	Arrived Time  // the bytes that were read had, if Conn is one
	Conn    int32 // outbound, on which it read: index of Conns; None of all other moves
}

// AddMoves lists the moves of a strand, in any order.
func (l *Goroutines) AddMoves(s StrandID, list []Move) {
	if l.moves == nil {
		l.moves = map[StrandID][]Move{}
	}
	slices.SortStableFunc(list, func(a, b Move) int { return cmp.Compare(a.At, b.At) })
	l.moves[s] = list
}

// AwaitedRead is the read for whose bytes a goroutine waited that was on no thread at a time: the first thing that it does on a
// connection, as soon as it runs again, is to read them, from an outbound one, and they came while it was away. Nil if that is not so.
func AwaitedRead(t *Timeline, s StrandID, at Time) *Move {
	moves := t.Goroutines.moves[s]
	i := sort.Search(len(moves), func(k int) bool { return moves[k].At > at })
	if i == len(moves) || moves[i].Conn == None {
		return nil
	}
	x, runs := &moves[i], t.Goroutines.stintsOf(t, s)
	k := sort.Search(len(runs), func(k int) bool { return runs[k].To > at })
	if k == len(runs) || runs[k].From <= at || x.At > runs[k].To || runs[k].Exact && x.Arrived > runs[k].From || k > 0 && x.Arrived < runs[k-1].To {
		return nil
	}
	return x
}

// ConnBehind is the connection for whose bytes a goroutine that works for others waits, and so does a segment that is no call's; nil
// if that is not known.
func ConnBehind(t *Timeline, g *Segment) *Conn {
	if g.Call != None || g.Cause != CauseRemote || g.Strand == None || t.Strands[g.Strand].Goroutine == recording.NoGoroutine {
		return nil
	}
	if x := AwaitedRead(t, g.Strand, g.From); x != nil {
		return &t.Conns[x.Conn]
	}
	return nil
}
