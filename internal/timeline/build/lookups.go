package build

import (
	"slices"
	"sort"
	"strings"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/peers"
	"github.com/getdwell/dwell/recording"
)

// resolution is one resolving of a name: its look-ups of several types, and those of
// the search domains that were tried first, on one thread.
type resolution struct {
	thread   recording.ThreadID
	from, to recording.Time // to NoTime: not answered
	addrs    string         // answers, space-separated
	names    []string
	asked    []string       // name and type of each look-up
	open     int            // look-ups without an answer
	waiting  []question     // those
	silent   recording.Time // when one was asked again for want of an answer; NoTime: none was
	used     bool           // a call took it
}

// question is a look-up that has no answer yet.
type question struct {
	what string // name and type
	at   recording.Time
}

// buildLookups pairs the two halves of DNS exchanges, and groups them into resolutions
// in order of their start.
func buildLookups(t *timeline.Timeline, f *facts) []resolution {
	type key struct {
		thread recording.ThreadID
		id     int64
		name   string
		kind   string
	}
	pending := map[key]int{}
	group := map[int]int{} // look-up -> resolution
	current := map[recording.ThreadID][]int{}
	var all []resolution
	threads := resolvers{f: f, one: map[recording.ProcessID]recording.ThreadID{}}
	for _, d := range f.dns {
		thread, recent := threads.of(d.Thread)
		k := key{thread, d.ID, d.Name, d.Type}
		if d.Part == recording.DNSQuery {
			if i, ok := pending[k]; ok {
				if l, r := &t.Lookups[i], &all[group[i]]; l.Again == recording.NoTime {
					l.Again, r.silent = d.at, max(r.silent, d.at)
				}
				continue
			}
			i := len(t.Lookups)
			pending[k] = i
			t.Lookups = append(t.Lookups, timeline.Lookup{Thread: d.Thread, Name: d.Name, From: d.at, To: recording.NoTime, Server: d.Server, Again: recording.NoTime})
			list := current[thread]
			n := len(list) - 1
			for n >= 0 && n >= len(list)-recent && !all[list[n]].takes(d.Name, d.Type, d.at) {
				n--
			}
			if n < 0 || n < len(list)-recent {
				n, list = len(list), append(list, len(all))
				all = append(all, resolution{thread: d.Thread, from: d.at, silent: recording.NoTime})
				current[thread] = list
			}
			g := list[n]
			all[g].ask(d.Name, d.Type, d.at)
			group[i] = g
			continue
		}
		i, ok := pending[k]
		if !ok {
			continue
		}
		delete(pending, k)
		l := &t.Lookups[i]
		l.To, l.Rcode, l.Addrs = d.at, d.Rcode, d.Addrs
		all[group[i]].answer(d)
	}
	return all
}

// searchGap is how soon after an answer without an address a resolver asks for the name in
// the next search domain.
const searchGap = 10_000_000 // ns

// soonestRetry is how long a resolver waits at least for an answer before it asks again.
const soonestRetry = 1_000_000_000 // ns

// asks reports whether it waits for an answer to the same question, and not for long enough
// to ask again: whoever asks on that thread does so for another, as on the loop of Node.
func (r *resolution) asks(name, kind string, at recording.Time) bool {
	return slices.ContainsFunc(r.waiting, func(a question) bool { return a.what == name+" "+kind && at.Sub(a.at) < soonestRetry })
}

// takes reports whether a look-up may belong to the same resolving: the same name, or, as
// long as none gave an address, one in another search domain; not asked before.
func (r *resolution) takes(name, kind string, at recording.Time) bool {
	last := r.names[len(r.names)-1]
	switch {
	case r.asks(name, kind, at):
		return false
	case name == last:
	case r.addrs != "" || !sameHost(name, last) || r.open == 0 && at > r.to+searchGap:
		return false
	}
	return r.open > 0 || !slices.Contains(r.asked, name+" "+kind)
}

// sameHost reports whether two names may be one in different search domains: they begin with
// the same label.
func sameHost(a, b string) bool {
	a, _, _ = strings.Cut(a, ".")
	b, _, _ = strings.Cut(b, ".")
	return a == b
}

