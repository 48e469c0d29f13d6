package hypotheses

import (
	"cmp"
	"iter"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/queueing"
	"github.com/getdwell/dwell/internal/timeline"
)

// station is a server that requests wait for a turn of, with its model: a lock, an
// interpreter, an event loop, workers, a pool, the processors.
type station struct {
	kind  string // "lock", "loop": with the name, what a user calls it
	name  string
	lock  timeline.LockID   // of a lock or interpreter
	loop  timeline.StrandID // of a loop
	more  string            // what one more of it is called: "process"
	model queueing.Server
	ids   []diagnosis.RequestID // by customer; None: work beside requests
	waits [][]diagnosis.Span    // by customer: its waits
	works []bool                // by customer: whether the server was busy with it in a request's own time
	did   []glimpse             // samples of what the server computed
	busy  Duration              // time it was busy with requests, by their segments; 0 if these do not show it
	ran   Duration              // of that: while a strand of theirs computed
	room  queueing.Ratio        // for one more server: what idle processors leave it; 0: there can be none
	base  *replayed             // see unchanged
	turns bool                  // only turns that a strand waited for are known: nothing can be said of more load
}

// glimpse is a sample of what a server computed for a customer.
type glimpse struct {
	customer int
	sampling
}

// replayed is the unchanged replay, and how well it fits.
type replayed struct {
	*queueing.Play
	fit queueing.Fit
}

// role is what a segment of a request is to a server.
type role int8

const (
	roleNone role = iota
	roleWaits
	roleWorks
)

// customers adds the requests, each segment with its role. Requests that have no part in the server are added, too:
// they are among those whose latency counts.
func (s *station) customers(c *diagnosis.Case, of func(*timeline.Request, *timeline.Segment) role) {
	for i := range c.Requests {
		r := &c.Requests[i]
		if t := tourOf(r, of, s.model.Slice > 0, nil); len(t.visits) > 0 || r.Measured() {
			s.join(c, diagnosis.RequestID(i), t)
		}
	}
}

// tourOf returns the tour of a request, as if it had never spent the time that is gone, which is in order; merge is as
// in tour.
func tourOf(r *timeline.Request, of func(*timeline.Request, *timeline.Segment) role, merge bool, gone []window) *tour {
	t, g := &tour{at: r.Start, merge: merge}, r.Segments() // g escapes, as it is handed to of: one for all
	for g.Next() {
		for w := range outside(gone, window{t.at, g.From}) {
			t.add(roleNone, w.from, w.to)
		}
		as := of(r, &g.Segment)
		if as == roleNone && g.Cause == timeline.CauseRunnable && t.open {
			as = roleWorks // it has its turn, and lacks a processor
		}
		for w := range outside(gone, window{g.From, g.To}) {
			if t.add(as, w.from, w.to); as == roleWorks {
				t.by = append(t.by, g.Strand)
				if t.busy += w.to.Sub(w.from); ownCPU(&g.Segment) {
					t.ran += w.to.Sub(w.from)
				}
			}
		}
		t.at = g.To
	}
	t.end()
	return t
}

// join adds a request with its visits.
func (s *station) join(c *diagnosis.Case, id diagnosis.RequestID, t *tour) {
	r := &c.Requests[id]
	var waits []diagnosis.Span
	for _, w := range t.waits {
		waits = append(waits, diagnosis.Span{Request: id, From: w.from, To: w.to})
	}
	s.model.Customers = append(s.model.Customers, customer(r, t))
	s.waits = append(s.waits, waits)
	s.works = append(s.works, len(t.works) > 0)
	for i, w := range t.works {
		s.look(c, t.by[i], w, id)
	}
	s.busy, s.ran = s.busy+t.busy, s.ran+t.ran
	s.ids = append(s.ids, id)
}

// look takes the samples of a strand in a span as what the server did for its next customer.
func (s *station) look(c *diagnosis.Case, strand timeline.StrandID, w window, id diagnosis.RequestID) {
	if strand == timeline.None || len(c.Stacks) == 0 {
		return
	}
	newSamples(c).in(strand, diagnosis.Span{Request: id, From: w.from, To: w.to}, func(_ diagnosis.Span, stack timeline.StackID) {
		s.did = append(s.did, glimpse{len(s.ids), sampling{id, stack}})
	})
}

// tour collects the visits of one request.
type tour struct {
	at           diagnosis.Time
	merge        bool // a wait between two pieces of work belongs to one visit, served in slices
	open         bool // visit has begun
	visit        queueing.Visit
	visits       []queueing.Visit
	waits, works []window
	by           []timeline.StrandID // the strand of each piece of work
	busy, ran    Duration            // how long the work took, by the request's segments; the part of it in which a strand computed
}

