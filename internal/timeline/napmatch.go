package timeline

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/recording"
)

// napPair is a nap that a wake may have ended, and the length that it would have had.
type napPair struct {
	nap    int32
	length int32 // ms; 0: one of several
}

// matching puts naps and wakes together.
type matching struct {
	*dozing
	lengths []int64
	pairs   [][]napPair // by wake
	first   [][]int32   // by wake: the naps that there were for it, if few
}

// mostPairs is how many naps a wake is looked for among.
const mostPairs = 64

// napRounds bounds how often what was found is used to find more.
const napRounds = 16

// fewNaps is among how many naps one wake of several things that were done is looked for.
const fewNaps = 8

// napLooks is how often lengths are looked for: those of few naps show among what others leave.
const napLooks = 2

// match joins naps and wakes: where a wake may have ended but one nap; or several, all of one
// length, of which the one goes first that began first. What is found out about one counts
// for the others.
func (d *dozing) match() *matching {
	m := &matching{dozing: d}
	for range napLooks {
		more := d.findLengths()
		m.lengths = slices.Compact(slices.Sorted(slices.Values(append(more, m.lengths...))))
		m.pair()
		for range napRounds {
			for m.round(m.single) {
			}
			if !m.round(m.oldest) {
				break
			}
		}
	}
	return m
}

// among lists the naps that a wake may have ended: by their length, or because it is known
// to be of the same request.
func (m *matching) among(i int32) []napPair {
	w := &m.wakes[i]
	var list, weak []napPair
	for _, length := range m.lengths {
		for k := m.last(Time((w.hi-length+1)*msec)) - 1; k >= 0 && int64(m.naps[k].to)/msec+length >= w.lo; k-- {
			n := &m.naps[k]
			if s := n.span(w); s.from > length || s.to < length || !m.fits(n, w) {
				continue
			}
			to := &list
			if n.among {
				to = &weak
			}
			if *to = addPair(*to, napPair{int32(k), int32(length)}); len(*to) > mostPairs {
				return nil
			}
		}
	}
	if len(list) == 0 {
		list = weak
	}
	if n := w.own; len(list) == 0 && n != None && m.fits(&m.naps[n], w) {
		return []napPair{{nap: n}}
	}
	slices.SortFunc(list, func(a, b napPair) int { return cmp.Compare(a.nap, b.nap) })
	return list
}

// addPair adds a pair to a list, once.
func addPair(list []napPair, p napPair) []napPair {
	for k := range list {
		if list[k].nap == p.nap {
			list[k].length = 0
			return list
		}
	}
	return append(list, p)
}

// pair lists for each wake that is of no nap yet which may have been ended by it.
func (m *matching) pair() {
	m.pairs, m.first = make([][]napPair, len(m.wakes)), make([][]int32, len(m.wakes))
	for i := range m.naps {
		m.naps[i].candidate = nil
	}
	for i := range m.wakes {
		if m.wakes[i].nap != None || m.beside(i) {
			continue
		}
		m.pairs[i], m.first[i] = m.among(int32(i)), nil
		for _, p := range m.pairs[i] {
			n := &m.naps[p.nap]
			n.candidate = append(n.candidate, napEnd{int32(i), p.length})
			if len(m.pairs[i]) <= fewNaps {
				m.first[i] = append(m.first[i], p.nap)
			}
		}
	}
}

// round goes through all wakes that are of no nap yet, and reports whether it found one.
func (m *matching) round(decide func(int32) bool) bool {
	found := false
	for i := range m.wakes {
		if m.wakes[i].nap == None {
			found = decide(int32(i)) || found
		}
	}
	return found
}

// left lists the naps that a wake may still have ended.
func (m *matching) left(i int32) []napPair {
	m.pairs[i] = slices.DeleteFunc(m.pairs[i], func(p napPair) bool { return !m.fits(&m.naps[p.nap], &m.wakes[i]) })
	return m.pairs[i]
}

// single joins a wake with the only nap that it may have ended.
func (m *matching) single(i int32) bool {
	list, n := m.left(i), m.neighbour(i)
	switch {
	case len(list) == 0 && n != None && m.wakes[i].call != None:
		m.wakes[i].nap = n // several things were done
		m.sets.link(m.wakes[i].call, m.naps[n].who)
	case len(list) == 1 && n == None:
		m.join(list[0].nap, i)
	default:
		return false
	}
	return true
}

