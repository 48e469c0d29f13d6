package report

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Under is the time spent beneath one function, itself included.
type Under struct {
	Version   int             `json:"version"`
	Query     string          `json:"query"`
	Functions []string        `json:"functions"` // that it matches, as the runtime tells them
	Endpoints []UnderEndpoint `json:"endpoints"`
	Requests  []UnderRequest  `json:"requests,omitempty"` // those with most time beneath it first
}

// UnderEndpoint is the time beneath a function in the requests of one endpoint.
type UnderEndpoint struct {
	Name     string   `json:"name"`
	All      UnderSet `json:"all"`
	Ordinary UnderSet `json:"ordinary"`
	Slow     UnderSet `json:"slow"`
}

// UnderSet sums over several requests.
type UnderSet struct {
	Requests int         `json:"requests"`
	Total    Duration    `json:"total_ns"`  // their durations
	Beneath  Duration    `json:"under_ns"`  // the causes together
	Low      Duration    `json:"low_ns"`    // of Beneath, for its sampled parts
	High     Duration    `json:"high_ns"`   //
	Causes   []UnderTime `json:"causes"`    // largest first
	Unseen   Duration    `json:"unseen_ns"` // waited without a known stack: may be beneath it or not
	Calls    []UnderCall `json:"calls"`     // made beneath it
	Opaque   int         `json:"calls_without_stack"`
}

// UnderTime is the time of one cause beneath a function. Sampled time carries the
// interval in which it lies with 95 % confidence; of exact time both ends are the same.
type UnderTime struct {
	Cause   string   `json:"cause"`
	Took    Duration `json:"took_ns"`
	Low     Duration `json:"low_ns"`
	High    Duration `json:"high_ns"`
	Quality string   `json:"quality"`           // exact, sampled, or inferred: by the stacks of other waits at the same place
	Samples int      `json:"samples,omitempty"` // sampled: beneath the function
	Of      int      `json:"of,omitempty"`      // sampled: in all
}

// UnderCall is calls of one shape made beneath a function.
type UnderCall struct {
	Peer      string   `json:"peer"`
	Operation string   `json:"operation"`
	Count     int      `json:"count"`
	Total     Duration `json:"total_ns"`
}

// UnderRequest is the time beneath a function in one request.
type UnderRequest struct {
	ID       timeline.RequestID `json:"id"`
	Endpoint string             `json:"endpoint"`
	UnderSet
	Entries []UnderEntry `json:"entries"` // at least so many times it was entered
}

// UnderEntry is a stretch of a request in which one thread was seen beneath a function,
// and never outside of it. Two entries with nothing seen between them look like one.
type UnderEntry struct {
	From   Duration `json:"from_ns"` // since the request's start: first seen
	To     Duration `json:"to_ns"`   // last seen
	Strand string   `json:"strand"`
	Waited Duration `json:"waited_ns"` // of it, in waits with a stack beneath the function: exact
	Seen   int      `json:"stacks"`    // waits and samples seen

	strand timeline.StrandID
}

// UnderOptions choose what is told of.
type UnderOptions struct {
	Query    string // a function, as "Cache.get" or "Cache#get"
	Endpoint string // "" all
	Requests int    // how many of the requests are told of one by one
}

// NewUnder tells the time beneath the functions that match a query. It has no
// Functions if none does.
func NewUnder(tl *timeline.Timeline, r *Report, o UnderOptions) *Under {
	out := &Under{Version: Version, Query: o.Query, Functions: []string{}, Endpoints: []UnderEndpoint{}}
	u := newUnderer(tl, newPattern(o.Query))
	out.Functions = append(out.Functions, u.names...)
	if len(u.names) == 0 {
		return out
	}
	list := slices.Clone(r.Endpoints)
	slices.SortStableFunc(list, func(a, b Endpoint) int { return cmp.Compare(b.total, a.total) })
	for i := range list {
		e := &list[i]
		if o.Endpoint != "" && e.Name != o.Endpoint {
			continue
		}
		all := u.set(e.allIDs)
		if all.Beneath == 0 && all.High == 0 {
			continue
		}
		out.Endpoints = append(out.Endpoints, UnderEndpoint{e.Name, all, u.set(e.ordinaryIDs), u.set(e.slowIDs)})
		if o.Requests > 0 {
			for _, id := range e.allIDs {
				u.rank(id)
			}
		}
	}
	slices.SortStableFunc(u.ranked, func(a, b ranked) int { return cmp.Or(cmp.Compare(b.beneath, a.beneath), cmp.Compare(a.id, b.id)) })
	for _, k := range u.ranked[:min(len(u.ranked), o.Requests)] {
		out.Requests = append(out.Requests, u.request(k.id))
	}
	return out
}

