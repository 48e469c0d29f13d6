package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/queueing"
	"github.com/getdwell/dwell/internal/timeline"
)

// unchanged returns the replay of the arrivals as they were.
func (s *station) unchanged() *replayed {
	if s.base == nil {
		best, p, fit := s.model.Fitting()
		s.model, s.base = best, &replayed{p, fit}
	}
	return s.base
}

// fits reports whether the model reproduces what was recorded. If it does not, it says nothing of what would be.
func (s *station) fits() bool { return s.unchanged().fit.Good() }

// called is the name by which a user calls it.
func (s *station) called() string {
	if s.name == "" {
		return s.kind
	}
	return s.kind + " " + s.name
}

// measures returns the measures of the server while requests were measured.
func (s *station) measures(c *diagnosis.Case) queueing.Measures {
	return s.model.Measures(c.BusyTime())
}

// pieces returns the functions in which the server computed, the one with most of its time first; the requests are
// those it computed for. There are none if it is held for other things than computing, as a connection is while its
// peer works: samples of the rest say nothing of those.
func (s *station) pieces(c *diagnosis.Case) spots {
	if 2*s.ran < s.busy {
		return spots{}
	}
	list := make([]sampling, len(s.did))
	for i := range s.did {
		list[i] = s.did[i].sampling
	}
	return spotsIn(c, list)
}

// part returns how much of each visit's work was in a function.
func (s *station) part(c *diagnosis.Case, function string) func(customer, visit int) Duration {
	return s.sampled(func(stack timeline.StackID) bool { return ownSite(c, stack).name == function })
}

// sampled returns how much of each visit's work some stacks stand for: for customers with samples by these, for others
// by all samples.
func (s *station) sampled(is func(timeline.StackID) bool) func(customer, visit int) Duration {
	all, under := make([]int32, len(s.ids)), make([]int32, len(s.ids))
	of, in := 0, 0
	for _, g := range s.did {
		all[g.customer]++
		of++
		if is(g.stack) {
			under[g.customer]++
			in++
		}
	}
	mean := diagnosis.ShareOf(int64(in), int64(of))
	return func(customer, visit int) Duration {
		share := mean
		if n := all[customer]; n > 0 {
			share = diagnosis.ShareOf(int64(under[customer]), int64(n))
		}
		return share.Of(s.model.Customers[customer].Visits[visit].Service)
	}
}

// plan is a change of a server that a user can ask for, in words.
type plan struct {
	ask   string // "work x0.5": as a user asks for it
	words string // "half of its work"
	queueing.Change
}

// another is one more server, as far as idle processors go: then the servers share what there is room for.
func (s *station) another() plan {
	p := plan{ask: "servers +1", words: "one more " + s.more}
	n := queueing.Ratio(max(1, s.model.Servers))
	p.More = 1
	if s.room < queueing.One {
		p.words += " on the idle processors"
		full := n*queueing.One + s.room
		p.Less = queueing.One - (n+1)*queueing.One*queueing.One/full
	}
	return p
}

// chiefShare is the share of a server's work from which on a function is named for it.
const chiefShare = diagnosis.Whole / 4

// half is half of the server's work: in its largest piece, if that is known.
func (s *station) half(c *diagnosis.Case) plan {
	if s.kind == kindPool {
		return plan{"work x0.5", "each " + s.more + " held for half as long", queueing.Change{Less: queueing.One / 2}}
	}
	pieces := s.pieces(c)
	if at := pieces.first(); at != nil && pieces.share(at.name) >= chiefShare {
		return plan{"work " + at.name + " x0.5", "half of what it does in " + at.place(c), queueing.Change{Less: queueing.One / 2, Of: s.part(c, at.name)}}
	}
	return plan{"work x0.5", "half of its work", queueing.Change{Less: queueing.One / 2}}
}

