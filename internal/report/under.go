package report

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
)

// Under is the time spent beneath one function, itself included.
type Under struct {
	Version   int             `json:"version"`
	Query     string          `json:"query"`
	Functions []string        `json:"functions"` // matched by the query, as the runtime names them
	Endpoints []UnderEndpoint `json:"endpoints"`
	Requests  []UnderRequest  `json:"requests,omitempty"` // those with most time beneath the function first
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
	Beneath  Duration    `json:"under_ns"`  // sum of all causes
	Low      Duration    `json:"low_ns"`    // of Beneath, for its sampled parts
	High     Duration    `json:"high_ns"`   //
	Causes   []UnderTime `json:"causes"`    // largest first
	Unseen   Duration    `json:"unseen_ns"` // waited without a known stack: may or may not be beneath it
	Calls    []UnderCall `json:"calls"`     // made beneath it
	Opaque   int         `json:"calls_without_stack"`
	Entered  Entered     `json:"entered"`
}

// UnderTime is the time of one cause beneath a function. Sampled time has its 95 % confidence interval; for exact
// time both ends are equal.
type UnderTime struct {
	Cause   string   `json:"cause"`
	Took    Duration `json:"took_ns"`
	Low     Duration `json:"low_ns"`
	High    Duration `json:"high_ns"`
	Quality string   `json:"quality"`           // exact, sampled, or inferred: from the stacks of other waits at the same place
	Samples int      `json:"samples,omitempty"` // sampled: beneath the function
	Of      int      `json:"of,omitempty"`      // sampled: in all
}

// UnderCall is a group of similar calls made beneath a function.
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
	Entries []UnderEntry `json:"entries"` // a lower bound of how often it was entered
}

// UnderOptions select what is reported.
type UnderOptions struct {
	Query    string // a function, as "Cache.get" or "Cache#get"
	Endpoint string // "" all
	Requests int    // how many requests are reported individually
}

// NewUnder returns the time beneath the functions that match a query. Its Functions are empty if none matches.
func NewUnder(tl *timeline.Timeline, r *Report, o UnderOptions) *Under {
	out := &Under{Version: Version, Query: o.Query, Functions: []string{}, Endpoints: []UnderEndpoint{}}
	u := newUnderer(tl)
	f := u.function(o.Query, o.Requests)
	out.Functions = append(out.Functions, f.names...)
	if len(f.names) == 0 {
		return out
	}
	list := slices.Clone(r.Endpoints)
	slices.SortStableFunc(list, func(a, b Endpoint) int { return cmp.Compare(b.ids.total, a.ids.total) })
	for i := range list {
		if o.Endpoint != "" && list[i].Name != o.Endpoint {
			continue
		}
		if e := u.endpoint(&list[i], []*function{f})[0]; !e.none() {
			out.Endpoints = append(out.Endpoints, e)
		}
	}
	out.Requests = u.requests(f)
	return out
}

// underer adds up the time of requests beneath functions.
type underer struct {
	index *stackIndex
	tl    *timeline.Timeline

	pieces []charge // of the current request
	seen   []sighting
}

func newUnderer(tl *timeline.Timeline) *underer { return &underer{index: newStackIndex(tl), tl: tl} }

// function knows the stacks beneath one function, and which requests spent most time there.
type function struct {
	query   string
	names   []string // of the frames that match
	beneath []bool   // by stack
	most    int      // number of requests to rank
	ranked  []ranked
}

// ranked is a request and its known time beneath a function.
type ranked struct {
	id      timeline.RequestID
	beneath Duration
}

func (u *underer) function(query string, most int) *function {
	f := &function{query: query, beneath: make([]bool, len(u.tl.Stacks)), most: most}
	p, match := newPattern(query), map[timeline.FrameID]bool{}
	for i := range u.tl.Frames {
		if p.matches(&u.tl.Frames[i]) {
			match[timeline.FrameID(i)] = true
			f.names = append(f.names, u.tl.Frames[i].Function)
		}
	}
	slices.Sort(f.names)
	f.names = slices.Compact(f.names)
	for i, s := range u.tl.Stacks { // callers come before their callees
		f.beneath[i] = match[s.Frame] || s.Caller != timeline.None && f.beneath[s.Caller]
	}
	return f
}

func (f *function) has(id timeline.StackID) bool { return id != timeline.None && f.beneath[id] }

// endpoint adds up the time of an endpoint's requests beneath each of several functions.
func (u *underer) endpoint(e *Endpoint, list []*function) []UnderEndpoint {
	out := make([]UnderEndpoint, len(list))
	ordinary, slow, all := u.sets(e.ids.ordinary, list), u.sets(e.ids.slow, list), u.sets(e.ids.all, list)
	for i, f := range list {
		out[i] = UnderEndpoint{e.Name, all[i].set, ordinary[i].set, slow[i].set}
		f.rank(all[i].ranked)
	}
	return out
}

