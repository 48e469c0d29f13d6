package report

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
)

// table sums segments by phase and cause.
type table [timeline.NumPhases][timeline.NumCauses]int64

// failedFrom is the lowest status with which a server reports its own failure.
const failedFrom = 500

func endpoint(tl *timeline.Timeline, s *diagnosis.Symptom) Endpoint {
	e := Endpoint{Name: s.Endpoint, Traffic: traffic(tl, s.ByID()), Mean: s.Mean, P50: s.P50, P90: s.P90, P99: s.P99, Max: s.Max(), Causes: []CauseRow{},
		ids: requestSets{s.Ordinary, s.Slow, s.Requests, s.Few, 0}}
	ord, ordAll := tabulate(tl, s.Ordinary)
	slow, slowAll := tabulate(tl, s.Slow)
	for _, id := range s.ByID() {
		e.ids.total += tl.Requests[id].Duration()
	}
	e.Typical, e.Slowest = s.Ordinary[len(s.Ordinary)/2], s.Requests[len(s.Requests)-1]
	e.Ordinary, e.Slow = Duration(ordAll/int64(max(1, len(s.Ordinary)))), Duration(slowAll/int64(max(1, len(s.Slow))))
	e.Unaccounted = Pair{share(ord.rest(ordAll), ordAll), share(slow.rest(slowAll), slowAll)}
	left := Pair{unit - e.Unaccounted.P50Share, unit - e.Unaccounted.P99Share}
	for p := range timeline.NumPhases {
		for c := range timeline.NumCauses {
			if ord[p][c] == 0 && slow[p][c] == 0 {
				continue
			}
			row := CauseRow{p.String(), c.String(), share(ord[p][c], ordAll), share(slow[p][c], slowAll)}
			e.Causes = append(e.Causes, row)
			left.P50Share -= row.P50Share
			left.P99Share -= row.P99Share
		}
	}
	settle(e.Causes, left)
	slices.SortStableFunc(e.Causes, func(a, b CauseRow) int {
		return cmp.Or(cmp.Compare(b.P99Share, a.P99Share), cmp.Compare(b.P50Share, a.P50Share))
	})
	return e
}

// traffic counts measured requests by the status of their answers.
func traffic(tl *timeline.Timeline, ids []timeline.RequestID) Traffic {
	t, failed := Traffic{Count: len(ids)}, map[int64]int{}
	for _, id := range ids {
		switch status := tl.Requests[id].Status; {
		case status == 0:
			t.Unknown++
		case status >= failedFrom:
			failed[status]++
		}
	}
	for status, n := range failed {
		t.Failed = append(t.Failed, Answered{status, n})
	}
	slices.SortFunc(t.Failed, func(a, b Answered) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Status, b.Status))
	})
	return t
}

// failures returns the number of answers with a status of 500 or more.
func (t *Traffic) failures() (n int) {
	for _, a := range t.Failed {
		n += a.Count
	}
	return n
}

// setRates sets how often requests came during the recording. Requests that were cut by an end of the recording
// count; requests that were already waiting unread at its start do not.
func setRates(r *Report, d *diagnosis.Diagnosis, tl *timeline.Timeline) {
	came, all := map[string]int64{}, int64(0)
	for i := range tl.Requests {
		q := &tl.Requests[i]
		if q.Excluded != "" || q.Queued || d.Options.Endpoint != "" && q.Endpoint != d.Options.Endpoint {
			continue
		}
		came[q.Endpoint]++
		all++
	}
	recorded := int64(tl.InWindows(tl.Start, tl.End))
	rate := func(n int64) Decimal { return Decimal(n * 100_000_000_000 / max(1, recorded/10_000)) }
	r.Requests.PerSecond = rate(all)
	for i := range r.Endpoints {
		r.Endpoints[i].PerSecond = rate(came[r.Endpoints[i].Name])
	}
}

// settle adds the millionths lost by rounding to the largest shares, so that all shares sum to one.
func settle(rows []CauseRow, left Pair) {
	if len(rows) == 0 {
		return
	}
	a, b := 0, 0
	for i := range rows {
		if rows[i].P50Share > rows[a].P50Share {
			a = i
		}
		if rows[i].P99Share > rows[b].P99Share {
			b = i
		}
	}
	rows[a].P50Share += left.P50Share
	rows[b].P99Share += left.P99Share
}

// rest returns what the table leaves of the whole.
func (t *table) rest(all int64) int64 {
	for p := range t {
		for _, d := range t[p] {
			all -= d
		}
	}
	return all
}

func tabulate(tl *timeline.Timeline, ids []timeline.RequestID) (t table, all int64) {
	for _, id := range ids {
		r := &tl.Requests[id]
		all += int64(r.Duration())
		for s := r.Segments(); s.Next(); {
			t[s.Phase][s.Cause] += int64(s.To.Sub(s.From))
		}
	}
	return t, all
}

