package loopcalls

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// V8 knows what awaits a promise: an async function, whose own promise another async function awaits, and so on up to
// one that nothing awaits. In most programs that one is a request's handler. It is called the waiter here. Facts name
// the waiter of each promise that is resolved: it continues then, but the facts do not say which request it serves.
// Two things show that:
//
//   - an answer resolves a promise, so all calls whose answers the same waiter awaited belong to one request;
//   - a waiter that continues for the last time in a turn in which a request is answered serves that request.
//
// On a connection that several requests share, one callback resolves as many promises as answers were read, in their
// order.
//
// A waiter is known by its address, which V8 reuses later. So an address counts as a new waiter if at any time since
// the waiter last continued no request was being served. If the garbage collector moves a waiter, a fact says where
// to.

// nothing is the waiter of a promise that is resolved again.
const nothing = 1

// moved is the first address of a waiter, and when it was last known to be at its current one.
type moved struct {
	at     recording.Time
	waiter int64
}

// waiter is an async function that waited for promises.
type waiter struct {
	id    int64             // its first address
	went  []recording.Time  // when it continued
	last  recording.Time    // when it last continued
	since recording.Time    // it existed by then
	calls []timeline.CallID // calls whose answers it waited for
	of    timeline.RequestID
	odd   bool // it seems to belong to two requests
}

// awaits follows one loop for which the waiters of promises are known.
type awaits struct {
	t       *timeline.Timeline
	in      asyncInput
	moves   []loops.Move
	conns   map[int32]*sentOn
	handles map[handle]int  // how often the first promise resolved by an answer was resolved under this id; id 0: under any id on the connection
	list    []loops.Settled // with each waiter named by its first address
	turns   idTurns
	ends    []servedUntil
	waiters []*waiter
	now     map[int64]*waiter // by current address
	spans   []awaitedSpan
	taken   map[timeline.RequestID]bool
}

// handle is an id under which answers on a connection may call back.
type handle struct {
	conn int32
	id   int64
}

// servedUntil is when the last of all requests ended that were read until a time.
type servedUntil struct{ read, end recording.Time }

// associateAwaited assigns the calls of a loop whose answers resolve promises with known waiters. It returns, for
// each waiter whose request is not known, its calls.
func associateAwaited(t *timeline.Timeline, in asyncInput) [][]timeline.CallID {
	if len(in.loop.Settled) == 0 {
		return nil
	}
	w := &awaits{t: t, in: in, moves: in.loop.Moves, conns: in.sends, turns: newIDTurns(in.loop.Moves), now: map[int64]*waiter{}, handles: map[handle]int{}, taken: map[timeline.RequestID]bool{}}
	w.ends = servedUntils(t)
	w.follow()
	w.eachTurn(w.findHandle)
	w.eachTurn(w.turn)
	w.pair()
	return w.give()
}

// servedUntils lists that for all requests, except those that are kept open.
func servedUntils(t *timeline.Timeline) []servedUntil {
	var list []servedUntil
	for i := range t.Requests {
		if r := &t.Requests[i]; r.Excluded == "" {
			list = append(list, servedUntil{r.FirstRead, r.End})
		}
	}
	slices.SortFunc(list, func(a, b servedUntil) int { return cmp.Compare(a.read, b.read) })
	for i := 1; i < len(list); i++ {
		list[i].end = max(list[i].end, list[i-1].end)
	}
	return list
}

// served reports whether at every time between two times some request was being served.
func (w *awaits) served(from, to recording.Time) bool {
	k := sort.Search(len(w.ends), func(k int) bool { return w.ends[k].read > from })
	return k > 0 && w.ends[k-1].end >= to
}

// follow names each waiter by its first address, as far as the moves of waiters are known.
func (w *awaits) follow() {
	was := map[int64]moved{}
	for _, a := range w.in.loop.Settled {
		from, ok := was[a.Waiter]
		if ok = ok && w.served(from.at, a.At); !ok {
			delete(was, a.Waiter)
			from.waiter = a.Waiter
		}
		if a.Moved != 0 {
			delete(was, a.Waiter)
			was[a.Moved] = moved{a.At, from.waiter}
			continue
		}
		if ok {
			was[a.Waiter] = moved{a.At, from.waiter}
		}
		a.Waiter = from.waiter
		w.list = append(w.list, a)
	}
}

// eachTurn visits what was done from a read, or something else that begins callbacks, to the next one, with the
// promises that were resolved meanwhile.
func (w *awaits) eachTurn(visit func(moves []loops.Move, list []loops.Settled)) {
	list, i := w.list, 0
	for i < len(w.moves) {
		j, end := i+1, w.t.End+1
		for j < len(w.moves) && (w.moves[j].Callback() || w.moves[j].Kind == loops.MoveFired) {
			j++
		}
		if j < len(w.moves) {
			end = w.moves[j].At
		}
		from := sort.Search(len(list), func(k int) bool { return list[k].At >= w.moves[i].At })
		to := from
		for to < len(list) && list[to].At < end {
			to++
		}
		visit(w.moves[i:j], list[from:to])
		list, i = list[to:], j
	}
}

