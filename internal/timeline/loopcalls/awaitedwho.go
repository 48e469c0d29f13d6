package loopcalls

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// awaitedSpan is what one callback led to: which waiters continued, and which requests were answered.
type awaitedSpan struct {
	from, to recording.Time // from the first resolved promise to the last
	who      []*waiter
	answered []timeline.RequestID
	unknown  bool // a waiter continued that is not known
}

// noteSpans cuts a turn into what its callbacks led to, as far as ids show the callbacks: a callback that was asked
// for in an earlier turn has an older id. If promises have ids of their own, what continues after a promise has an
// older id too, so nothing is cut.
func (w *awaits) noteSpans(moves []loops.Move, list []loops.Settled, who []*waiter) {
	begin, s, k := &moves[0], awaitedSpan{}, 0
	resolved := func(until recording.Time) {
		for ; k < len(list) && list[k].At <= until; k++ {
			older := list[k].Exec <= begin.Counter && !w.byHandle(&list[k], begin.Conn)
			if older && w.in.named == nil && k > 0 && list[k].Exec != list[k-1].Exec {
				w.noteSpan(s)
				s = awaitedSpan{}
			}
			s.add(list[k].At, who[k])
			s.unknown = s.unknown || list[k].Waiter == 0
		}
	}
	for i := range moves {
		if m := &moves[i]; m.Kind == loops.MoveRespond && w.t.Requests[m.Request].FirstWrite == m.At {
			resolved(m.At)
			s.answered = append(s.answered, m.Request)
		}
	}
	resolved(w.t.End)
	w.noteSpan(s)
}

func (s *awaitedSpan) add(at recording.Time, x *waiter) {
	if s.to = at; x == nil || slices.Contains(s.who, x) {
		return
	}
	if s.who = append(s.who, x); len(s.who) == 1 {
		s.from = at
	}
}

func (w *awaits) noteSpan(s awaitedSpan) {
	if len(s.who) > 0 && len(s.answered) > 0 && !s.unknown {
		w.spans = append(w.spans, s)
	}
}

// pair finds the requests of the waiters. A waiter that alone continues in a callback in which one request alone is
// answered serves that request. Otherwise the waiters count that continue there for the last time, if times show
// which of the answered requests each of them can serve.
func (w *awaits) pair() {
	for i := range w.spans {
		if s := &w.spans[i]; len(s.who) == 1 && len(s.answered) == 1 && w.fits(s.who[0], s.answered[0]) {
			w.is(s.who[0], s.answered[0])
		}
	}
	for i := range w.spans {
		s := &w.spans[i]
		s.who = slices.DeleteFunc(s.who, func(x *waiter) bool { return x.last < s.from || x.last > s.to })
		for s.pairs(w) {
		}
	}
	if w.inOrder() {
		for i := range w.spans {
			w.spans[i].pairInOrder(w)
		}
	}
}

// pairs pairs one of the waiters that continued for the last time in a callback, if it can serve only one of the
// requests. In addition, no other waiter can serve that request, or there are as many waiters as requests.
func (s *awaitedSpan) pairs(w *awaits) bool {
	for _, x := range s.who {
		one, to := 0, timeline.RequestID(timeline.None)
		for _, r := range s.answered {
			if w.open(x, r) {
				one, to = one+1, r
			}
		}
		if one != 1 {
			continue
		}
		others := 0
		for _, y := range s.who {
			if w.open(y, to) {
				others++
			}
		}
		if others == 1 || len(s.who) == len(s.answered) {
			w.is(x, to)
			return true
		}
	}
	return false
}

// V8 gives out the addresses on a new page in order. So if every request is served by a function of the same kind,
// the waiter of an earlier request has the lower address.
const pageBits = 18

// fewInOrder is the least number of requests that must be in that order.
const fewInOrder = 10

