package loopcalls

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline/causality"
)

// What requests of an endpoint ask for at a point of what they do is nearly always the same: where
// a request is tells what it asks for.

// callPoint is how far a request has come.
type callPoint struct {
	endpoint string
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

// pointKey is a point that requests come to.
type pointKey struct {
	endpoint                     string
	answered, turn, depth, under int16
	path                         uint64
}

// farthest is up to where turns, answers and depths are counted: what one request makes thousands of calls
// for is not kept for each.
const farthest = 200

// mostPaths bounds how many paths are kept: where requests do what they do in any order there
// are as many as requests.
const mostPaths = 1 << 14

// begins notes that a turn of the request does, with so many calls under way.
func (c *callPoint) begins(under int) {
	c.under = int16(min(under, farthest))
	for _, x := range []int16{c.answered, c.turn, c.depth, c.under} {
		c.path = (c.path ^ uint64(x)) * fnvPrime
	}
}

// next is the depth of the turns that what it asks for now leads to.
func (c *callPoint) next() int16 { return min(c.depth+1, farthest) }

// keys are the points where it is, the most exact first: all that it did; how much that was and after what
// its turn comes; how much alone.
func (c *callPoint) keys() [3]pointKey {
	return [3]pointKey{
		{endpoint: c.endpoint, path: c.path},
		{c.endpoint, c.answered, c.turn, 1 + c.depth, c.under, 0},
		{endpoint: c.endpoint, answered: c.answered, turn: c.turn},
	}
}

// asked is how many calls requests ask for at each point.
type asked map[pointKey]*askedAt

// askedAt is the same at one.
type askedAt struct {
	turns int                        // that were seen
	calls map[string]*[mostCalls]int // by peer: in how many of them so many calls were sent, if any
}

// mostCalls is how many calls that are asked for at once are told apart.
const mostCalls = 8

// turnsSeen is how often a point must have been seen to tell how many calls are asked for there.
const turnsSeen = 5

// learn counts the calls of a turn, by peer.
func (a asked) learn(c *callPoint, sent map[string]int) {
	for _, j := range c.keys() {
		at := a[j]
		if at == nil {
			if j.path != 0 && len(a) > mostPaths {
				continue
			}
			at = &askedAt{calls: map[string]*[mostCalls]int{}}
			a[j] = at
		}
		at.turns++
		for peer, n := range sent {
			if at.calls[peer] == nil {
				at.calls[peer] = &[mostCalls]int{}
			}
			at.calls[peer][min(n, mostCalls-1)]++
		}
	}
}

// known is what is of where a request is: of what was seen often enough most exactly, and there
// what comes first; nil if nothing is.
func (c *callPoint) known(of ...asked) *askedAt {
	for _, j := range c.keys() {
		for _, a := range of {
			if at := a[j]; at != nil && at.turns >= turnsSeen {
				return at
			}
		}
	}
	return nil
}

// of is how many calls to a peer are asked for; not sure if that varies.
func (a *askedAt) of(peer string) (n int, sure bool) {
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
	return n, causality.Tally{All: a.turns, Odd: a.turns - counts[n]}.Holds(1, causality.Usually)
}