// findHandle counts the ids under which the answers on a connection call back.
func (w *awaits) findHandle(moves []loops.Move, list []loops.Settled) {
	m := &moves[0]
	if m.Kind != loops.MoveAnswer || len(list) == 0 {
		return
	}
	w.handles[handle{m.Conn, list[0].Exec}]++
	w.handles[handle{m.Conn, 0}]++
}

// byHandle reports whether a promise was resolved under the id under which answers on a connection call back again
// and again.
func (w *awaits) byHandle(a *loops.Settled, conn int32) bool {
	n := w.handles[handle{conn, a.Exec}]
	return a.Exec != 0 && n > 1 && 2*n > w.handles[handle{conn, 0}]
}

// turn notes which waiters continue in a turn, and which requests are answered in it.
func (w *awaits) turn(moves []loops.Move, list []loops.Settled) {
	m := &moves[0]
	who := make([]*waiter, len(list))
	for k := range list {
		who[k] = w.goesOn(&list[k], m)
	}
	if m.Kind == loops.MoveAnswer {
		w.answers(m, list, who)
	}
	w.noteSpans(moves, list, who)
}

// goesOn is the waiter for which a promise was resolved; nil if it is not known.
func (w *awaits) goesOn(a *loops.Settled, m *loops.Move) *waiter {
	if a.Waiter == 0 || a.Waiter == nothing {
		return nil
	}
	x := w.now[a.Waiter]
	if x == nil || !w.served(x.last, a.At) {
		x = &waiter{id: a.Waiter, since: a.At, of: timeline.None}
		w.now[a.Waiter] = x
		w.waiters = append(w.waiters, x)
	}
	x.went, x.last = append(x.went, a.At), a.At
	if !w.byHandle(a, m.Conn) {
		x.since = min(x.since, w.asked(a.Exec, a.At))
	}
	return x
}

// before is when a waiter last continued before a time; NoTime if it is not known to have continued.
func (x *waiter) before(at recording.Time) recording.Time {
	k := sort.Search(len(x.went), func(k int) bool { return x.went[k] >= at })
	if k == 0 {
		return recording.NoTime
	}
	return x.went[k-1]
}

// asked is when the turn began in which an id was given out; the time at if that is not known.
func (w *awaits) asked(id int64, at recording.Time) recording.Time {
	if begin := w.turns.of(id); begin != timeline.None {
		return w.moves[begin].At
	}
	return at
}

// own lists the promises that were resolved by the callback of the answer that was read: under the id of its
// connection, or under an id that was given out since.
func (w *awaits) own(m *loops.Move, list []loops.Settled) (own []int) {
	for k := range list {
		if w.byHandle(&list[k], m.Conn) {
			own = append(own, k)
		}
	}
	if len(own) > 0 {
		return own
	}
	for k := range list {
		if list[k].Exec > m.Counter {
			own = append(own, k)
		}
	}
	return own
}

// answers notes which waiters waited for the answers that were read.
func (w *awaits) answers(m *loops.Move, list []loops.Settled, who []*waiter) {
	own, ended := w.own(m, list), w.ended(m)
	if w.conns[m.Conn].shared {
		own = slices.DeleteFunc(own, func(k int) bool { return list[k].Exec != list[own[0]].Exec })
		if len(own) == len(ended) {
			for k, id := range ended {
				w.waits(who[own[k]], id)
			}
		}
		return
	}
	var sole *waiter
	for _, k := range own {
		if who[k] != nil && sole != nil && who[k] != sole {
			return
		}
		if who[k] != nil {
			sole = who[k]
		}
	}
	for _, id := range ended {
		w.waits(sole, id)
	}
}

// ended lists the calls whose last byte a move read.
func (w *awaits) ended(m *loops.Move) (ended []timeline.CallID) {
	c := w.conns[m.Conn]
	for c.answered < len(c.calls) && w.t.Calls[c.calls[c.answered]].End <= m.At {
		if id := c.calls[c.answered]; w.t.Calls[id].End == m.At && !w.t.Calls[id].Cut {
			ended = append(ended, id)
		}
		c.answered++
	}
	return ended
}

// waits notes that a waiter waited for a call.
func (w *awaits) waits(x *waiter, id timeline.CallID) {
	if x != nil {
		x.calls = append(x.calls, id)
		x.since = min(x.since, w.t.Calls[id].SendFrom)
	}
}
