package truth

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/getdwell/dwell/internal/load"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Truth is what the programs themselves logged during a recording.
type Truth struct {
	Client    []load.Entry
	Served    []Served
	Exchanges []Exchange
	Taken     []Taken
	From, To  int64 // only requests sent in this span are compared; ns
}

// Score is how a Timeline compares with the Truth.
type Score struct {
	Sent, Matched int          // requests the client had answered; of them found in the Timeline
	Extra         int          // requests in the Timeline beyond those that clients sent
	Cut           int          // requests that an end of the recording cut, counted apart
	Missing       []load.Entry // those sent that are not in the Timeline
	Misplaced     int          // matched, but with another ordinal on their connection
	ClientP50     int64
	DwellP50      int64 // of the same requests; ns
	Calls         Association
	Causes        []Agreement
	Unaccounted   int64 // sum over the matched requests; ns
	Duration      int64 // sum over the matched requests; ns
	Unknown       int64 // time in segments of unknown cause; ns
}

// Association is how the calls were attributed, of all that the upstream answered.
type Association struct {
	Exchanges  int
	Right      int
	Wrong      int
	Unassigned int // seen, and honestly not attributed
	Unseen     int
}

// Precision is the share of right ones among those attributed, 1 if none was.
func (a Association) Precision() float64 {
	if a.Right+a.Wrong == 0 {
		return 1
	}
	return float64(a.Right) / float64(a.Right+a.Wrong)
}

// Recall is the share of right ones among all.
func (a Association) Recall() float64 {
	if a.Exchanges == 0 {
		return 1
	}
	return float64(a.Right) / float64(a.Exchanges)
}

// Compare matches requests and calls by port and time: on one HTTP/1.1 connection only
// one request is under way, so both together name it.
func Compare(tl *timeline.Timeline, truth Truth) Score {
	m := matchRequests(tl, truth)
	s := m.score
	s.Calls = associate(tl, truth, m)
	s.Causes = agreements(tl, truth, m)
	return s
}

// matches pairs a Timeline's requests with the client's.
type matches struct {
	score Score
	entry map[timeline.RequestID]int // -> request id of the client, all of them
	used  []timeline.RequestID       // compared: matched, whole, in the span
}

func matchRequests(tl *timeline.Timeline, truth Truth) matches {
	m := matches{entry: map[timeline.RequestID]int{}}
	byPort := map[int][]load.Entry{}
	inSpan, taken := map[int]bool{}, map[int]bool{}
	for _, e := range truth.Client {
		if e.Sent == 0 {
			continue
		}
		byPort[e.Port] = append(byPort[e.Port], e)
		if e.Err == "" && e.Sent >= truth.From && e.Done <= truth.To {
			inSpan[e.ID] = true
		}
	}
	m.score.Sent = len(inSpan)
	var client, dwell []int64
	for i := range tl.Requests {
		r := &tl.Requests[i]
		e, found := at(byPort[portOf(r.Peer)], int64(r.Start))
		if !found || taken[e.ID] {
			m.score.Extra++
			continue
		}
		taken[e.ID] = true
		m.entry[r.ID] = e.ID
		if !inSpan[e.ID] {
			continue
		}
		if r.Cut {
			m.score.Cut++
			continue
		}
		m.score.Matched++
		if int(r.Ordinal) != e.Ordinal {
			m.score.Misplaced++
		}
		m.used = append(m.used, r.ID)
		client = append(client, e.Service())
		dwell = append(dwell, int64(r.Duration()))
		m.score.Duration += int64(r.Duration())
		m.score.Unaccounted += int64(r.Unaccounted())
		for g := r.Segments(); g.Next(); {
			if g.Cause == timeline.CauseUnknown {
				m.score.Unknown += int64(g.To.Sub(g.From))
			}
		}
	}
	for _, e := range truth.Client {
		if inSpan[e.ID] && !taken[e.ID] {
			m.score.Missing = append(m.score.Missing, e)
		}
	}
	slices.Sort(client)
	slices.Sort(dwell)
	m.score.ClientP50, m.score.DwellP50 = load.Quantile(client, 50), load.Quantile(dwell, 50)
	return m
}

