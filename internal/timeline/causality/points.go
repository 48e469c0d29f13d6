package causality

import "slices"

// point is how far an owner has come in what it does. What owners of one kind ask for at a point is
// nearly always the same.
type point struct {
	kind     string
	answered int16  // calls of it that were
	turn     int16  // its turn of that number since
	depth    int16  // after how many calls, one because of the other, its turn comes that runs
	under    int16  // calls under way or asked for when it began
	path     uint64 // a hash of all its turns: FNV-1a's
}

// Of FNV-1a, for 64 bits.
const (
	fnvBasis = 14695981039346656037
	fnvPrime = 1099511628211
)

// pointKey is a point that owners come to.
type pointKey struct {
	kind                         string
	answered, turn, depth, under int16
	path                         uint64
}

// farthest is up to where turns, answers and depths are counted: what one owner makes thousands of calls
// for is not kept for each.
const farthest = 200

// mostPaths bounds how many paths are kept: where owners do what they do in any order there
// are as many as owners.
const mostPaths = 1 << 14

// newPoint is where an owner of a kind begins.
func newPoint(kind string) point { return point{kind: kind, turn: -1, path: fnvBasis} }

// begins notes that a turn of the owner does, with so many calls under way.
func (c *point) begins(under int) {
	c.under = int16(min(under, farthest))
	for _, x := range []int16{c.answered, c.turn, c.depth, c.under} {
		c.path = (c.path ^ uint64(x)) * fnvPrime
	}
}

// next is the depth of the turns that what it asks for now leads to.
func (c *point) next() int16 { return min(c.depth+1, farthest) }

// keys are the points where it is, the most exact first: all that it did; how much that was and after what
// its turn comes; how much alone.
func (c *point) keys() [3]pointKey {
	return [3]pointKey{
		{kind: c.kind, path: c.path},
		{c.kind, c.answered, c.turn, 1 + c.depth, c.under, 0},
		{kind: c.kind, answered: c.answered, turn: c.turn},
	}
}

// points are how many calls owners ask for at each point.
type points map[pointKey]*atPoint

// atPoint is the same at one.
type atPoint struct {
	turns int                        // that were seen
	calls map[string]*[mostCalls]int // by peer: in how many of them so many calls were sent, if any
}

// mostAtPoint is how many calls, or more, are not told apart.
const mostAtPoint = mostCalls - 1

// turnsSeen is how often a point must have been seen to tell how many calls are asked for there.
const turnsSeen = 5

// learn counts the calls of a turn, by peer.
func (p points) learn(c *point, sent map[string]int) {
	for _, j := range c.keys() {
		at := p[j]
		if at == nil {
			if j.path != 0 && len(p) > mostPaths {
				continue
			}
			at = &atPoint{calls: map[string]*[mostCalls]int{}}
			p[j] = at
		}
		at.turns++
		for peer, n := range sent {
			if at.calls[peer] == nil {
				at.calls[peer] = &[mostCalls]int{}
			}
			at.calls[peer][min(n, mostAtPoint)]++
		}
	}
}

// known is what is of where an owner is: of what was seen often enough most exactly, and there
// what comes first; nil if nothing is.
func (c *point) known(of ...points) *atPoint {
	for _, j := range c.keys() {
		for _, p := range of {
			if at := p[j]; at != nil && at.turns >= turnsSeen {
				return at
			}
		}
	}
	return nil
}

// of is how many calls to a peer are asked for; not sure if that varies.
func (a *atPoint) of(peer string) (n int, sure bool) {
	var counts [mostCalls]int
	if of := a.calls[peer]; of != nil {
		counts = *of
	}
	none := a.turns
	for _, k := range counts {
		none -= k
	}
	counts[0] += none
	n = slices.Index(counts[:], slices.Max(counts[:]))
	return n, Tally{All: a.turns, Odd: a.turns - counts[n]}.Holds(1, Usually)
}
