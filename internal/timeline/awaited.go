package timeline

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/recording"
)

// Move is a read or a write by which a goroutine lets other goroutines continue.
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

// AwaitedRead returns the read for whose bytes a goroutine waited while it was on no thread at a time. Two conditions
// must hold: as soon as the goroutine runs again, the first thing it does on a connection is to read those bytes from
// an outbound one, and the bytes arrived while it was off its thread. Otherwise AwaitedRead returns nil.
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

// ConnBehind returns the connection whose bytes are awaited in a segment that belongs to no call, by a goroutine that
// works for others. It returns nil if that is not known.
func ConnBehind(t *Timeline, g *Segment) *Conn {
	if g.Call != None || g.Cause != CauseRemote || g.Strand == None || t.Strands[g.Strand].Goroutine == recording.NoGoroutine {
		return nil
	}
	if x := AwaitedRead(t, g.Strand, g.From); x != nil {
		return &t.Conns[x.Conn]
	}
	return nil
}