// plans returns the changes that a report mentions: first those that may shorten the server's queue.
func (s *station) plans(c *diagnosis.Case) []plan {
	out := s.ways(c)
	if !s.turns {
		out = append(out, plan{"load x1.5", "50 % more requests", queueing.Change{Load: queueing.One * 3 / 2}},
			plan{"load x0.5", "half of the requests", queueing.Change{Load: queueing.One / 2}})
	}
	pieces := s.pieces(c)
	if at := pieces.first(); at != nil {
		out = append(out, plan{"work " + at.name + " x0", "without " + at.place(c) + ", " + diagnosis.Percent(pieces.share(at.name)) + " of its time",
			queueing.Change{Less: queueing.One, Of: s.part(c, at.name)}})
	}
	out = append(out,
		plan{"work x0.75", "a quarter less of its work", queueing.Change{Less: queueing.One / 4}},
		plan{"work x0.5", "half of its work", queueing.Change{Less: queueing.One / 2}})
	known := map[string]bool{}
	return slices.DeleteFunc(out, func(p plan) bool {
		again := known[p.ask]
		known[p.ask] = true
		return again
	})
}

// whatIf replays a plan.
func (s *station) whatIf(p plan) diagnosis.WhatIf {
	was, would, recorded := s.unchanged(), s.model.Play(p.Change), s.model.Recorded()
	return diagnosis.WhatIf{Server: s.called(), Change: p.ask, Words: p.words,
		Mean: inProportion(recorded.Mean, was.Mean, would.Mean), P50: inProportion(recorded.P50, was.P50, would.P50), P99: inProportion(recorded.P99, was.P99, would.P99)}
}

// inProportion changes what was recorded in the proportion in which the plan changes the replay.
func inProportion(recorded, was, would Duration) diagnosis.Replayed {
	return diagnosis.Replayed{Was: recorded, Is: queueing.RatioOf(would, was).Of(recorded)}
}

// spared returns what requests wait less with a plan: of the recorded waits the share that the replay says. That the
// server also does less for the request itself is for the hypothesis that finds that work.
func (s *station) spared(p plan) []diagnosis.Span {
	was, would := s.unchanged(), s.model.Play(p.Change)
	var recorded, replayed, goes, net Duration
	shares := make([]diagnosis.Share, len(s.ids))
	for i := range s.ids {
		if s.model.Customers[i].Beside {
			continue
		}
		w := diagnosis.Total(s.waits[i])
		recorded, replayed = recorded+w, replayed+was.Waited[i]
		net += was.Waited[i] - would.Waited[i] + min(0, was.Served[i]-would.Served[i])
		shares[i] = max(0, diagnosis.ShareOf(int64(was.Waited[i]-would.Waited[i]), int64(was.Waited[i])))
		goes += shares[i].Of(w)
	}
	net = diagnosis.ShareOf(int64(recorded), int64(replayed)).Of(max(0, net))
	keep := min(diagnosis.Whole, diagnosis.ShareOf(int64(net), int64(goes))) // some wait longer: what all save together counts
	var out []diagnosis.Span
	for i := range s.ids {
		out = append(out, leadingShare(s.waits[i], diagnosis.Share(keep.Of(Duration(shares[i]))))...)
	}
	return out
}

// leadingShare returns that share of each span, from its beginning.
func leadingShare(list []diagnosis.Span, share diagnosis.Share) (out []diagnosis.Span) {
	for _, x := range list {
		if x.To = x.From + diagnosis.Time(share.Of(x.To.Sub(x.From))); x.From < x.To {
			out = append(out, x)
		}
	}
	return out
}

// trailingShare returns that share of each span, up to its end.
func trailingShare(list []diagnosis.Span, share diagnosis.Share) (out []diagnosis.Span) {
	for _, x := range list {
		if x.From = x.To - diagnosis.Time(share.Of(x.To.Sub(x.From))); x.From < x.To {
			out = append(out, x)
		}
	}
	return out
}

// best returns the plan with which requests wait least; what their own work takes longer counts as a wait.
func (s *station) best(list ...plan) plan {
	best, least := 0, Duration(0)
	for i := range list {
		would, sum := s.model.Play(list[i].Change), Duration(0)
		for k := range s.ids {
			if !s.model.Customers[k].Beside {
				sum += would.Waited[k] + max(0, would.Served[k]-s.unchanged().Served[k])
			}
		}
		if i == 0 || sum < least {
			best, least = i, sum
		}
	}
	return list[best]
}