// none reports whether no request of the endpoint was seen beneath the function.
func (e *UnderEndpoint) none() bool { return e.All.Beneath == 0 && e.All.High == 0 }

// rank keeps the requests that spent most time beneath a function.
func (f *function) rank(list []ranked) {
	f.ranked = append(f.ranked, list...)
	slices.SortStableFunc(f.ranked, func(a, b ranked) int { return cmp.Or(cmp.Compare(b.beneath, a.beneath), cmp.Compare(a.id, b.id)) })
	f.ranked = f.ranked[:min(len(f.ranked), f.most)]
}

func (u *underer) requests(f *function) (out []UnderRequest) {
	for _, k := range f.ranked {
		sum := u.sets([]timeline.RequestID{k.id}, []*function{f})[0]
		r := &u.tl.Requests[k.id]
		u.read(r)
		out = append(out, UnderRequest{k.id, r.Endpoint, sum.set, orEmpty(f.entries(u, r))})
	}
	return out
}

// read finds the pieces of a request, and where its threads were seen.
func (u *underer) read(r *timeline.Request) {
	u.pieces = u.index.charges(r, u.pieces[:0])
	u.sight(r)
}

// sets adds up the time of requests beneath each of several functions.
func (u *underer) sets(ids []timeline.RequestID, list []*function) []*underSum {
	w := u.index.weigh(ids)
	sums := make([]*underSum, len(list))
	for i, f := range list {
		sums[i] = &underSum{function: f, calls: f.newCalls(u.tl)}
	}
	for _, id := range ids {
		r := &u.tl.Requests[id]
		u.read(r)
		for _, s := range sums {
			s.see(u, id)
		}
	}
	for _, s := range sums {
		s.sum(w)
	}
	return sums
}

// underSum is what several requests spent beneath one function.
type underSum struct {
	*function
	exact   [2][timeline.NumCauses]Duration // by their own stacks, by those of other waits
	calls   *underCalls
	entered entered
	ranked  []ranked
	set     UnderSet
}

// see adds the current request.
func (s *underSum) see(u *underer, id timeline.RequestID) {
	r := &u.tl.Requests[id]
	var sum, shared Duration
	for i := range u.pieces {
		c := &u.pieces[i]
		took := c.to.Sub(c.from)
		switch {
		case s.has(c.stack):
			s.exact[c.basis][c.segment.Cause] += took
			sum += took
		case c.basis == bySamples:
			shared += took
		case c.basis == byNothing && mayHide(c.segment):
			s.set.Unseen += took
		}
		s.calls.see(c)
	}
	s.calls.end(r)
	s.entered.add(s.entries(u, r))
	var k, n int64
	for _, x := range u.seen {
		if x.wait {
			continue
		}
		n++
		if s.has(x.stack) {
			k++
		}
	}
	if k > 0 {
		sum += Duration(scaled(int64(shared), k, n))
	}
	if sum > 0 && s.most > 0 {
		s.ranked = append(s.ranked, ranked{id, sum})
	}
}

// sum converts the sums to the set.
func (s *underSum) sum(w *weights) {
	out := &s.set
	out.Requests, out.Total, out.Causes = w.requests, w.total, []UnderTime{}
	var k, n int
	for id, c := range w.samples {
		n += c
		if s.has(id) {
			k += c
		}
	}
	out.Calls, out.Opaque = s.calls.list(), s.calls.opaque
	for cause := range int(timeline.NumCauses) {
		out.add(cause, s.exact[byOwnStack][cause], timeline.Exact)
		out.add(cause, s.exact[byPlace][cause], timeline.Inferred)
		out.share(cause, w.shared.took[cause], k, n)
	}
	slices.SortStableFunc(out.Causes, func(a, b UnderTime) int { return cmp.Compare(b.Took, a.Took) })
	out.Entered = s.entered.told()
}

// mayHide reports whether a piece of time could have been spent beneath any function.
func mayHide(s *timeline.Segment) bool {
	return s.Phase != timeline.PhaseUnread && s.Cause != timeline.CauseEventLoop && s.Cause != timeline.CauseClient
}

// add adds time of waits.
func (s *UnderSet) add(cause int, took Duration, quality timeline.Quality) {
	if took == 0 {
		return
	}
	s.Causes = append(s.Causes, UnderTime{Cause: timeline.Cause(cause).String(), Took: took, Low: took, High: took, Quality: quality.String()})
	s.Beneath, s.Low, s.High = s.Beneath+took, s.Low+took, s.High+took
}

// share adds time of which only samples show how much was beneath the function.
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
