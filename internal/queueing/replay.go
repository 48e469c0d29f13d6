package queueing

import "slices"

// Job is one piece of work; jobs are in order of arrival.
type Job struct {
	Arrive  Time
	Service Duration
}

// Waits replays jobs through a number of servers, each of which takes the next job when it is free, and returns how
// long each job waits.
func Waits(jobs []Job, servers int) []Duration {
	s := Server{Servers: servers, Customers: make([]Customer, len(jobs))}
	visits := make([]Visit, len(jobs))
	for i, j := range jobs {
		visits[i].Service = j.Service
		s.Customers[i] = Customer{Comes: j.Arrive, Visits: visits[i : i+1]}
	}
	waits := make([]Duration, len(jobs))
	for i, t := range s.play(Change{}) {
		waits[i] = t.waited
	}
	return waits
}

// Change is what is different in a replay. The zero Change is none.
type Change struct {
	Less Ratio                              // the share of the work that is removed: One, all of it; below zero it takes longer
	Of   func(customer, visit int) Duration // the part of a visit's work that Less applies to; nil: all of it
	More int                                // number of additional servers
	Load Ratio                              // factor by which customers come more often; 0 means no change
}

// turns is what one customer met in a replay: the sums of its waits and of its service.
type turns struct{ waited, served Duration }

// service returns how long a visit takes with the change.
func (c *Change) service(v *Visit, customer, visit int) Duration {
	part := v.Service
	if c.Of != nil {
		part = min(part, c.Of(customer, visit))
	}
	return max(0, v.Service-c.Less.Of(part))
}

// step is an instant at which a customer comes to the server, or one of its turns ends.
type step struct {
	at       Time
	customer int32
	ends     bool
	order    int32 // among steps at the same instant
}

func (a *step) before(b *step) bool {
	switch {
	case a.at != b.at:
		return a.at < b.at
	case a.ends != b.ends:
		return a.ends // a turn that ends makes room for a customer that comes at the same instant
	}
	return a.order < b.order
}

// game is a replay under way.
type game struct {
	*Server
	*Change
	first []step // first arrivals that are still to come, in order
	steps []step // all other steps: a heap, the earliest on top
	line  []int32
	head  int // index of the line's first customer
	idle  int
	each  []player
	out   []turns
	slice Duration // the longest turn; 0: no limit
	count int32
}

// A replay takes at most mostTurns turns, plus turnsOfAVisit for each visit: if there is more work than that, turns are
// longer.
const (
	mostTurns     = 1 << 18
	turnsOfAVisit = 16
)

// sliceOf returns how long a turn may be.
func (s *Server) sliceOf() Duration {
	if s.Slice <= 0 {
		return 0
	}
	turns, slice := Duration(mostTurns), Duration(0)
	for i := range s.Customers {
		turns += turnsOfAVisit * Duration(len(s.Customers[i].Visits))
	}
	for i := range s.Customers {
		for k := range s.Customers[i].Visits {
			slice += max(0, s.Customers[i].Visits[k].Service) / turns
		}
	}
	return max(s.Slice, slice)
}

// player is the state of a customer in a game.
type player struct {
	visit int
	since Time     // since when it waits
	left  Duration // of its visit's work
	turn  Duration // its current turn
}

// play replays the customers' recorded arrivals. The time between one visit and the next is as recorded. It returns
// what each customer met.
func (s *Server) play(c Change) []turns {
	g := &game{Server: s, Change: &c, idle: max(1, s.Servers+c.More), slice: s.sliceOf(), each: make([]player, len(s.Customers)), out: make([]turns, len(s.Customers))}
	var first Time
	for i := range s.Customers {
		if at := s.Customers[i].Comes; i == 0 || at < first {
			first = at
		}
	}
	g.steps = make([]step, 0, len(s.Customers))
	for i := range s.Customers {
		at := s.Customers[i].Comes
		if c.Load > 0 {
			at = first + Time(at.Sub(first)/Duration(c.Load)*Duration(One)+at.Sub(first)%Duration(c.Load)*Duration(One)/Duration(c.Load))
		}
		g.next(int32(i), at)
	}
	g.first, g.steps = g.steps, nil
	slices.SortFunc(g.first, func(a, b step) int {
		if a.before(&b) {
			return -1
		}
		return 1
	})
	for len(g.first)+len(g.steps) > 0 {
		if e := g.earliest(); e.ends {
			g.ended(e.customer, e.at)
		} else {
			g.came(e.customer, e.at)
		}
	}
	return g.out
}

// earliest removes and returns the next step.
func (g *game) earliest() step {
	if len(g.first) == 0 || len(g.steps) > 0 && g.steps[0].before(&g.first[0]) {
		return g.pop()
	}
	e := g.first[0]
	g.first = g.first[1:]
	return e
}

// next sends a customer to its next visit, if it has one.
func (g *game) next(i int32, now Time) {
	p := &g.each[i]
	if visits := g.Customers[i].Visits; p.visit < len(visits) {
		g.push(step{at: now + Time(visits[p.visit].After), customer: i})
	}
}

func (g *game) came(i int32, now Time) {
	p := &g.each[i]
	p.left = g.service(&g.Customers[i].Visits[p.visit], int(i), p.visit)
	g.out[i].served += p.left
	p.since = now
	if g.idle > 0 {
		g.idle--
		g.begin(i, now)
		return
	}
	g.line = append(g.line, i)
}

// begin gives a customer its turn.
func (g *game) begin(i int32, now Time) {
	p := &g.each[i]
	g.out[i].waited += now.Sub(p.since)
	p.turn = p.left
	if g.slice > 0 {
		p.turn = min(p.turn, g.slice)
	}
	g.push(step{at: now + Time(p.turn), customer: i, ends: true})
}

func (g *game) ended(i int32, now Time) {
	p := &g.each[i]
	p.left -= p.turn
	if p.left > 0 { // its slice is over: it continues at once, or queues again
		p.since = now
		if g.head == len(g.line) {
			g.begin(i, now)
			return
		}
		g.line = append(g.line, i)
	} else {
		p.visit++
		g.next(i, now)
	}
	if g.head == len(g.line) {
		g.idle++
		return
	}
	first := g.line[g.head]
	if g.head++; g.head > 1024 && 2*g.head > len(g.line) {
		g.line = append(g.line[:0], g.line[g.head:]...)
		g.head = 0
	}
	g.begin(first, now)
}

func (g *game) push(e step) {
	e.order = g.count
	g.count++
	g.steps = append(g.steps, e)
	h, at := g.steps, len(g.steps)-1
	for at > 0 {
		up := (at - 1) / 2
		if h[up].before(&h[at]) {
			break
		}
		h[up], h[at] = h[at], h[up]
		at = up
	}
}

func (g *game) pop() step {
	h := g.steps
	top, n := h[0], len(h)-1
	h[0] = h[n]
	h = h[:n]
	for at := 0; ; {
		next := 2*at + 1
		if next >= n {
			break
		}
		if next+1 < n && h[next+1].before(&h[next]) {
			next++
		}
		if h[at].before(&h[next]) {
			break
		}
		h[at], h[next] = h[next], h[at]
		at = next
	}
	g.steps = h
	return top
}
