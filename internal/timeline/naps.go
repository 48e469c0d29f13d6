package timeline

import (
	"slices"

	"github.com/getdwell/dwell/recording"
)

// A request that waits for a timer does nothing, and what it does when that has run out is
// done by a callback whose ids lead to nobody: `await sleep(5)` goes on as a promise. But
// Node runs timers at one place of its loop, a timer falls due a whole number of
// milliseconds after it was set, and those of one length run out in the order in which they
// were set. A service uses few lengths. So naps and wakes are put together by when which
// lengths fit (naplengths.go, napmatch.go); whether that is right, the responses tell.

// nap is a span in which nothing was seen of a request, nor of a call of its own.
type nap struct {
	who       ref // the request, or the call whose answer it had got
	from, to  Time
	until     Time // it was over by then
	among     bool // other calls of the request were under way: it may only have waited for those
	wake      int32
	candidate []napEnd // wakes that may have ended it, in order
}

// napEnd is a wake that may have ended a nap, and the length that it would have had.
type napEnd struct {
	wake   int32
	length int32 // ms; 0: one of several
}

// awakening is what was done by a callback that a timer may have begun.
type awakening struct {
	at     Time
	lo, hi int64 // ms between which that timer fell due
	phase  int32 // those of one phase ran without anything between them
	call   CallID
	to     RequestID // that was answered, if it is no call
	own    int32     // the nap that is known to be of the same request
	nap    int32     // that it ended
}

// dozing gathers the naps and wakes of one loop.
type dozing struct {
	t      *Timeline
	sets   *chains
	naps   []nap
	wakes  []awakening
	flying map[ref]int
	open   map[ref]int32 // by whose it is: the nap that is not known to be over
	turn   asyncTurn
	since  Time // the turn that runs began
	acted  bool
	phase  int32
	clock  timerClock
	told   Time // up to here it is told which timers fired
}

// timerClock follows when a loop ran its timers.
type timerClock struct {
	ran   Time  // all that were due by then have run
	slept int64 // ms of the timer that it slept for, if nothing was done since
	lo    int64
	phase bool // timers run
}

const msec = 1_000_000

// note follows a move.
func (k *timerClock) note(m *move) {
	switch m.kind {
	case moveBlock:
		before := *k
		*k = timerClock{ran: m.at}
		if m.exec == 1 {
			k.slept = before.sleptFor(m)
		}
	case moveBoundary:
		k.phase = m.trigger == 1
		if k.phase {
			k.lo, _ = k.between(m.at)
			k.ran, k.slept = m.at, 0
		}
	case moveRead, moveBody, moveAnswer, moveForeign:
		k.slept, k.phase = 0, false
	}
}

// due returns between which milliseconds a timer fell due whose callback runs at a time.
func (k *timerClock) due(at Time) (lo, hi int64) {
	if k.phase {
		return k.lo, int64(at) / msec
	}
	return k.between(at)
}

func (k *timerClock) between(at Time) (lo, hi int64) {
	return max(int64(k.ran)/msec, k.slept), int64(at) / msec
}

// soon is how long before it sleeps a loop looks at its clock.
const soon = msec / 5

// sleptFor returns when the timer falls due that a loop was woken for: it sleeps for whole
// milliseconds, counted from the one that its clock showed when it had run its timers.
func (k *timerClock) sleptFor(m *move) int64 {
	late := int64(m.at) % msec
	due := (int64(m.ready) - late) / msec
	if k.phase || late < soon {
		due--
	}
	return due
}

// gatherNaps lists the naps and wakes of a loop, as far as sets tell whose calls are.
func gatherNaps(t *Timeline, moves []move, sets *chains) *dozing {
	d := &dozing{
		t: t, sets: sets, flying: map[ref]int{}, open: map[ref]int32{}, turn: asyncTurn{of: nobody},
	}
	for i := range moves {
		d.clock.note(&moves[i])
		d.step(&moves[i])
	}
	return d
}

// whose is the request that a ref stands for, if that is known, or else the first call of
// its set.
func (d *dozing) whose(r ref) ref {
	if id := d.sets.known(r); id != None {
		return requestRef(id)
	}
	if c, ok := r.call(); ok {
		return callRef(d.sets.calls[d.sets.root(d.sets.add(c))])
	}
	return r
}

