package timeline

// went is what somebody was seen to do in a turn, who may have asked for more.
type went int8

const (
	wentNowhere went = iota
	wentAside        // calls on connections of its own were sent
	wentOn           // calls on shared connections were
	wentLater        // calls were sent in a later turn
)

// habit is where a request is in what it does: requests of one kind that have come to the
// same point mostly go on in the same way.
type habit struct {
	endpoint string
	steps    int8   // how often it went on
	last     string // operation that was answered last
	woke     bool   // a timer fired that it waited for since
	answers  int8   // how many calls were answered since it went on with none under way
	some     bool   // others are still
	over     bool   // its response is written in the same turn
	again    went   // what it was seen to do in it
}

// after is the habit of a request of which a call was answered, and so many are still under way.
func (h habit) after(c *Call, left int) habit {
	h.last, h.woke, h.some, h.again = c.Operation, false, left > 0, wentNowhere
	return h
}

// habits are how many calls are sent at a point on shared connections. Mostly several
// requests go on at once, and only how many calls all of them send is seen: each time is an
// equation, and the numbers are those that solve nearly all.
type habits struct {
	index     map[habit]int32
	calls     []int8 // by habit; unknownCalls: not known
	guesses   []int8 // the same, however seldom that was seen: good enough to learn more
	learning  bool
	equations []equation
}

// equation says how many calls so many requests at some points sent together.
type equation struct {
	terms []term
	calls int
	loose bool // somebody else may have sent some of them
}

// term is how many of those were at one point.
type term struct{ habit, count int32 }

const (
	unknownCalls = -1
	mostCalls    = 8     // that are told apart, of one request at once
	manyHabits   = 128   // beyond them nothing is learned: each request is of its own kind
	enough       = 10000 // equations
	manySeen     = 5     // how often a point must have been seen
	seldomElse   = 20    // for how many equations that hold one may not
	manyOpen     = 24    // habits of which two are tried at a time
	solveRounds  = 12
)

func newHabits() *habits { return &habits{index: map[habit]int32{}, learning: true} }

// place is where a habit's number is, made if it is new; None if there are too many.
func (h *habits) place(at habit) int32 {
	i, ok := h.index[at]
	if !ok && len(h.calls) < manyHabits {
		i = int32(len(h.calls))
		h.index[at], h.calls, h.guesses = i, append(h.calls, unknownCalls), append(h.guesses, unknownCalls)
	} else if !ok {
		return None
	}
	return i
}

// saw notes how many calls those at some points sent together; loose: or others did.
func (h *habits) saw(points []habit, calls int, loose bool) {
	if len(h.equations) >= enough {
		return
	}
	e := equation{calls: calls, loose: loose}
	for _, at := range points {
		if at.endpoint == "" {
			return
		}
		i := h.place(at)
		if i == None {
			return
		}
		k := 0
		for k < len(e.terms) && e.terms[k].habit != i {
			k++
		}
		if k == len(e.terms) {
			e.terms = append(e.terms, term{habit: i})
		}
		e.terms[k].count++
	}
	h.equations = append(h.equations, e)
}

// sends is how many calls are sent at a point, if that is known.
func (h *habits) sends(at habit) (n int, known bool) {
	i, ok := h.index[at]
	switch {
	case ok && h.calls[i] != unknownCalls:
		return int(h.calls[i]), true
	case ok && h.learning && h.guesses[i] != unknownCalls:
		return int(h.guesses[i]), true
	}
	return 0, false
}

// solve finds the numbers, and forgets the equations. It reports whether any is another
// than before.
func (h *habits) solve() (more bool) {
	s := solver{equations: h.equations, x: make([]int, len(h.calls)), of: make([][]int32, len(h.calls)), rest: make([]int, len(h.equations))}
	for at, i := range h.index {
		if s.x[i] = int(h.guesses[i]); h.guesses[i] == unknownCalls && !at.over && !at.some {
			s.x[i] = 1
		} else if h.guesses[i] == unknownCalls {
			s.x[i] = 0
		}
	}
	s.start(s.eliminate())
	for range solveRounds {
		if !s.round() {
			break
		}
	}
	for i := range h.calls {
		before, guess := h.calls[i], h.guesses[i]
		if h.calls[i] = unknownCalls; s.sure(int32(i)) {
			h.calls[i] = int8(s.x[i])
		}
		if h.guesses[i] = unknownCalls; len(s.of[i]) > 0 {
			h.guesses[i] = int8(s.x[i])
		}
		more = more || h.calls[i] != before || h.guesses[i] != guess
	}
	h.equations = h.equations[:0]
	return more
}

// solver looks for small numbers with which the equations hold: it changes one after the
// other as long as that makes what is left over less.
type solver struct {
	equations []equation
	x         []int     // by habit
	of        [][]int32 // by habit: the equations that it is in
	rest      []int     // by equation: what is left over
	open      []int32   // habits that are in equations, and of which no elimination tells
}

// eliminate sets the numbers that equations with one unknown habit tell, mostly alike, and
// goes on with what is known then.
func (s *solver) eliminate() (told []bool) {
	told = make([]bool, len(s.x))
	for found := true; found; {
		found = false
		votes := make([][mostCalls]int, len(s.x))
		for k := range s.equations {
			if i, n := s.equations[k].one(told, s.x); i != None {
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

// one is the only habit in an equation that is not told, and what its number is then; None
// if there is no such.
func (e *equation) one(told []bool, x []int) (habit int32, calls int) {
	open, left := term{habit: None}, e.calls
	for _, t := range e.terms {
		switch {
		case told[t.habit]:
			left -= int(t.count) * x[t.habit]
		case open.habit != None:
			return None, 0
		default:
			open = t
		}
	}
	if open.habit == None || left < 0 || left%int(open.count) != 0 || left/int(open.count) >= mostCalls {
		return None, 0
	}
	return open.habit, left / int(open.count)
}

func (s *solver) start(told []bool) {
	for k := range s.equations {
		e := &s.equations[k]
		s.rest[k] = e.calls
		for _, t := range e.terms {
			s.of[t.habit] = append(s.of[t.habit], int32(k))
			s.rest[k] -= int(t.count) * s.x[t.habit]
		}
	}
	for i := range s.x {
		if !told[i] && len(s.of[i]) > 0 {
			s.open = append(s.open, int32(i))
		}
	}
}

func (e *equation) count(habit int32) int {
	for _, t := range e.terms {
		if t.habit == habit {
			return int(t.count)
		}
	}
	return 0
}

// round tries other numbers for each habit, and for each two of few, and reports whether any
// let more equations hold.
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

// try sets a habit's number if more equations hold with it.
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

// pair sets the numbers of two habits if more equations hold with both.
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

// held is how many of the equations that two habits are in hold.
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

// sure reports whether a habit's number is: it was seen often enough, nearly all equations
// hold, and no other is in all of them as often with another number: then either may be the
// one's and the other's.
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
			if t.habit != i && int(t.count) == n {
				with[t.habit]++
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