// inOrder reports whether the requests of the known waiters were read in the order of the waiters' addresses.
func (w *awaits) inOrder() bool {
	var list []*waiter
	for _, x := range w.waiters {
		if x.of != timeline.None && !x.odd {
			list = append(list, x)
		}
	}
	slices.SortFunc(list, w.readFirst)
	var order causality.Tally
	for i := 1; i < len(list); i++ {
		if a, b := list[i-1], list[i]; a.id>>pageBits == b.id>>pageBits && a.of != b.of {
			order.Add(a.id >= b.id)
		}
	}
	return order.Holds(fewInOrder, causality.Surely)
}

func (w *awaits) readFirst(a, b *waiter) int {
	return cmp.Compare(w.t.Requests[a.of].FirstRead, w.t.Requests[b.of].FirstRead)
}

// pairInOrder pairs the waiters that continued for the last time in a callback with the requests that were answered
// then, in the order in which these were read. The waiters must lie on one page and be as many as the requests.
func (s *awaitedSpan) pairInOrder(w *awaits) {
	who := slices.DeleteFunc(slices.Clone(s.who), func(x *waiter) bool { return x.of != timeline.None })
	answered := slices.DeleteFunc(slices.Clone(s.answered), func(r timeline.RequestID) bool { return w.taken[r] })
	slices.SortFunc(who, func(a, b *waiter) int { return cmp.Compare(a.id, b.id) })
	slices.SortFunc(answered, func(a, b timeline.RequestID) int {
		return cmp.Compare(w.t.Requests[a].FirstRead, w.t.Requests[b].FirstRead)
	})
	if len(who) != len(answered) || len(who) == 0 || who[0].id>>pageBits != who[len(who)-1].id>>pageBits {
		return
	}
	for k, x := range who {
		if !w.fits(x, answered[k]) {
			return
		}
	}
	for k, x := range who {
		w.is(x, answered[k])
	}
}

// open reports whether neither a waiter nor a request is paired yet, and they fit each other.
func (w *awaits) open(x *waiter, r timeline.RequestID) bool {
	return x.of == timeline.None && !w.taken[r] && w.fits(x, r)
}

// fits reports whether everything known of a waiter happened since a request was read.
func (w *awaits) fits(x *waiter, r timeline.RequestID) bool {
	return w.t.Requests[r].FirstRead <= x.since
}

// is notes that a waiter serves a request.
func (w *awaits) is(x *waiter, r timeline.RequestID) {
	x.odd = x.odd || x.of != timeline.None && x.of != r
	x.of, w.taken[r] = r, true
}

// manyLives is the most requests that one address may seem to serve. What serves more, one after the other, belongs
// to no request.
const manyLives = 2

// lives counts, by address, the requests that its waiters are known to serve.
func (w *awaits) lives() map[int64]int {
	type life struct {
		id int64
		of timeline.RequestID
	}
	seen, lives := map[life]bool{}, map[int64]int{}
	for _, x := range w.waiters {
		if l := (life{x.id, x.of}); x.of != timeline.None && !seen[l] {
			seen[l] = true
			lives[x.id]++
		}
	}
	return lives
}

// give assigns calls to the requests that waited for their answers. It returns, for each waiter whose request is not
// known, its calls.
func (w *awaits) give() (rest [][]timeline.CallID) {
	lives := w.lives()
	for _, x := range w.waiters {
		switch {
		case lives[x.id] > manyLives || x.odd:
		case x.of != timeline.None:
			w.gives(x)
		case len(x.calls) > 1 && w.served(x.since, x.last):
			rest = append(rest, x.calls)
		}
	}
	return rest
}

func (w *awaits) gives(x *waiter) {
	for _, id := range x.calls {
		c := &w.t.Calls[id]
		if c.SendFrom > w.t.Requests[x.of].End {
			continue
		}
		if c.Request != x.of {
			w.in.wanted[id] = x.before(c.SendFrom)
		}
		w.t.Assign(c, x.of, timeline.WhyAwaited)
	}
}