func (r *resolution) ask(name, kind string, at recording.Time) {
	r.names = append(r.names, name)
	r.asked = append(r.asked, name+" "+kind)
	r.waiting = append(r.waiting, question{name + " " + kind, at})
	r.open++
}

func (r *resolution) answer(d dnsAt) {
	r.open--
	if i := slices.IndexFunc(r.waiting, func(a question) bool { return a.what == d.Name+" "+d.Type }); i >= 0 {
		r.waiting = slices.Delete(r.waiting, i, i+1)
	}
	r.to = max(r.to, d.at)
	if d.Addrs != "" {
		r.addrs = strings.TrimSpace(r.addrs + " " + d.Addrs)
	}
}

// gave reports whether the resolution gave an address, or none that is known.
func (r *resolution) gave(addr string) bool {
	return slices.Contains(splitAddrs(r.addrs), addr)
}

// resolveOnThread gives new calls the resolution that ran on the connecting thread
// right before: nothing else was sent or received there in between.
func resolveOnThread(t *timeline.Timeline, f *facts, work []made, all []resolution) {
	byThread := map[recording.ThreadID][]int{}
	for i := range all {
		byThread[all[i].thread] = append(byThread[all[i].thread], i)
	}
	if len(byThread) == 0 {
		return
	}
	busy := lastActions(f)
	for i := range t.Calls {
		c := &t.Calls[i]
		d := f.conns[work[i].conn].decl
		list := byThread[d.Thread]
		if !c.New || len(list) == 0 {
			continue
		}
		n := sort.Search(len(list), func(k int) bool { return all[list[k]].from > c.ConnectFrom })
		if n == 0 {
			continue
		}
		r := &all[list[n-1]]
		if r.used || r.open > 0 || r.to > c.ConnectFrom || !r.gave(peers.Host(d.Peer)) || busy.between(d.Thread, r.to, c.ConnectFrom) {
			continue
		}
		r.used = true
		resolvedBy(c, r)
		settle(c, &work[i].bounds)
	}
}

// resolvedBy gives a call the resolution that it waited for.
func resolvedBy(c *timeline.Call, r *resolution) {
	c.DNSFrom, c.DNSTo = r.from, r.to
	if r.silent != recording.NoTime {
		c.Unanswered = max(0, min(r.silent, r.to).Sub(r.from))
	}
}

// actions are the times at which each thread sent, received or connected.
type actions map[recording.ThreadID][]recording.Time

// lastActions lists what threads did on their connections, for threads that resolve.
func lastActions(f *facts) actions {
	a := actions{}
	for _, d := range f.dns {
		a[d.Thread] = nil
	}
	for i := range f.conns {
		for dir := range f.conns[i].chunks {
			for _, c := range f.conns[i].chunks[dir] {
				if _, ok := a[c.Thread]; ok {
					a[c.Thread] = append(a[c.Thread], c.at)
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

// named are the names that look-ups gave an address to, in order of time.
type named map[string][]nameAt

type nameAt struct {
	at   recording.Time
	name string
}

func namesByAddress(lookups []timeline.Lookup) named {
	n := named{}
	for i := range lookups {
		l := &lookups[i]
		for _, a := range splitAddrs(l.Addrs) {
			n[a] = append(n[a], nameAt{l.To, l.Name})
		}
	}
	for _, list := range n {
		slices.SortStableFunc(list, func(a, b nameAt) int { return int(min(1, max(-1, a.at-b.at))) })
	}
	return n
}

// before returns the name last given to an address before a time, "" if none.
func (n named) before(addr string, at recording.Time) string {
	list := n[addr]
	i := sort.Search(len(list), func(k int) bool { return list[k].at > at })
	if i == 0 {
		return ""
	}
	return list[i-1].name
}

// splitAddrs returns the addresses of DNS answers, each once.
func splitAddrs(addrs string) []string {
	list := strings.Fields(addrs)
	slices.Sort(list)
	return slices.Compact(list)
}