// at returns the entry of one client port that was under way at a time. Ports are
// reused, so the entries of one may be of several connections.
func at(entries []load.Entry, time int64) (load.Entry, bool) {
	i := slices.IndexFunc(entries, func(e load.Entry) bool { return e.Sent <= time && time <= e.Done })
	if i < 0 {
		return load.Entry{}, false
	}
	return entries[i], true
}

func portOf(address string) int {
	a, err := netip.ParseAddrPort(address)
	if err != nil {
		return -1
	}
	return int(a.Port())
}

// associate asks, for every exchange of a compared request, which request the
// Timeline gave the call to.
func associate(tl *timeline.Timeline, truth Truth, m matches) Association {
	var a Association
	for _, one := range attribute(tl, truth, m) {
		if one.Exchange.ID == Nobody {
			continue
		}
		a.Exchanges++
		switch {
		case one.Call == nil:
			a.Unseen++
		case one.Call.Request == timeline.None:
			a.Unassigned++
		case one.Right:
			a.Right++
		default:
			a.Wrong++
		}
	}
	return a
}

// Attributed is an exchange of a compared request, and what the Timeline says of it.
type Attributed struct {
	Exchange Exchange
	Call     *timeline.Call // nil: not seen
	Right    bool           // it was given to the request that the upstream was told of, or, being nobody's, to none
}

// Attribute pairs the exchanges of all compared requests, and those of nobody, with calls.
func Attribute(tl *timeline.Timeline, truth Truth) []Attributed {
	return attribute(tl, truth, matchRequests(tl, truth))
}

func attribute(tl *timeline.Timeline, truth Truth, m matches) (all []Attributed) {
	calls := callsByPort(tl)
	compared := map[int]bool{}
	for _, id := range m.used {
		compared[m.entry[id]] = true
	}
	exchanges := slices.Clone(truth.Exchanges)
	slices.SortStableFunc(exchanges, func(a, b Exchange) int { return cmp.Compare(a.Start, b.Start) })
	for _, x := range exchanges {
		c := take(calls, x)
		if !compared[x.ID] && x.ID != Nobody {
			continue
		}
		one := Attributed{Exchange: x, Call: c}
		switch {
		case c == nil:
		case x.ID == Nobody:
			one.Right = c.Request == timeline.None
		case c.Request != timeline.None:
			id, known := m.entry[c.Request]
			one.Right = known && id == x.ID
		}
		all = append(all, one)
	}
	return all
}

// callsByPort are the calls by the service's port, in the order in which they were sent.
func callsByPort(tl *timeline.Timeline) map[int][]*timeline.Call {
	ports := map[recording.ConnID]int{}
	for _, c := range tl.Conns {
		ports[c.ID] = portOf(c.Local)
	}
	calls := map[int][]*timeline.Call{}
	for i := range tl.Calls {
		c := &tl.Calls[i]
		port := ports[c.Conn]
		calls[port] = append(calls[port], c)
	}
	for _, list := range calls {
		slices.SortFunc(list, func(a, b *timeline.Call) int {
			return cmp.Or(cmp.Compare(sentFrom(a), sentFrom(b)), cmp.Compare(a.Ordinal, b.Ordinal))
		})
	}
	return calls
}

// take takes the call that an exchange belongs to from those of its connection: the first
// that had not ended when it began, if it was sent before the exchange ended. So it is on
// a connection that several requests share too, whose answers come in order. (Calls take
// turns from when they are sent; before, they may wait for the connection. A call counts
// as sent when the write has returned, and the upstream may have begun by then.)
func take(calls map[int][]*timeline.Call, x Exchange) *timeline.Call {
	for i, c := range calls[x.Port] {
		if int64(c.End) < x.Start {
			continue
		}
		if sentFrom(c) > x.End {
			return nil
		}
		calls[x.Port] = calls[x.Port][i+1:]
		return c
	}
	return nil
}

func sentFrom(c *timeline.Call) int64 {
	if c.SendFrom == recording.NoTime {
		return int64(c.Start)
	}
	return int64(c.SendFrom)
}
