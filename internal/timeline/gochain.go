package timeline

import (
	"sort"

	"github.com/getdwell/dwell/recording"
)

// chainGo gives calls on pooled connections to a request where two things agree and a
// third does not object: the goroutine that ran on the thread right before the
// connection's own wrote the request; the one that ran there right after the answer
// was read; and that this goroutine was seen nowhere in between, for it waits. A
// goroutine that makes call after call is often seen only before the first and after
// the last: then each answer is read right before the next request is written.
func chainGo(t *Timeline, f *facts, g goRuns, x chainInput) {
	links := goLinks(t, f, g, x.calls)
	for i := range links {
		head := &links[i]
		if head.before == recording.NoGoroutine || head.prev != None {
			continue
		}
		tail := head
		for tail.next != None {
			tail = &links[tail.next]
		}
		r := x.chained(t, head, tail)
		if r == None {
			continue
		}
		k := goKey{t.Calls[head.call].Process, head.before}
		if next := startsAfter(g.stints[k], t.Calls[head.call].Sent); next != recording.NoTime && next < t.Calls[tail.call].FirstRead {
			continue
		}
		for id := head.call; ; id = links[id].next {
			t.assign(&t.Calls[id], r, WhyGoChain)
			if id == tail.call {
				break
			}
		}
	}
}

// goLink is a call of a Go program and its neighbours on the threads that wrote and
// read it.
type goLink struct {
	call          CallID
	before, after recording.GoroutineID
	prev, next    CallID // the calls made right before and after by the same, or None
}

// goLinks finds the neighbours of all calls on pooled connections; same index as in
// Timeline.Calls.
func goLinks(t *Timeline, f *facts, g goRuns, calls []made) []goLink {
	links := make([]goLink, len(t.Calls))
	last := make([]sight, len(t.Calls)) // seen on the thread before the call was written
	next := make([]sight, len(t.Calls)) // and after it was answered
	readers := map[goKey][]CallID{}
	for i := range t.Calls {
		links[i] = goLink{call: CallID(i), prev: None, next: None}
		if t.Calls[i].Why != WhyReused || calls[i].x.replied.none() {
			continue
		}
		asked, answered := goEnds(f, &calls[i])
		last[i] = g.neighbour(f.strand(asked.Thread), asked.at, -1)
		next[i] = g.neighbour(f.strand(answered.Thread), answered.at, 1)
		links[i].before, links[i].after = last[i].goroutine, next[i].goroutine
		if answered.Goroutine != recording.NoGoroutine {
			k := goKey{t.Calls[i].Process, answered.Goroutine}
			readers[k] = append(readers[k], CallID(i))
		}
	}
	for i := range links {
		if links[i].before == recording.NoGoroutine {
			continue
		}
		list := readers[goKey{t.Calls[i].Process, links[i].before}]
		n := sort.Search(len(list), func(k int) bool { return t.Calls[list[k]].FirstRead > last[i].at })
		if n == 0 {
			continue
		}
		prev := list[n-1]
		asked, _ := goEnds(f, &calls[i])
		_, answered := goEnds(f, &calls[prev])
		if answered.Thread == asked.Thread && links[prev].next == None && next[prev].goroutine == asked.Goroutine && next[prev].at == asked.at {
			links[i].prev, links[prev].next = prev, CallID(i)
		}
	}
	return links
}

// goEnds returns the chunks in which a call was first written and first answered.
func goEnds(f *facts, m *made) (asked, answered chunkAt) {
	conn := &f.conns[m.conn]
	return conn.chunks[recording.Write][m.x.asked.first], conn.chunks[recording.Read][m.x.replied.first]
}

// chainInput is what chainGo needs besides the Timeline and the facts.
type chainInput struct {
	calls   []made
	owners  owners
	strands goIndex
	facts   *facts
	tasks   owners // by strand: for whose requests it worked besides its own
}

// chained returns the request whose goroutine ran right before the first of a chain of
// calls and right after the last, None if those differ.
func (x *chainInput) chained(t *Timeline, head, tail *goLink) RequestID {
	if head.before != tail.after {
		return None
	}
	first, last := &t.Calls[head.call], &t.Calls[tail.call]
	strand, ok := x.strands[goKey{first.Process, head.before}]
	if !ok {
		return None
	}
	r := x.owners.at(strand, first.SendFrom)
	if r == None || x.owners.at(strand, last.FirstRead) != r {
		return None
	}
	return r
}

// neighbour returns what was seen on a thread before (-1) or after (1) the goroutine
// seen there at a time; no goroutine if the thread was idle in between.
func (g goRuns) neighbour(thread StrandID, at Time, step int) sight {
	if int(thread) >= len(g.sights) || thread == None {
		return sight{}
	}
	sights := g.sights[thread]
	i := sort.Search(len(sights), func(k int) bool { return sights[k].at >= at })
	if i == len(sights) || sights[i].at != at {
		return sight{}
	}
	self := sights[i].goroutine
	for ; i >= 0 && i < len(sights); i += step {
		if sights[i].goroutine != self && !sights[i].left {
			return sights[i]
		}
	}
	return sight{}
}

// startsAfter returns when the first stint that starts after a time starts, NoTime if
// there is none.
func startsAfter(list []goStint, at Time) Time {
	i := sort.Search(len(list), func(k int) bool { return list[k].from > at })
	if i == len(list) {
		return recording.NoTime
	}
	return list[i].from
}
