package causality

import "slices"

// point is how far an owner has come in its work. Owners of one kind nearly always ask for the same at the same
// point.
type point struct {
	kind     string
	answered int16  // how many of its calls were answered
	turn     int16  // the number of its turns since the last answer
	depth    int16  // length of the chain of calls, each caused by the one before, that led to the running turn
	under    int16  // calls under way or asked for when the turn began
	path     uint64 // a hash (FNV-1a) of all its turns
}

// Constants of FNV-1a for 64 bits.
const (
	fnvBasis = 14695981039346656037
	fnvPrime = 1099511628211
)

// pointKey identifies a point that owners come to.
type pointKey struct {
	kind                         string
	answered, turn, depth, under int16
	path                         uint64
}

// farthest is up to where turns, answers and depths are counted. If one owner makes thousands of calls, they are not
// kept apart.
const farthest = 200

// mostPaths bounds how many paths are kept: if owners do their work in any order, there are as many paths as owners.
const mostPaths = 1 << 14

// newPoint is where an owner of a kind begins.
func newPoint(kind string) point { return point{kind: kind, turn: -1, path: fnvBasis} }

// begins notes that a turn of the owner begins, with so many calls under way.
func (c *point) begins(under int) {
	c.under = int16(min(under, farthest))
	for _, x := range []int16{c.answered, c.turn, c.depth, c.under} {
		c.path = (c.path ^ uint64(x)) * fnvPrime
	}
}

// next is the depth of the turns that follow from what the owner asks for now.
func (c *point) next() int16 { return min(c.depth+1, farthest) }

// keys are three keys for the point, the most exact first: by everything the owner did; by how much it did and what
// led to its turn; by how much it did alone.
func (c *point) keys() [3]pointKey {
	return [3]pointKey{
		{kind: c.kind, path: c.path},
		{c.kind, c.answered, c.turn, 1 + c.depth, c.under, 0},
		{kind: c.kind, answered: c.answered, turn: c.turn},
	}
}

// points is how many calls owners ask for at each point.
type points map[pointKey]*atPoint

// atPoint is the same for one point.
type atPoint struct {
	turns int                        // turns that were seen
	calls map[string]*[mostCalls]int // by peer: in how many turns each number of calls was sent
}

// mostAtPoint is the number from which on numbers of calls are not told apart.
const mostAtPoint = mostCalls - 1

// turnsSeen is how often a point must have been seen before its numbers are used.
const turnsSeen = 5

// learn records the calls of a turn, by peer.
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

// known returns what is known about the owner's point. The most exact key that was seen often enough decides, and for
// one key the first of the given points; nil if there is none.
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

// of is how many calls to a peer are asked for; not sure if the number varies.
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
