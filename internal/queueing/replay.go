package queueing

import "slices"

// Job is one piece of work, in order of arrival.
type Job struct {
	Arrive  Time
	Service Duration
}

// Waits replays jobs through so many servers, each of which takes the next one when it
// is free, and returns how long each waits.
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
	Less Ratio                              // so much of the work is gone: One, all of it; below zero it takes longer
	Of   func(customer, visit int) Duration // of which part of a visit's work; nil: of all
	More int                                // so many more servers
	Load Ratio                              // customers come so many times as often; 0 is once
}

// turns is what one customer met in a replay: its waits and its service, summed up.
type turns struct{ waited, served Duration }

// service is what a visit takes with the change.
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
	order    int32 // among those of the same instant
}

func (a *step) before(b *step) bool {
	switch {
	case a.at != b.at:
		return a.at < b.at
	case a.ends != b.ends:
		return a.ends // a turn that ends makes room for who comes just then
	}
	return a.order < b.order
}

// game is a replay under way.
type game struct {
	*Server
	*Change
	first []step // of those who have yet to come at all, in order
	steps []step // the others: a heap, the earliest on top
	line  []int32
	head  int // of line
	idle  int
	each  []player
	out   []turns
	slice Duration // a turn's, at most; 0: no end
	count int32
}

// A replay takes so many turns at most, and so many more for each visit: longer work than that
// is done in longer ones.
const (
	mostTurns     = 1 << 18
	turnsOfAVisit = 16
)

// sliceOf is how long a turn may be.
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

// player is a customer in a game.
type player struct {
	visit int
	since Time     // it waits
	left  Duration // of its visit's work
	turn  Duration // that it has now
}

// play lets the customers come as they did, each visit as long after the one before as it
// was, and returns what each met.
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

// earliest takes the step that comes next.
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
	if p.left > 0 { // its slice is over: it goes on at once, or stands in line again
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