func (d *dozing) step(m *move) {
	switch m.kind {
	case moveRead, moveBody:
		d.begin(m.whose(), m.at)
	case moveAnswer:
		d.begin(callRef(m.call), m.at)
		if d.t.Calls[m.call].End == m.at {
			d.flying[d.whose(callRef(m.call))]--
		}
	case moveConnect:
		if m.call != None {
			d.acts(m, callRef(m.call))
			d.flying[d.whose(callRef(m.call))]++
		}
	case moveSend:
		if firstSend(d.t, m) {
			d.acts(m, callRef(m.call))
			d.flying[d.whose(callRef(m.call))]++
		}
	case moveRespond:
		if d.t.Requests[m.request].FirstWrite == m.at {
			d.acts(m, requestRef(m.request))
		}
	case moveFired:
		d.fires(m)
	case moveBlock, moveBoundary, moveUntold, moveForeign:
		d.begin(nobody, m.at)
	}
}

// firstSend reports a move that is the first that is seen of a call.
func firstSend(t *Timeline, m *move) bool {
	c := &t.Calls[m.call]
	return c.SendFrom == m.at && !(c.New && c.ConnectFrom != recording.NoTime)
}

// begin ends the turn that runs: if its request did nothing in it, it naps.
func (d *dozing) begin(next ref, at Time) {
	if d.turn.of != nobody && !d.acted {
		who := d.whose(d.turn.of)
		if r, ok := who.request(); !ok || d.t.Requests[r].FirstWrite == recording.NoTime || d.t.Requests[r].FirstWrite > at {
			d.over(who, at)
			d.open[who] = int32(len(d.naps))
			d.naps = append(d.naps, nap{who: d.turn.of, from: d.since, to: at, until: d.end(who), among: d.flying[who] > 0, wake: None})
		}
	}
	d.turn, d.since, d.acted = asyncTurn{of: next}, at, false
	d.phase++
}

// end is when a nap is over at the latest.
func (d *dozing) end(who ref) Time {
	if r, ok := who.request(); ok && d.t.Requests[r].FirstWrite != recording.NoTime {
		return d.t.Requests[r].FirstWrite
	}
	return d.t.End
}

// over notes that something was seen of whoever naps.
func (d *dozing) over(who ref, at Time) {
	if n, ok := d.open[who]; ok {
		d.naps[n].until = min(d.naps[n].until, at)
		delete(d.open, who)
	}
}

// acts notes what was done: in the turn that runs, or else by who woke.
func (d *dozing) acts(m *move, what ref) {
	who := d.whose(what)
	if by := d.turn.of; by != nobody && d.whose(by) == who {
		d.acted = true
		d.over(who, m.at)
		return
	}
	if d.turn.of == nobody && !d.same(who) {
		w := awakening{at: m.at, call: m.call, to: m.request, own: None, nap: None, phase: d.phase}
		if n, ok := d.open[who]; ok {
			w.own = n
		}
		w.lo, w.hi = d.clock.due(m.at)
		d.wakes = append(d.wakes, w)
	}
	d.over(who, m.at)
}

// same reports whether the wake before was that of who acts, in the same phase.
func (d *dozing) same(who ref) bool {
	if len(d.wakes) == 0 {
		return false
	}
	w := &d.wakes[len(d.wakes)-1]
	return w.phase == d.phase && w.call != None && d.whose(callRef(w.call)) == who
}

// beside reports whether what the wake before did, in the same phase, is known to be somebody's.
func (d *dozing) beside(i int) bool {
	return i > 0 && d.wakes[i-1].phase == d.wakes[i].phase && d.wakes[i-1].nap != None
}

// request is whose a wake is known to be, or None.
func (d *dozing) request(w *awakening) RequestID {
	if w.call != None {
		return d.sets.known(callRef(w.call))
	}
	return w.to
}

// join says that a wake ended a nap.
func (d *dozing) join(n, w int32) {
	d.naps[n].wake, d.wakes[w].nap = w, n
	if c := d.wakes[w].call; c != None {
		d.sets.link(c, d.naps[n].who)
	} else if c, ok := d.naps[n].who.call(); ok {
		d.sets.link(c, requestRef(d.wakes[w].to))
	}
}

// fits reports whether a nap may have been ended by a wake, as far as is known whose they are.
func (d *dozing) fits(n *nap, w *awakening) bool {
	return n.wake == None && n.to <= w.at && n.until >= w.at && d.compatible(n, w)
}

// compatible reports whether nothing is known against a nap and a wake being of one request.
func (d *dozing) compatible(n *nap, w *awakening) bool {
	by, of := d.sets.known(n.who), d.request(w)
	if by != None && of != None {
		return by == of
	}
	if by == None {
		by = of
	}
	return by == None || w.at <= d.t.Requests[by].End && d.t.Requests[by].FirstRead <= n.from
}

// last returns the place after the last nap that began by a time.
func (d *dozing) last(at Time) int {
	i, _ := slices.BinarySearchFunc(d.naps, at, func(n nap, at Time) int {
		if n.from <= at {
			return -1
		}
		return 1
	})
	return i
}