// evidence is what is measured of a server, and how well its model reproduces it.
func (s *station) evidence(c *diagnosis.Case) []diagnosis.Evidence {
	if s == nil {
		return nil
	}
	m := s.measures(c)
	ratio := func(what string, r queueing.Ratio) diagnosis.Evidence {
		return diagnosis.Evidence{What: what, Value: int64(r), Unit: diagnosis.UnitRatio}
	}
	ev := []diagnosis.Evidence{
		diagnosis.Part("of the time "+cmp.Or(s.name, s.kind)+" is busy", diagnosis.Share(m.Utilisation)*diagnosis.Whole/diagnosis.Share(queueing.One)),
		ratio("average number that wait for it", m.Queue),
		ratio("burstiness of arrivals (1: random)", m.Burstiness),
		diagnosis.NS("mean service time", m.Service),
		diagnosis.NS("mean wait of a request in the replay", s.unchanged().fit.Replayed),
	}
	pieces := s.pieces(c)
	return append(ev, pieces.evidence(c)...)
}

// whatIfs returns the replays that a report mentions; none if the model does not fit.
func (s *station) whatIfs(c *diagnosis.Case) (out []diagnosis.WhatIf) {
	if s == nil || !s.fits() {
		return nil
	}
	for _, p := range s.plans(c) {
		if p.Load > queueing.One {
			if k, ok := s.knee(); ok {
				out = append(out, k)
			}
		}
		out = append(out, s.whatIf(p))
	}
	return out
}

// knee returns the load at which p99 doubles, if that is in reach.
func (s *station) knee() (diagnosis.WhatIf, bool) {
	at, p99 := s.model.Knee(s.unchanged().Play)
	return diagnosis.WhatIf{Server: s.called(), Change: "load x" + ratioWords(at), Words: "p99 doubles at " + ratioWords(at) + " times this load",
		P99: inProportion(s.model.Recorded().P99, s.unchanged().P99, p99)}, at > 0
}

// ratioWords writes thousandths as a decimal: "1.5".
func ratioWords(r queueing.Ratio) string {
	return diagnosis.Decimal(int64(r))
}

// mended is a candidate's fix as found by replay: the plan that saves most, and what requests wait less with it.
type mended struct {
	*station
	plan
	gone []stay
}

// mend returns what would shorten the queue at a server most: half of its work, or one more server as far as idle
// processors go; nil if the model does not fit.
func (s *station) mend(c *diagnosis.Case) *mended {
	if s == nil || !s.fits() {
		return nil
	}
	m := &mended{station: s, plan: s.best(s.ways(c)...)}
	for _, x := range s.spared(m.plan) {
		m.gone = append(m.gone, stay{x, timeline.None, timeline.None})
	}
	return m
}

// ways returns the changes that may shorten a queue.
func (s *station) ways(c *diagnosis.Case) []plan {
	list := []plan{s.half(c)}
	if s.room > 0 {
		list = append(list, s.another())
	}
	if s.kind == kindPool {
		slices.Reverse(list) // the work is the peer's
	}
	return list
}

// busyWith says how busy the server is and with what, as a clause.
func (s *station) busyWith(c *diagnosis.Case) string {
	m := s.measures(c)
	is := "it is busy "
	switch s.kind {
	case kindLock, kindInterpreter:
		is = "it is held "
	case kindWorkers, kindProcessors:
		is = "they are busy "
	}
	out := is + diagnosis.Percent(diagnosis.Share(m.Utilisation)*(diagnosis.Whole/diagnosis.Share(queueing.One))) + " of the time"
	pieces := s.pieces(c)
	if at := pieces.first(); at != nil && pieces.share(at.name) >= chiefShare {
		out += ", " + diagnosis.Percent(pieces.share(at.name)) + " of that in " + at.place(c)
	}
	return out
}

// follows reports whether requests' waits for a server that computes for them follow from what they compute.
func (s *station) follows() bool {
	if s == nil {
		return false
	}
	was := s.unchanged()
	return s.model.Follows(was.Play)
}

// waiters counts the requests that wait at all.
func (s *station) waiters() (n int) {
	for i := range s.ids {
		if s.ids[i] != timeline.None && len(s.waits[i]) > 0 {
			n++
		}
	}
	return n
}