func (t *tour) add(as role, from, to diagnosis.Time) {
	d := to.Sub(from)
	switch as {
	case roleNone:
		t.end()
		t.visit.After += d
	case roleWaits:
		if t.open && t.visit.Service > 0 && !t.merge {
			t.end()
		}
		t.open = true
		t.visit.Waited += d
		t.waits = append(t.waits, window{from, to})
	case roleWorks:
		t.open = true
		t.visit.Service += d
		t.works = append(t.works, window{from, to})
	}
}

// end closes the visit that is open.
func (t *tour) end() {
	if t.open {
		t.visits = append(t.visits, t.visit)
		t.visit, t.open = queueing.Visit{}, false
	}
}

// asOne: pieces of work beside requests that are less than this apart are one.
const asOne = diagnosis.Time(20_000)

// beside adds what some strands ran beside the requests that were joined: that takes turns of the server, too. Each
// piece comes when it ran, or, at a lock, when the strand began to wait for its turn before.
func (s *station) beside(c *diagnosis.Case, strands []timeline.StrandID, lock timeline.LockID) {
	taken := map[timeline.StrandID][]window{}
	for i, id := range s.ids {
		if s.works[i] {
			takenBy(&c.Requests[id], taken)
		}
	}
	first, last := c.Busy()
	for id, w := range ranBeside(c, strands, taken, window{first, last}) {
		s.passer(c, id, w, lock)
	}
}

// takenBy adds the times in which strands computed for a request.
func takenBy(r *timeline.Request, taken map[timeline.StrandID][]window) {
	for g := r.Segments(); g.Next(); {
		if ownCPU(&g.Segment) && g.Strand != timeline.None {
			taken[g.Strand] = append(taken[g.Strand], window{g.From, g.To})
		}
	}
}

// ranBeside returns the pieces of work that strands did within a time, without what is taken.
func ranBeside(c *diagnosis.Case, strands []timeline.StrandID, taken map[timeline.StrandID][]window, in window) iter.Seq2[timeline.StrandID, window] {
	return func(yield func(timeline.StrandID, window) bool) {
		for _, id := range strands {
			of := taken[id]
			slices.SortFunc(of, func(a, b window) int { return cmp.Compare(a.from, b.from) })
			var open window
			all := c.Strands[id].Intervals
			i, _ := slices.BinarySearchFunc(all, in.from, func(iv timeline.Interval, t diagnosis.Time) int { return cmp.Compare(iv.To, t+1) })
			for ; i < len(all) && all[i].From < in.to; i++ {
				if all[i].State != timeline.StateRunning {
					continue
				}
				for w := range outside(of, window{max(all[i].From, in.from), min(all[i].To, in.to)}) {
					if open.to > 0 && w.from-open.to < asOne {
						open.to = w.to
						continue
					}
					if open.to > open.from && !yield(id, open) {
						return
					}
					open = w
				}
			}
			if open.to > open.from && !yield(id, open) {
				return
			}
		}
	}
}

// customer returns a request as a customer.
func customer(r *timeline.Request, t *tour) queueing.Customer {
	return queueing.Customer{Comes: r.Start, Took: r.Duration(), Visits: t.visits, Beside: !r.Measured()}
}

// passing returns a piece of work beside requests as a customer.
func passing(w window) queueing.Customer {
	return queueing.Customer{Comes: w.from, Visits: []queueing.Visit{{Service: w.to.Sub(w.from)}}, Beside: true}
}

// passer adds a piece of work beside requests.
func (s *station) passer(c *diagnosis.Case, id timeline.StrandID, w window, lock timeline.LockID) {
	x := passing(w)
	if lock != timeline.None {
		sleeps := c.Sleeps(id)
		i, _ := slices.BinarySearchFunc(sleeps, w.from, func(x timeline.WaitID, t diagnosis.Time) int { return cmp.Compare(c.Waits[x].Back, t+1) })
		if i > 0 {
			if before := &c.Waits[sleeps[i-1]]; before.Lock == lock && w.from-before.Back < granted {
				x.Comes, x.Visits[0].Waited = before.From, w.from.Sub(before.From)
			}
		}
	}
	s.model.Customers = append(s.model.Customers, x)
	s.look(c, id, w, timeline.None)
	s.ids = append(s.ids, timeline.None)
	s.waits, s.works = append(s.waits, nil), append(s.works, false)
}

// outside returns the pieces of a window that are in none of some others, which are in order and disjoint.
func outside(taken []window, w window) iter.Seq[window] {
	return func(yield func(window) bool) {
		i, _ := slices.BinarySearchFunc(taken, w.from, func(x window, t diagnosis.Time) int { return cmp.Compare(x.to, t+1) })
		for ; i < len(taken) && taken[i].from < w.to; i++ {
			if taken[i].from > w.from && !yield(window{w.from, taken[i].from}) {
				return
			}
			w.from = max(w.from, taken[i].to)
		}
		if w.from < w.to {
			yield(w)
		}
	}
}
