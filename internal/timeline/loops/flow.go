package loops

import "github.com/getdwell/dwell/recording"

// flow is a source of moves that come in order of time.
type flow struct {
	many int
	at   func(n int) recording.Time
	add  func(n int)
}

// under is a flow that is being merged.
type under struct {
	*flow
	next  int // the index of its next move
	time  recording.Time
	place int // if two flows have a move at the same time, the lower place goes first
}

// merged adds the moves of all flows in order of time: those of the given connections, each from its beginning on,
// and those of the other flows. Connections that have not begun, and those that are done, hold no memory.
func merged(others []flow, conns int, begins func(i int) recording.Time, of func(i int) []flow) {
	var all heap
	for i, f := range others {
		all.join(f, conns*perConn+i)
	}
	for i := 0; i < conns || len(all) > 0; {
		if i < conns && (len(all) == 0 || begins(i) <= all[0].time) {
			for k, f := range of(i) {
				all.join(f, i*perConn+k)
			}
			i++
			continue
		}
		first := &all[0]
		first.add(first.next)
		if first.next++; first.next < first.many {
			first.time = first.at(first.next)
		} else {
			all[0] = all[len(all)-1]
			all[len(all)-1] = under{}
			all = all[:len(all)-1]
		}
		all.sink()
	}
}

// perConn is how many flows a connection has at most.
const perConn = 3

// heap is a binary heap of flows, the earliest in front: each comes before the two at twice its place.
type heap []under

func (h heap) before(a, b int) bool {
	return h[a].time < h[b].time || h[a].time == h[b].time && h[a].place < h[b].place
}

// join adds a flow, if it has any moves.
func (h *heap) join(f flow, place int) {
	if f.many == 0 {
		return
	}
	*h = append(*h, under{flow: &f, time: f.at(0), place: place})
	for k := len(*h) - 1; k > 0 && h.before(k, (k-1)/2); k = (k - 1) / 2 {
		(*h)[k], (*h)[(k-1)/2] = (*h)[(k-1)/2], (*h)[k]
	}
}

// sink moves the flow in front down to its place.
func (h heap) sink() {
	for k := 0; ; {
		first := k
		for child := 2*k + 1; child < min(len(h), 2*k+3); child++ {
			if h.before(child, first) {
				first = child
			}
		}
		if first == k {
			return
		}
		h[k], h[first] = h[first], h[k]
		k = first
	}
}