func calls(d *diagnosis.Diagnosis, tl *timeline.Timeline) []CallGroup {
	type key struct{ peer, operation string }
	groups, cut := map[key][]*timeline.Call{}, map[key][]*timeline.Call{} // of the cut ones only the time is reported
	for i := range tl.Calls {
		c := &tl.Calls[i]
		if c.Excluded != "" {
			continue
		}
		if e := d.Options.Endpoint; e != "" && (c.Request == timeline.None || tl.Requests[c.Request].Endpoint != e) {
			continue
		}
		of := groups
		if c.Cut {
			if of = cut; c.Request == timeline.None || !tl.Requests[c.Request].Measured() {
				continue
			}
		}
		k := key{c.Peer, c.Operation}
		of[k] = append(of[k], c)
	}
	out := []CallGroup{}
	during, opening := newUnderWay(d, tl), openings(tl)
	var all int64
	for _, id := range d.Overall.ByID() {
		all += int64(tl.Requests[id].Duration())
	}
	for k, cs := range groups {
		g := callGroup(k.peer, k.operation, cs)
		if opening != nil {
			g.NewConnections = new(NewConnections)
		}
		slices.SortStableFunc(cs, func(a, b *timeline.Call) int { return cmp.Compare(a.Start, b.Start) })
		for _, c := range cs {
			if count := opening[c.ID]; count != nil {
				count(g.NewConnections)
			}
		}
		g.Cut = len(cut[k])
		cs = append(cs, cut[k]...)
		slices.SortStableFunc(cs, func(a, b *timeline.Call) int { return cmp.Compare(a.Start, b.Start) })
		g.TimeShare = share(during.sum(cs), all)
		out = append(out, g)
	}
	slices.SortFunc(out, func(a, b CallGroup) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Peer, b.Peer), cmp.Compare(a.Operation, b.Operation))
	})
	return out
}

// underWay sums how long calls of one kind are under way in measured requests; overlapping calls count once.
type underWay struct {
	tl    *timeline.Timeline
	of    []bool          // by request: whether it is measured
	until []timeline.Time // by request: the end of the calls seen so far
	group []int           // by request: the group of those calls; 0: none
	now   int
}

func newUnderWay(d *diagnosis.Diagnosis, tl *timeline.Timeline) *underWay {
	u := &underWay{tl: tl}
	if len(tl.Calls) == 0 {
		return u
	}
	n := len(tl.Requests)
	u.of, u.until, u.group = make([]bool, n), make([]timeline.Time, n), make([]int, n)
	for _, id := range d.Overall.Requests {
		u.of[id] = true
	}
	return u
}

// sum returns that time for calls in order of their start.
func (u *underWay) sum(calls []*timeline.Call) (took int64) {
	u.now++
	for _, c := range calls {
		id := c.Request
		if id == timeline.None || !u.of[id] {
			continue
		}
		r := &u.tl.Requests[id]
		from, to := max(c.Start, r.Start), min(c.End, r.End)
		if u.group[id] == u.now {
			from = max(from, u.until[id])
		}
		if to > from {
			took += int64(to.Sub(from))
			u.until[id], u.group[id] = to, u.now
		}
	}
	return took
}

func callGroup(peer, operation string, cs []*timeline.Call) CallGroup {
	var sums [timeline.PhaseReceive + 1]int64
	var owned, fresh int64
	ds := make([]Duration, 0, len(cs))
	for _, c := range cs {
		ds = append(ds, c.End.Sub(c.Start))
		if c.Request != timeline.None {
			owned++
		}
		if c.New {
			fresh++
		}
		for p := range sums {
			sums[p] += int64(c.Phases[p])
		}
	}
	slices.Sort(ds)
	n := int64(len(cs))
	mean := func(p timeline.Phase) Duration { return Duration(sums[p] / n) }
	return CallGroup{
		Peer: peer, Operation: operation, Count: len(cs),
		AssociatedShare: share(owned, n), NewConnectionShare: share(fresh, n),
		P50: diagnosis.Quantile(ds, 50), P99: diagnosis.Quantile(ds, 99), Max: diagnosis.Quantile(ds, 100),
		Phases: Phases{
			Queue: mean(timeline.PhaseQueue), DNS: mean(timeline.PhaseDNS), Connect: mean(timeline.PhaseConnect),
			TLS: mean(timeline.PhaseTLS), Send: mean(timeline.PhaseSend), Remote: mean(timeline.PhaseRemote),
			PickUp: mean(timeline.PhasePickUp), Receive: mean(timeline.PhaseReceive),
		},
	}
}

// single is one of so few requests that they prove nothing. It only shows where that request spent its time.
type single struct {
	at       Duration // its start, since the start of the recording
	Endpoint          // of this request alone
}

// singles returns those requests, the slowest first; nil if there are enough requests to decide.
func singles(d *diagnosis.Diagnosis, tl *timeline.Timeline) (list []single) {
	all := d.Overall.Requests
	if len(all) >= d.Options.MinRequests {
		return nil
	}
	for i := len(all) - 1; i >= 0; i-- {
		r, alone := &tl.Requests[all[i]], all[i:i+1]
		list = append(list, single{r.Start.Sub(tl.Start), endpoint(tl, &diagnosis.Symptom{Endpoint: r.Endpoint, Requests: alone, Ordinary: alone, Slow: alone})})
	}
	return list
}