// underer knows which stacks are beneath a function.
type underer struct {
	index   *stackIndex
	tl      *timeline.Timeline
	match   map[timeline.FrameID]bool
	names   []string // of the frames that match
	beneath []bool   // by stack
	ranked  []ranked
	pieces  []charge
	seen    []timeline.StackAt
}

// ranked is a request and what is known to have been spent beneath the function.
type ranked struct {
	id      timeline.RequestID
	beneath Duration
}

func newUnderer(tl *timeline.Timeline, p pattern) *underer {
	u := &underer{index: newStackIndex(tl), tl: tl, match: map[timeline.FrameID]bool{}, beneath: make([]bool, len(tl.Stacks))}
	for i := range tl.Frames {
		if p.matches(&tl.Frames[i]) {
			u.match[timeline.FrameID(i)] = true
			u.names = append(u.names, tl.Frames[i].Function)
		}
	}
	slices.Sort(u.names)
	u.names = slices.Compact(u.names)
	for i, s := range tl.Stacks { // callers come first
		u.beneath[i] = u.match[s.Frame] || s.Caller != timeline.None && u.beneath[s.Caller]
	}
	return u
}

func (u *underer) has(id timeline.StackID) bool { return id != timeline.None && u.beneath[id] }

// set adds up the time of requests beneath the function.
func (u *underer) set(ids []timeline.RequestID) UnderSet {
	w := u.index.weigh(ids)
	out := UnderSet{Requests: len(ids), Total: w.total, Causes: []UnderTime{}, Calls: []UnderCall{}}
	var exact [2][timeline.NumCauses]Duration // by own stacks, by those of others
	var k, n int
	for id, c := range w.samples {
		n += c
		if u.has(id) {
			k += c
		}
	}
	calls := u.newCalls()
	for _, id := range ids {
		r := &u.tl.Requests[id]
		u.pieces = u.index.charges(r, u.pieces[:0])
		for i := range u.pieces {
			c := &u.pieces[i]
			switch {
			case u.has(c.stack):
				exact[c.basis][c.segment.Cause] += c.to.Sub(c.from)
			case c.basis == byNothing && mayHide(c.segment):
				out.Unseen += c.to.Sub(c.from)
			}
			calls.see(c)
		}
		calls.end(r)
	}
	out.Calls, out.Opaque = calls.list(), calls.opaque
	for cause := range int(timeline.NumCauses) {
		out.add(cause, exact[byOwnStack][cause], timeline.Exact)
		out.add(cause, exact[byPlace][cause], timeline.Inferred)
		out.share(cause, w.shared.took[cause], k, n)
	}
	slices.SortStableFunc(out.Causes, func(a, b UnderTime) int { return cmp.Compare(b.Took, a.Took) })
	return out
}

// mayHide reports a piece of time that could have been spent beneath any function.
func mayHide(s *timeline.Segment) bool {
	return s.Phase != timeline.PhaseUnread && s.Cause != timeline.CauseEventLoop && s.Cause != timeline.CauseClient
}

// add notes time of waits.
func (s *UnderSet) add(cause int, took Duration, quality timeline.Quality) {
	if took == 0 {
		return
	}
	s.Causes = append(s.Causes, UnderTime{Cause: timeline.Cause(cause).String(), Took: took, Low: took, High: took, Quality: quality.String()})
	s.Beneath, s.Low, s.High = s.Beneath+took, s.Low+took, s.High+took
}

