package causality

// Counts finds how many calls owners make at each point of their work. Usually several owners go on at once, and only
// the sum of their calls is seen. Each such sum is an equation; Counts looks for the numbers that solve nearly all of
// them.
type Counts[P comparable] struct {
	// Learning says that rarely seen numbers count too: they are good enough to learn more from.
	Learning bool

	usual     func(P) int
	index     map[P]int32
	calls     []int8 // by point; unknown: not known
	guesses   []int8 // by point, as calls, but however rarely the point was seen
	equations []equation
}

// equation says how many calls a number of owners at some points made together.
type equation struct {
	terms []term
	calls int
	loose bool // other owners may have made some of the calls
}

// term is how many of the owners were at one point.
type term struct{ point, count int32 }

const (
	none        = -1
	unknown     = -1
	mostCalls   = 8     // so many different numbers of calls are told apart per owner and point: 0 to 7
	manyPoints  = 128   // with more points nothing is learned: each owner then has a point of its own
	enough      = 10000 // equations that are kept
	manySeen    = 5     // how often a point must have been seen
	seldomElse  = 20    // for so many equations that hold, one may be violated
	manyOpen    = 24    // with so many open points at most, pairs of points are tried too
	solveRounds = 12
)

// NewCounts returns empty counts. The function usual gives the number of calls that is tried first at a point.
func NewCounts[P comparable](usual func(P) int) *Counts[P] {
	return &Counts[P]{Learning: true, usual: usual, index: map[P]int32{}}
}

// place returns the index of a point and adds it if it is new; none if there are too many points.
func (c *Counts[P]) place(at P) int32 {
	i, ok := c.index[at]
	if !ok && len(c.calls) < manyPoints {
		i = int32(len(c.calls))
		c.index[at], c.calls, c.guesses = i, append(c.calls, unknown), append(c.guesses, unknown)
	} else if !ok {
		return none
	}
	return i
}

// Saw notes how many calls owners at some points made together; loose: other owners may have made some of them.
func (c *Counts[P]) Saw(points []P, calls int, loose bool) {
	if len(c.equations) >= enough {
		return
	}
	e := equation{calls: calls, loose: loose}
	for _, at := range points {
		i := c.place(at)
		if i == none {
			return
		}
		k := 0
		for k < len(e.terms) && e.terms[k].point != i {
			k++
		}
		if k == len(e.terms) {
			e.terms = append(e.terms, term{point: i})
		}
		e.terms[k].count++
	}
	c.equations = append(c.equations, e)
}

// At is how many calls an owner makes at a point, if that is known.
func (c *Counts[P]) At(at P) (n int, known bool) {
	i, ok := c.index[at]
	switch {
	case ok && c.calls[i] != unknown:
		return int(c.calls[i]), true
	case ok && c.Learning && c.guesses[i] != unknown:
		return int(c.guesses[i]), true
	}
	return 0, false
}

// Solve finds the numbers and drops the equations. It reports whether any number changed.
func (c *Counts[P]) Solve() (more bool) {
	s := solver{equations: c.equations, x: make([]int, len(c.calls)), of: make([][]int32, len(c.calls)), rest: make([]int, len(c.equations))}
	for at, i := range c.index {
		if s.x[i] = int(c.guesses[i]); c.guesses[i] == unknown {
			s.x[i] = c.usual(at)
		}
	}
	s.start(s.eliminate())
	for range solveRounds {
		if !s.round() {
			break
		}
	}
	for i := range c.calls {
		before, guess := c.calls[i], c.guesses[i]
		if c.calls[i] = unknown; s.sure(int32(i)) {
			c.calls[i] = int8(s.x[i])
		}
		if c.guesses[i] = unknown; len(s.of[i]) > 0 {
			c.guesses[i] = int8(s.x[i])
		}
		more = more || c.calls[i] != before || c.guesses[i] != guess
	}
	c.equations = c.equations[:0]
	return more
}

// solver looks for small numbers that satisfy the equations. It changes one number, or two, at a time as long as that
// makes more equations hold.
type solver struct {
	equations []equation
	x         []int     // by point: its number
	of        [][]int32 // by point: the equations that contain it
	rest      []int     // by equation: the calls that the current numbers do not explain
	open      []int32   // points that occur in equations and that eliminate left open
}

