package exchange

import (
	"slices"
	"sort"
	"strings"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/peers"
	"github.com/getdwell/dwell/recording"
)

// Resolution is one resolving of a name: its look-ups of several types, and those of the search domains that were tried
// first, on one thread.
type Resolution struct {
	Thread   recording.ThreadID
	From, To recording.Time // To is NoTime if it was not answered
	Addrs    string         // answers, space-separated
	asked    []question
	Open     int            // look-ups without an answer
	vain     recording.Time // when a question was last repeated for want of an answer, or asked for another name; NoTime: never
	used     bool           // a call took it
}

// question is one look-up of a resolution.
type question struct {
	name, kind string
	at         recording.Time
	open       bool // it has no answer yet
}

// buildLookups pairs the two halves of DNS exchanges, and groups them into resolutions in order of their start.
func buildLookups(t *timeline.Timeline, f *facts.Facts) []Resolution {
	type key struct {
		thread recording.ThreadID
		id     int64
		name   string
		kind   string
	}
	pending := map[key]int{}
	group := map[int]int{} // look-up -> resolution
	current := map[recording.ThreadID][]int{}
	var all []Resolution
	threads := resolvers{f: f, one: map[recording.ProcessID]recording.ThreadID{}}
	for _, d := range f.DNS {
		thread, recent := threads.of(d.Thread)
		k := key{thread, d.ID, d.Name, d.Type}
		if d.Part == recording.DNSQuery {
			if i, ok := pending[k]; ok {
				if l, r := &t.Lookups[i], &all[group[i]]; l.Again == recording.NoTime {
					l.Again, r.vain = d.At, max(r.vain, d.At)
				}
				continue
			}
			i := len(t.Lookups)
			pending[k] = i
			t.Lookups = append(t.Lookups, timeline.Lookup{Thread: d.Thread, Name: d.Name, From: d.At, To: recording.NoTime, Server: d.Server, Again: recording.NoTime})
			list := current[thread]
			n := len(list) - 1
			for n >= 0 && n >= len(list)-recent && !all[list[n]].takes(d.Name, d.Type, d.At) {
				n--
			}
			if n < 0 || n < len(list)-recent {
				n, list = len(list), append(list, len(all))
				all = append(all, Resolution{Thread: d.Thread, From: d.At, vain: recording.NoTime})
				current[thread] = list
			}
			g := list[n]
			all[g].ask(d.Name, d.Type, d.At)
			group[i] = g
			continue
		}
		i, ok := pending[k]
		if !ok {
			continue
		}
		delete(pending, k)
		l := &t.Lookups[i]
		l.To, l.Rcode, l.Addrs = d.At, d.Rcode, d.Addrs
		all[group[i]].answer(d)
	}
	return all
}

// searchGap is how soon after an answer without an address a resolver asks for the name in the next search domain.
const searchGap = 10_000_000 // ns

// soonestRetry is the shortest time after which a resolver repeats an unanswered question.
const soonestRetry = 1_000_000_000 // ns

// asks reports whether the resolution waits for an answer to the same question, and has not waited long enough to
// repeat it. Then the thread asks on behalf of another caller, as Node's loop does.
func (r *Resolution) asks(name, kind string, at recording.Time) bool {
	return slices.ContainsFunc(r.asked, func(q question) bool {
		return q.open && q.name == name && q.kind == kind && at.Sub(q.at) < soonestRetry
	})
}

// takes reports whether a look-up may belong to this resolution. It must be for the same name or, as long as no look-up
// gave an address, for a name in another search domain; and it must not have been asked before.
func (r *Resolution) takes(name, kind string, at recording.Time) bool {
	last := r.asked[len(r.asked)-1].name
	switch {
	case r.asks(name, kind, at):
		return false
	case name == last:
	case r.Addrs != "" || !sameHost(name, last) || r.Open == 0 && at > r.To+searchGap:
		return false
	}
	return r.Open > 0 || !slices.ContainsFunc(r.asked, func(q question) bool { return q.name == name && q.kind == kind })
}

// sameHost reports whether two names may be one in different search domains: they begin with the same label.
func sameHost(a, b string) bool {
	a, _, _ = strings.Cut(a, ".")
	b, _, _ = strings.Cut(b, ".")
	return a == b
}

func (r *Resolution) ask(name, kind string, at recording.Time) {
	if n := len(r.asked); n > 0 && r.asked[n-1].name != name {
		r.vain = at
	}
	r.asked = append(r.asked, question{name, kind, at, true})
	r.Open++
}

func (r *Resolution) answer(d facts.DNS) {
	r.Open--
	if i := slices.IndexFunc(r.asked, func(q question) bool { return q.open && q.name == d.Name && q.kind == d.Type }); i >= 0 {
		r.asked[i].open = false
	}
	r.To = max(r.To, d.At)
	if d.Addrs != "" {
		r.Addrs = strings.TrimSpace(r.Addrs + " " + d.Addrs)
	}
}

