package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/queueing"
	"github.com/getdwell/dwell/internal/timeline"
)

// taking is one turn at a lock: when a strand came for it, got it and let it go.
type taking struct {
	came, got, let diagnosis.Time
	strand         timeline.StrandID
	request        diagnosis.RequestID // or None
}

// lockStation is a lock as a server: it is busy while a strand has it. Turns for which no strand waited are not
// recorded, and take none of its time here.
func lockStation(c *diagnosis.Case, k *contention) *station {
	if k.lock == timeline.None || k.shared(c) {
		return nil
	}
	s := &station{kind: kindLock, more: "lock, each for a part of the data", name: k.name, lock: k.lock, room: roomOfLock(c, k), turns: true, model: queueing.Server{Servers: 1}}
	of := map[diagnosis.RequestID][]taking{}
	for _, t := range k.takings(c) {
		if t.request != timeline.None {
			of[t.request] = append(of[t.request], t)
			continue
		}
		s.look(c, t.strand, window{t.got, t.let}, timeline.None)
		s.ids = append(s.ids, timeline.None)
		s.waits, s.works = append(s.waits, nil), append(s.works, false)
		s.model.Customers = append(s.model.Customers, queueing.Customer{Comes: t.came, Beside: true,
			Visits: []queueing.Visit{{Waited: t.got.Sub(t.came), Service: t.let.Sub(t.got)}}})
	}
	for i := range c.Requests {
		if id := diagnosis.RequestID(i); of[id] != nil || c.Requests[i].Measured() {
			s.joinTakings(c, id, of[id])
		}
	}
	return s
}

// joinTakings adds a request with its turns at a lock.
func (s *station) joinTakings(c *diagnosis.Case, id diagnosis.RequestID, list []taking) {
	r := &c.Requests[id]
	tour := tour{at: r.Start}
	slices.SortFunc(list, func(a, b taking) int { return cmp.Or(cmp.Compare(a.came, b.came), cmp.Compare(a.got, b.got)) })
	for _, t := range list {
		if t.came = max(t.came, tour.at); t.came >= t.let {
			continue
		}
		t.got = max(t.got, t.came)
		tour.visits = append(tour.visits, queueing.Visit{After: t.came.Sub(tour.at), Waited: t.got.Sub(t.came), Service: t.let.Sub(t.got)})
		tour.waits = append(tour.waits, window{t.came, t.got})
		if t.got < t.let {
			tour.works, tour.by = append(tour.works, window{t.got, t.let}), append(tour.by, t.strand)
		}
		tour.at = t.let
	}
	s.join(c, id, &tour)
}

// takings lists the turns at a lock: the waits for it, each with the tenure that followed, and the tenures of strands
// that had not waited.
func (k *contention) takings(c *diagnosis.Case) (out []taking) {
	used := map[timeline.WaitID]bool{}
	came := k.comings(c)
	strands := map[timeline.StrandID]bool{}
	list := k.deeds.tenures(k.lock)
	for _, t := range list {
		strands[t.Strand] = t.Strand != timeline.None
	}
	by := servedBy(c, strands)
	for _, t := range list {
		x := taking{came: t.From, got: t.From, let: t.To, strand: t.Strand, request: timeline.None}
		if w := came.wait(t); w != timeline.None && !used[w] {
			used[w] = true
			x.came, x.request = c.Waits[w].From, c.Waits[w].Request
		}
		if x.request == timeline.None {
			x.request = workedFor(by[t.Strand], t.From)
		}
		out = append(out, x)
	}
	for _, id := range c.Locks[k.lock].Waits {
		if w := &c.Waits[id]; !used[id] {
			out = append(out, taking{w.From, w.To, w.To, w.Strand, w.Request})
		}
	}
	return out
}

// workedFor returns the request that a strand served at a time, or None.
func workedFor(list []served, at diagnosis.Time) diagnosis.RequestID {
	n, _ := slices.BinarySearchFunc(list, at, func(s served, t diagnosis.Time) int { return cmp.Compare(s.from, t+1) })
	if n == 0 || list[n-1].to <= at {
		return timeline.None
	}
	return list[n-1].request
}

// roomOfLock returns how much one more lock, each for a part of the data, could do. Holders that compute share the idle
// processors; others need none.
func roomOfLock(c *diagnosis.Case, k *contention) queueing.Ratio {
	if k.known() > 0 && !k.mostly(deedCPU) {
		return queueing.One
	}
	n := max(20, int64(k.queue.tenths)+10)
	return min(queueing.One, queueing.Ratio(k.parallel(c, n)-10)*queueing.One/10)
}