// share notes time of which only samples tell what of it was beneath the function.
func (s *UnderSet) share(cause int, all Duration, k, n int) {
	if all == 0 {
		return
	}
	low, high := interval95(int64(k), int64(n))
	t := UnderTime{
		Cause: timeline.Cause(cause).String(), Low: low.of(all), High: high.of(all), Quality: timeline.Sampled.String(), Samples: k, Of: n,
	}
	if n > 0 {
		t.Took = Duration(scaled(int64(all), int64(k), int64(n)))
	}
	s.Causes = append(s.Causes, t)
	s.Beneath, s.Low, s.High = s.Beneath+t.Took, s.Low+t.Low, s.High+t.High
}

// rank notes what is known of one request.
func (u *underer) rank(id timeline.RequestID) {
	r := &u.tl.Requests[id]
	var sum, shared Duration
	u.pieces = u.index.charges(r, u.pieces[:0])
	for i := range u.pieces {
		if c := &u.pieces[i]; u.has(c.stack) {
			sum += c.to.Sub(c.from)
		} else if c.basis == bySamples {
			shared += c.to.Sub(c.from)
		}
	}
	u.seen = u.index.samples(r, u.seen[:0])
	var k int64
	for _, s := range u.seen {
		if u.has(s.Stack) {
			k++
		}
	}
	if k > 0 {
		sum += Duration(scaled(int64(shared), k, int64(len(u.seen))))
	}
	if sum > 0 {
		u.ranked = append(u.ranked, ranked{id, sum})
	}
}

func (u *underer) request(id timeline.RequestID) UnderRequest {
	return UnderRequest{id, u.tl.Requests[id].Endpoint, u.set([]timeline.RequestID{id}), u.entries(&u.tl.Requests[id])}
}

// sighting is a moment, or a wait, in which a strand's stack is known.
type sighting struct {
	strand   timeline.StrandID
	from, to timeline.Time
	in       bool
	wait     bool
}

// entries finds the stretches in which each strand was beneath the function.
func (u *underer) entries(r *timeline.Request) []UnderEntry {
	var seen []sighting
	for _, c := range u.index.charges(r, nil) {
		if c.stack != timeline.None && c.segment.Cause != timeline.CauseRunnable {
			seen = append(seen, sighting{c.segment.Strand, c.from, c.to, u.has(c.stack), true})
		}
	}
	for i := range r.Segments {
		s := &r.Segments[i]
		if s.Cause != timeline.CauseOnCPU || s.Strand == timeline.None || s.Phase == timeline.PhaseUnread {
			continue
		}
		for _, at := range u.index.between(s.Strand, s.From, s.To) {
			if at.Origin == recording.StackOnCPU {
				seen = append(seen, sighting{s.Strand, at.Time, at.Time, u.has(at.Stack), false})
			}
		}
	}
	slices.SortStableFunc(seen, func(a, b sighting) int { return cmp.Or(cmp.Compare(a.strand, b.strand), cmp.Compare(a.from, b.from)) })
	return u.runs(r, seen)
}

// runs joins sightings of one strand that follow each other.
func (u *underer) runs(r *timeline.Request, seen []sighting) []UnderEntry {
	out := []UnderEntry{}
	for i, s := range seen {
		if !s.in {
			continue
		}
		if i == 0 || !seen[i-1].in || seen[i-1].strand != s.strand {
			out = append(out, UnderEntry{From: s.from.Sub(r.Start), Strand: strandName(u.tl, s.strand), strand: s.strand})
		}
		e := &out[len(out)-1]
		e.To = max(e.To, s.to.Sub(r.Start))
		e.Seen++
		if s.wait {
			e.Waited += s.to.Sub(s.from)
		}
	}
	slices.SortStableFunc(out, func(a, b UnderEntry) int { return cmp.Compare(a.From, b.From) })
	return out
}