// gave reports whether the resolution gave an address.
func (r *Resolution) gave(addr string) bool {
	return slices.Contains(Addresses(r.Addrs), addr)
}

// ResolveOnThread gives each new call the resolution that ran on the connecting thread right before: nothing else was
// sent or received there in between.
func ResolveOnThread(t *timeline.Timeline, f *facts.Facts, work []Call, all []Resolution) {
	byThread := map[recording.ThreadID][]int{}
	for i := range all {
		byThread[all[i].Thread] = append(byThread[all[i].Thread], i)
	}
	if len(byThread) == 0 {
		return
	}
	busy := lastActions(f)
	for i := range t.Calls {
		c := &t.Calls[i]
		d := f.Conns[work[i].Conn].Decl
		list := byThread[d.Thread]
		if !c.New || len(list) == 0 {
			continue
		}
		n := sort.Search(len(list), func(k int) bool { return all[list[k]].From > c.ConnectFrom })
		if n == 0 {
			continue
		}
		r := &all[list[n-1]]
		if r.used || r.Open > 0 || r.To > c.ConnectFrom || !r.gave(peers.Host(d.Peer)) || busy.between(d.Thread, r.To, c.ConnectFrom) {
			continue
		}
		r.used = true
		ResolvedBy(c, r)
		Settle(c, &work[i].Bounds)
	}
}

// ResolvedBy gives a call the resolution that it waited for.
func ResolvedBy(c *timeline.Call, r *Resolution) {
	c.DNSFrom, c.DNSTo = r.From, r.To
	if r.vain != recording.NoTime {
		c.InVain = max(0, min(r.vain, r.To).Sub(r.From))
	}
}

// actions lists the times at which each thread sent, received or connected.
type actions map[recording.ThreadID][]recording.Time

// lastActions lists what threads that resolve names did on their connections.
func lastActions(f *facts.Facts) actions {
	a := actions{}
	for _, d := range f.DNS {
		a[d.Thread] = nil
	}
	for i := range f.Conns {
		for dir := range f.Conns[i].Chunks {
			for _, c := range f.Conns[i].Chunks[dir] {
				if _, ok := a[c.Thread]; ok {
					a[c.Thread] = append(a[c.Thread], c.At)
				}
			}
		}
	}
	for _, list := range a {
		slices.Sort(list)
	}
	return a
}

// between reports whether a thread did something in (from, to).
func (a actions) between(th recording.ThreadID, from, to recording.Time) bool {
	list := a[th]
	i, _ := slices.BinarySearch(list, from+1)
	return i < len(list) && list[i] < to
}

// named lists the names for which look-ups gave an address, in order of time.
type named map[string][]nameAt

type nameAt struct {
	at   recording.Time
	name string
}

func namesByAddress(lookups []timeline.Lookup) named {
	n := named{}
	for i := range lookups {
		l := &lookups[i]
		for _, a := range Addresses(l.Addrs) {
			n[a] = append(n[a], nameAt{l.To, l.Name})
		}
	}
	for _, list := range n {
		slices.SortStableFunc(list, func(a, b nameAt) int { return int(min(1, max(-1, a.at-b.at))) })
	}
	return n
}

// before returns the name last given to an address before a time; "" if none.
func (n named) before(addr string, at recording.Time) string {
	list := n[addr]
	i := sort.Search(len(list), func(k int) bool { return list[k].at > at })
	if i == 0 {
		return ""
	}
	return list[i-1].name
}

// Addresses returns the addresses of DNS answers, each once.
func Addresses(addrs string) []string {
	list := strings.Fields(addrs)
	slices.Sort(list)
	return slices.Compact(list)
}

// resolvers determines which look-ups may belong together: those of one thread, which makes them one after the other.
// Goroutines change threads, and several of them resolve at once.
type resolvers struct {
	f   *facts.Facts
	one map[recording.ProcessID]recording.ThreadID // for each Go process, any one of its threads
}

// of returns the thread that represents the one that asks or is answered, and how many of its last resolutions a
// look-up may belong to.
func (r *resolvers) of(th recording.ThreadID) (thread recording.ThreadID, recent int) {
	i := r.f.ThreadIndex.Get(th)
	if i == timeline.None {
		return th, 1
	}
	p := r.f.Threads[i].Process
	if r.f.Runtime(p) != recording.RuntimeGo {
		return th, 1
	}
	if _, ok := r.one[p]; !ok {
		r.one[p] = th
	}
	return r.one[p], atOnceResolved
}

// atOnceResolved is how many names a Go process may resolve at once.
const atOnceResolved = 16

// GoDials is the longest time between the answer and the goroutine's connect.
const GoDials recording.Duration = 5_000_000
