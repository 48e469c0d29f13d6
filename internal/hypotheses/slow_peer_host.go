package hypotheses

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// crowdedShare: if some thread waits for a processor for this share of the time between two samples of the host, any
// thread there may have to.
const crowdedShare = diagnosis.Whole / 2

// crowded is the times, in order and disjoint, in which a thread of this host may have had to wait for a processor. How
// long a peer on this host takes to answer then says nothing of the peer. At other times it may have waited as the
// service's own threads do.
type crowded struct {
	times []window
	own   map[netip.Addr]bool // addresses of this host, as far as can be seen
}

func crowdedTimes(c *diagnosis.Case) crowded {
	var out []window
	for i := 1; i < len(c.Hosts); i++ {
		a, b := &c.Hosts[i-1], &c.Hosts[i]
		wall := int64(b.Time.Sub(a.Time))
		busy := b.Busy - a.Busy
		if wall <= 0 || diagnosis.ShareOf(busy, busy+b.Idle-a.Idle) < c.Saturated &&
			diagnosis.ShareOf(b.Pressure-a.Pressure, wall) < crowdedShare && diagnosis.ShareOf(b.Throttled-a.Throttled, wall) < throttledShare &&
			diagnosis.ShareOf(b.Stolen-a.Stolen, busy+b.Idle-a.Idle+b.Stolen-a.Stolen) < stolenShare {
			continue
		}
		if n := len(out); n > 0 && out[n-1].to == a.Time {
			out[n-1].to = b.Time
		} else {
			out = append(out, window{a.Time, b.Time})
		}
	}
	t := crowded{out, map[netip.Addr]bool{}}
	for i := range c.Conns {
		if at, err := netip.ParseAddrPort(c.Conns[i].Local); err == nil {
			t.own[at.Addr()] = true
		}
	}
	return t
}

// lateness returns how long requests' threads wait for processors at most, in 99 of 100 requests.
func lateness(c *diagnosis.Case) Duration {
	return c.Once("lateness", func() any {
		ids, ready := c.Measured(), costOf(c, c.Ready())
		waits := make([]Duration, 0, len(ids))
		for _, id := range ids {
			waits = append(waits, ready[id])
		}
		diagnosis.Sort(waits)
		return diagnosis.Quantile(waits, 99)
	}).(Duration)
}

// apart separates the time that was spent waiting for a peer from what of it may have been spent waiting for a
// processor, if the peer is on this host. Doubtful are all waits that touch a crowded time. So are waits that are
// longer than usual, by no more than twice what requests here wait for a processor: an answer takes a thread that reads
// and one that writes. A part of a wait is as doubtful as the whole.
func (t crowded) apart(c *diagnosis.Case, addresses []string, spans []diagnosis.Span) (its, doubtful []diagnosis.Span) {
	if !t.here(addresses) {
		return spans, nil
	}
	usual, late := usualLength(spans), lateness(c)
	for _, s := range spans {
		i, _ := slices.BinarySearchFunc(t.times, s.From+1, func(w window, at diagnosis.Time) int { return cmp.Compare(w.to, at) })
		d := s.To.Sub(s.From)
		if i < len(t.times) && t.times[i].from < s.To || d > steadyTimes*usual && d-usual <= 2*late {
			doubtful = append(doubtful, s)
		} else {
			its = append(its, s)
		}
	}
	return its, doubtful
}

// usualLength returns the median length of spans; 0 if there are none.
func usualLength(spans []diagnosis.Span) Duration {
	lengths := make([]Duration, len(spans))
	for i, s := range spans {
		lengths[i] = s.To.Sub(s.From)
	}
	diagnosis.Sort(lengths)
	return diagnosis.Quantile(lengths, 50)
}

// here reports whether all addresses of a peer are loopback, or addresses at which we are reached or from which we
// connect.
func (t crowded) here(addresses []string) bool {
	return !slices.ContainsFunc(addresses, func(address string) bool {
		at, err := netip.ParseAddrPort(address)
		return err != nil || !at.Addr().IsLoopback() && !t.own[at.Addr()]
	})
}

// addressesOf returns where calls went, or to which proxies.
func addressesOf(c *diagnosis.Case, calls []timeline.CallID) (list []string) {
	for _, id := range calls {
		if at := cmp.Or(c.Calls[id].Proxy, c.Calls[id].Address); len(list) == 0 || list[len(list)-1] != at {
			list = append(list, at)
		}
	}
	return list
}

// recorded is a peer whose own requests are in the recording, too.
type recorded struct {
	name     string // of the process that served most of them, and of how many
	pid      int64
	requests int
	time     Duration // of these requests
	unread   Duration // of that: before they were read
}

// recordedAt finds the measured requests of other processes that came on the other ends of some
// calls' connections, or through the same Unix socket; nil if there are none.
func recordedAt(c *diagnosis.Case, calls []timeline.CallID) *recorded {
	asked, from := map[[2]string]bool{}, map[recording.ProcessID]bool{}
	for _, id := range calls {
		cn := &c.Conns[connIndex(c, c.Calls[id].Conn)]
		asked[otherEnd(cn.Peer, cn.Local)], from[cn.Process] = true, true
	}
	var r recorded
	served := map[recording.ProcessID]int{}
	for _, id := range c.Measured() {
		q := &c.Requests[id]
		cn := &c.Conns[connIndex(c, q.Conn)]
		if from[q.Process] || !asked[otherEnd(cn.Local, cn.Peer)] {
			continue
		}
		served[q.Process]++
		r.requests++
		r.time += q.Duration()
		for s := q.Segments(); q.HasPhase(timeline.PhaseUnread) && s.Next(); {
			if s.Phase == timeline.PhaseUnread {
				r.unread += s.To.Sub(s.From)
			}
		}
	}
	if r.requests == 0 {
		return nil
	}
	most := 0
	for i := range c.Processes {
		if p := &c.Processes[i]; served[p.ID] > most {
			most, r.name, r.pid = served[p.ID], p.Comm, p.PID
		}
	}
	if n := len(served); n > 1 {
		r.name += ", " + diagnosis.Thousands(int64(n)) + " processes"
	}
	return &r
}

// otherEnd returns what a connection is called at both of its ends: the address that answers and the one that asked.
// Through a Unix socket, the side that asked has none.
func otherEnd(answers, asked string) [2]string {
	if strings.HasPrefix(answers, "/") || strings.HasPrefix(answers, "@") {
		asked = ""
	}
	return [2]string{answers, asked}
}

// mostlyUnread is the share of a peer's own time from which on it is said that requests were unread.
const mostlyUnread = diagnosis.Whole / 10

// words says what is known of its requests.
func (r *recorded) words() string {
	if r == nil {
		return ""
	}
	text := "; the process that answers there is recorded, too (" + r.name + "): its " + diagnosis.Plural(r.requests, "request") + " take " + diagnosis.Human(r.time/Duration(r.requests)) + " on average"
	if share := diagnosis.ShareOf(int64(r.unread), int64(r.time)); share >= mostlyUnread {
		text += ", " + diagnosis.Percent(share) + " of that before it reads them"
	}
	return text
}

// next says where to look at them.
func (r *recorded) next() string {
	if r == nil {
		return ""
	}
	return "dwell show REC --slowest 3 --where process=" + strconv.FormatInt(r.pid, 10) + " shows what these requests wait for there"
}

// fix says what to do about requests that wait before they are read; "" if that is not most of their time.
func (r *recorded) fix(peer string) string {
	if r == nil || 2*r.unread < r.time {
		return ""
	}
	return "requests queue at " + peer + " until a worker reads them: find out what its workers are busy with, or give it more workers"
}