// neighbour is the nap that the wake before or after one ended, in the same phase, if it may
// have been that one too; or None.
func (m *matching) neighbour(i int32) int32 {
	for _, k := range [2]int32{i - 1, i + 1} {
		if k < 0 || int(k) == len(m.wakes) || m.wakes[k].phase != m.wakes[i].phase || m.wakes[k].nap == None || m.wakes[k].call == None {
			continue
		}
		if n := m.wakes[k].nap; slices.Contains(m.first[i], n) && m.compatible(&m.naps[n], &m.wakes[i]) {
			return n
		}
	}
	return None
}

// oldest joins a wake with the first of several naps of one length, if the wake is the first
// that may have ended that one, and all that may have are of that length.
func (m *matching) oldest(i int32) bool {
	list := m.left(i)
	if len(list) == 0 {
		return false
	}
	length := list[0].length
	if length == 0 || slices.ContainsFunc(list, func(p napPair) bool { return p.length != length }) {
		return false
	}
	n := &m.naps[list[0].nap]
	for _, e := range n.candidate {
		if w := &m.wakes[e.wake]; w.nap == None && m.fits(n, w) && (e.wake < i || e.length != length) {
			return false
		}
	}
	if m.several(i) {
		return false
	}
	m.join(list[0].nap, i)
	return true
}

// uneven returns the requests of which a nap was never ended, or which woke from none, though
// all that may have been is known; and how many others napped, and woke each time.
func (m *matching) uneven() (odd map[RequestID]bool, even int) {
	m.markBusy()
	odd, unclear, woke := map[RequestID]bool{}, map[RequestID]bool{}, map[RequestID]bool{}
	for i := range m.naps {
		n := &m.naps[i]
		switch r := m.sets.known(n.who); {
		case r == None || n.among || n.from <= m.told || m.t.Requests[r].FirstWrite == recording.NoTime:
		case n.wake != None:
			woke[r] = true
		case m.maybe(n):
			unclear[r] = true
		default:
			odd[r] = true
		}
	}
	for i := range m.wakes {
		switch w := &m.wakes[i]; {
		case w.nap != None || w.call != None || w.at <= m.told || m.t.Requests[w.to].Cut:
		case len(m.pairs[i]) > 0:
			unclear[w.to] = true
		default:
			odd[w.to] = true
		}
	}
	for r := range woke {
		if !odd[r] && !unclear[r] {
			even++
		}
	}
	return odd, even
}

// markBusy marks the naps of requests that are known by now to have had calls under way.
func (m *matching) markBusy() {
	calls := map[RequestID][]CallID{}
	for _, id := range m.sets.calls {
		if r := m.sets.known(callRef(id)); r != None {
			calls[r] = append(calls[r], id)
		}
	}
	for i := range m.naps {
		n := &m.naps[i]
		n.among = n.among || n.wake == None && slices.ContainsFunc(calls[m.sets.known(n.who)], func(id CallID) bool {
			return m.t.Calls[id].SendFrom < n.to && m.t.Calls[id].End >= n.to
		})
	}
}

// maybe reports whether there is a wake that is of no nap, and may have ended one.
func (m *matching) maybe(n *nap) bool {
	return slices.ContainsFunc(n.candidate, func(e napEnd) bool { return m.wakes[e.wake].nap == None && m.fits(n, &m.wakes[e.wake]) })
}

// associateNaps associates the calls of a loop that runs timers which send calls, and on
// which nobody waits for a connection. It reports whether that is how it is.
func associateNaps(t *Timeline, in asyncInput) bool {
	in.loop.moves = whereAskedFor(t, in.loop.moves)
	if !timersSend(t, in.loop.moves) {
		return false
	}
	w := playTurns(t, in)
	defer w.sets.reset()
	before := make([]RequestID, len(w.sets.calls))
	for i, id := range w.sets.calls {
		before[i] = w.sets.known(callRef(id))
	}
	d := gatherNaps(t, in.loop.moves, w.sets)
	d.told = in.told
	uneven, even := d.match().uneven()
	w.proven, w.wrong = w.proven+even, w.wrong+len(uneven)
	if !w.confirmed() {
		return false
	}
	w.associate(func(id CallID, r RequestID) bool {
		i, _ := w.sets.find(id)
		return before[i] == r || !uneven[r]
	})
	return true
}

// timersSend reports whether timers send calls of which ids do not tell whose they are.
func timersSend(t *Timeline, moves []move) bool {
	timers, n, all := false, 0, 0
	for i := range moves {
		switch m := &moves[i]; m.kind {
		case moveBoundary:
			timers = m.trigger == 1
		case moveBlock, moveRead, moveBody, moveAnswer:
			timers = false
		case moveSend, moveConnect:
			if m.call != None && (m.kind == moveConnect || firstSend(t, m)) {
				all++
				if timers && t.Calls[m.call].Why == WhyNoAsync {
					n++
				}
			}
		}
	}
	return n > all/manySends
}
