package loopcalls

import (
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// fewSends is how many calls are needed to learn how many ids a call takes.
const fewSends = 8

// asyncIDs remembers for which owner the loop worked when Node gave out each async id.
type asyncIDs struct {
	ranges []idRange        // in order of id
	times  []recording.Time // at which the counts below were seen
	counts []int64
	next   int64          // ids up to this one are known
	before recording.Time // time of the move at which next was seen
}

// idRange is a run of ids that were given out one after the other.
type idRange struct {
	giver
	last  int64
	since recording.Time // time of the last move before they were given out
}

// giver is the owner of ids; if that is Nobody, the ids belong to one of either.
type giver struct {
	owner  loops.Owner
	either [2]loops.Owner
}

// sole is the giver of ids with one known owner, or with none.
func sole(owner loops.Owner) giver { return giver{owner, [2]loops.Owner{loops.Nobody, loops.Nobody}} }

// give notes which giver gave out the ids up to counter.
func (a *asyncIDs) give(counter int64, by giver, at recording.Time) {
	if counter <= a.next {
		return
	}
	if n := len(a.ranges); n > 0 && a.ranges[n-1].giver == by && a.ranges[n-1].since == a.before {
		a.ranges[n-1].last = counter
	} else {
		a.ranges = append(a.ranges, idRange{by, counter, a.before})
	}
	a.next, a.before = counter, at
	a.times, a.counts = append(a.times, at), append(a.counts, counter)
}

// in is the range that contains an id; without an owner if the id is not known.
func (a *asyncIDs) in(id int64) idRange {
	if id <= 0 || id > a.next {
		return idRange{giver: sole(loops.Nobody), since: recording.NoTime}
	}
	return a.ranges[sort.Search(len(a.ranges), func(k int) bool { return a.ranges[k].last >= id })]
}

// maybe returns the two owners that an id may have been given out for; Nobody if there is no such doubt.
func (a *asyncIDs) maybe(id int64) (loops.Owner, loops.Owner) {
	e := a.in(id).either
	return e[0], e[1]
}

// find returns the owner that was worked for when an id was given out, or Nobody.
func (a *asyncIDs) find(id int64) loops.Owner { return a.in(id).owner }

// asked returns the time of the last move before an id was given out; NoTime if it is not known.
func (a *asyncIDs) asked(id int64) recording.Time { return a.in(id).since }

// countAt returns the last id known to have been given out before a time.
func (a *asyncIDs) countAt(at recording.Time) int64 {
	i := sort.Search(len(a.times), func(k int) bool { return a.times[k] > at })
	if i == 0 {
		return 0
	}
	return a.counts[i-1]
}

// idTurns finds in which turn of a loop ids were given out.
type idTurns struct {
	moves  []loops.Move
	begins []int32 // indexes of moves that begin turns and show the last id given out before
}

func newIDTurns(moves []loops.Move) idTurns {
	x := idTurns{moves: moves}
	for i := range moves {
		if !moves[i].Callback() && moves[i].Counter > 0 {
			x.begins = append(x.begins, int32(i))
		}
	}
	return x
}

// of returns the index of the move that began the turn in which an id was given out; None if it is not known.
func (x idTurns) of(id int64) int {
	k := sort.Search(len(x.begins), func(k int) bool { return x.moves[x.begins[k]].Counter >= id })
	if id == 0 || k == 0 || k == len(x.begins) {
		return timeline.None
	}
	return int(x.begins[k-1])
}

// idsOfSends is the most ids that a callback asked for in another turn gives out before it has sent a call, learned
// from such callbacks that follow right after each other; -1: not known. A few exceptions are tolerated.
func idsOfSends(moves []loops.Move) int64 {
	var counts []int64
	turn, free := int64(0), false // last id given out before the running turn; such callbacks run
	for i := range moves {
		switch m := &moves[i]; {
		case !m.Callback():
			turn, free = m.Counter, false
		case m.Kind != loops.MoveSend:
		case free:
			counts = append(counts, m.Counter-moves[i-1].Counter)
		default:
			free = m.Exec > 0 && m.Exec <= turn
		}
	}
	if len(counts) < fewSends {
		return -1
	}
	slices.Sort(counts)
	return counts[len(counts)-1-len(counts)/oddSends]
}

// oddSends: one of so many such callbacks may be an exception.
const oddSends = 16

// idsToWrite is the most ids given out by a callback that only writes what was asked for before: those of a tick and
// of the write.
const idsToWrite = 4

// giveBefore assigns the ids that were given out before such a callback ran, if it is known how many the callback
// gives out itself, or if its connection is shared. They belong to the owner before. by is the giver of all ids up to
// the callback's write, and remains that of the rest.
func (w *asyncWalk) giveBefore(m *loops.Move, by giver) giver {
	few := w.few
	if w.named[m.Conn] {
		few = idsToWrite
	}
	if before := by.either[0]; before != loops.Nobody && m.Kind == loops.MoveSend && few >= 0 {
		w.ids.give(m.Counter-few, sole(before), m.At)
	}
	return by
}

// trustNames marks calls whose ids show their requests as certain. If promises have ids, what is sent names a promise
// of its request. Calls on a shared connection that were written together are excluded: all of them carry what the
// first one asked for.
func (in *asyncInput) trustNames(t *timeline.Timeline) {
	if in.named == nil {
		return
	}
	for _, c := range in.sends {
		for k, id := range c.calls {
			call := &t.Calls[id]
			together := k > 0 && t.Calls[c.calls[k-1]].SendFrom == call.SendFrom ||
				k+1 < len(c.calls) && t.Calls[c.calls[k+1]].SendFrom == call.SendFrom
			if call.Why == timeline.WhyAsync && call.Request != timeline.None && !(c.shared && together) {
				in.sure[id] = true
			}
		}
	}
}