// eliminate sets the numbers of points that are the only unknown in equations, if most of those equations agree. It
// repeats this with what is known by then, and returns which points are set.
func (s *solver) eliminate() (told []bool) {
	told = make([]bool, len(s.x))
	for found := true; found; {
		found = false
		votes := make([][mostCalls]int, len(s.x))
		for k := range s.equations {
			if i, n := s.equations[k].one(told, s.x); i != none {
				votes[i][n]++
			}
		}
		for i := range votes {
			best, all := 0, 0
			for v, n := range votes[i] {
				if all += n; n > votes[i][best] {
					best = v
				}
			}
			if n := votes[i][best]; n >= manySeen && 5*(all-n) <= all {
				s.x[i], told[i], found = best, true, true
			}
		}
	}
	return told
}

// one returns the only point of an equation that is not set, and the number that follows for it; none if there is no
// such point or no valid number.
func (e *equation) one(told []bool, x []int) (point int32, calls int) {
	open, left := term{point: none}, e.calls
	for _, t := range e.terms {
		switch {
		case told[t.point]:
			left -= int(t.count) * x[t.point]
		case open.point != none:
			return none, 0
		default:
			open = t
		}
	}
	if open.point == none || left < 0 || left%int(open.count) != 0 || left/int(open.count) >= mostCalls {
		return none, 0
	}
	return open.point, left / int(open.count)
}

func (s *solver) start(told []bool) {
	for k := range s.equations {
		e := &s.equations[k]
		s.rest[k] = e.calls
		for _, t := range e.terms {
			s.of[t.point] = append(s.of[t.point], int32(k))
			s.rest[k] -= int(t.count) * s.x[t.point]
		}
	}
	for i := range s.x {
		if !told[i] && len(s.of[i]) > 0 {
			s.open = append(s.open, int32(i))
		}
	}
}

func (e *equation) count(point int32) int {
	for _, t := range e.terms {
		if t.point == point {
			return int(t.count)
		}
	}
	return 0
}

// round tries other numbers for each point, and for each pair of points if these are few. It reports whether any
// change made more equations hold.
func (s *solver) round() (better bool) {
	for i := range s.x {
		for v := range mostCalls {
			better = s.try(int32(i), v) || better
		}
	}
	if better || len(s.open) > manyOpen {
		return better
	}
	for k, i := range s.open {
		for _, j := range s.open[:k] {
			better = s.pair(i, j) || better
		}
	}
	return better
}

// try sets a point's number to v if more equations hold with it.
func (s *solver) try(i int32, v int) bool {
	gain, d := 0, s.x[i]-v
	if d == 0 {
		return false
	}
	for _, k := range s.of[i] {
		n := s.equations[k].count(i)
		if s.rest[k] == 0 {
			gain--
		} else if s.rest[k]+n*d == 0 {
			gain++
		}
	}
	if gain <= 0 {
		return false
	}
	s.set(i, v)
	return true
}

// pair changes the numbers of two points if more equations hold with both changed.
func (s *solver) pair(i, j int32) bool {
	was, before := s.x[i], s.held(i, j)
	for v := range mostCalls {
		if v == was {
			continue
		}
		old := s.x[j]
		s.set(i, v)
		for u := range mostCalls {
			s.try(j, u)
		}
		if s.held(i, j) > before {
			return true
		}
		s.set(j, old)
	}
	s.set(i, was)
	return false
}

// held counts the equations that hold among those that contain either of two points.
func (s *solver) held(i, j int32) (n int) {
	for _, k := range s.of[i] {
		if s.rest[k] == 0 {
			n++
		}
	}
	for _, k := range s.of[j] {
		if s.rest[k] == 0 && s.equations[k].count(i) == 0 {
			n++
		}
	}
	return n
}

func (s *solver) set(i int32, v int) {
	for _, k := range s.of[i] {
		s.rest[k] += s.equations[k].count(i) * (s.x[i] - v)
	}
	s.x[i] = v
}

// sure reports whether a point's number can be relied on: the point was seen often enough and nearly all of its
// equations hold. Also, no other point may occur in exactly the same equations, as often, with another number: the
// two numbers could then be swapped.
func (s *solver) sure(i int32) bool {
	seen, held, broken := 0, 0, 0
	with := map[int32]int{}
	for _, k := range s.of[i] {
		e := &s.equations[k]
		n := e.count(i)
		seen += n
		switch {
		case s.rest[k] == 0:
			held++
		case s.rest[k] < 0 || !e.loose:
			broken++
		}
		for _, t := range e.terms {
			if t.point != i && int(t.count) == n {
				with[t.point]++
			}
		}
	}
	if seen < manySeen || broken*seldomElse > held || 2*held < len(s.of[i]) {
		return false
	}
	for j, n := range with {
		if n == len(s.of[i]) && n == len(s.of[j]) && s.x[i] != s.x[j] {
			return false
		}
	}
	return true
}
