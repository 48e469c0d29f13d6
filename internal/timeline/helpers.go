package timeline

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/recording"
)

// A loop of Node lets other threads work for it: those of the thread pool (files, zlib, crypto), and
// workers that it sends messages. What such a helper does for a request is a part of that, as far
// as its thread is known: it wakes the loop when it has done something, and what calls back first then
// is about that. What it did since it was woken for it, or since it had done something else, was for that.
// Where the loop was awake, and for all that calls back later, it is known by its port which worker sent a
// message, since that is one for each: whoever wakes the loop as its messages come. Which thread of the
// pool it was is not.

// helpers finds the parts of requests that the helpers of one loop are.
type helpers struct {
	t     *Timeline
	f     *facts
	loop  StrandID
	of    [][]int32         // by request: its turns
	all   []turn            //
	turns []*turn           // of the loop that no socket began, in order of time
	free  map[StrandID]Time // since when each has not worked for what is known to be done
	async map[StrandID]bool // which have several things under way
	ports helperPorts
	parts [][]handed // by request
}

// addHelpers adds to the parts of the requests of Node's loops what other threads did for them.
func addHelpers(t *Timeline, f *facts, turns *loopTurns, parts [][]handed) [][]handed {
	back := calledBack(t, f)
	if len(back) == 0 {
		return parts
	}
	if parts == nil {
		parts = make([][]handed, len(t.Requests))
	}
	begun := map[StrandID][]*turn{}
	for i := range turns.all {
		if u := &turns.all[i]; u.how == resumeUnseen || u.how == resumeFired {
			loop := t.Requests[u.request].Strand
			begun[loop] = append(begun[loop], u)
		}
	}
	for s := range t.Strands {
		loop := StrandID(s)
		if len(back[loop]) == 0 {
			continue
		}
		h := helpers{t: t, f: f, loop: loop, of: turns.of, all: turns.all, turns: begun[loop], free: map[StrandID]Time{}, async: map[StrandID]bool{}, parts: parts}
		slices.SortStableFunc(h.turns, func(a, b *turn) int { return cmp.Compare(a.from, b.from) })
		h.walk(back[loop])
	}
	sortParts(t, parts)
	return parts
}

// callback is when something called back that a helper had done, or the last of a kind had.
type callback struct {
	at   Time
	port int64 // of a message; 0: of none
	over bool  // nothing of its kind calls back any longer
}

// calledBack lists by loop what the facts tell of helpers.
func calledBack(t *Timeline, f *facts) map[StrandID][]callback {
	back, vain := map[StrandID][]callback{}, inVain(f.boundaries)
	for i, b := range f.boundaries {
		switch b.What {
		case "done", "messages", "message":
		default:
			continue
		}
		if s := f.strand(b.Thread); s != None && t.Strands[s].Loop {
			back[s] = append(back[s], callback{b.at, b.Port, vain[i]})
		}
	}
	return back
}

// walk goes through the sleeps in which the loop waited for whatever comes, and through what calls back after
// each. What a helper ended one by is what calls back first then.
func (h *helpers) walk(back []callback) {
	h.findPorts(back)
	h.eachWake(back, func(iv *Interval, back []callback, until Time) {
		for k := range back {
			if back[k].over {
				continue
			}
			helper, done := h.ports.of(back[k].port), back[k].at
			if by := h.wokenBy(iv.Off); k == 0 && by != None && (helper == None || helper == by) {
				helper, done = by, iv.Off.Woken
			} else if helper != None {
				done = h.rested(helper, iv.To, done)
			}
			to := until
			if k+1 < len(back) {
				to = min(to, back[k+1].at)
			}
			if helper != None {
				h.did(helper, done, h.turnIn(iv.To, back[k].at, to))
			}
		}
	})
}

// eachWake visits the sleeps of the loop in which it waited for whatever comes, with what called back until it
// slept so again.
func (h *helpers) eachWake(back []callback, visit func(iv *Interval, back []callback, until Time)) {
	sleeps, last := h.t.Strands[h.loop].Intervals, (*Interval)(nil)
	upTo := func(until Time) {
		n := sort.Search(len(back), func(k int) bool { return back[k].at >= until })
		if last != nil && n > 0 {
			visit(last, back[:n], until)
		}
		back = back[n:]
	}
	for i := range sleeps {
		if waitsForAny(&sleeps[i]) {
			upTo(sleeps[i].From)
			last = &sleeps[i]
		}
	}
	upTo(h.t.End)
}

// findPorts finds by which port which worker sends its messages: it is who mostly woke the loop where the first
// that called back then was one of these.
func (h *helpers) findPorts(back []callback) {
	woke := map[int64]map[StrandID]int{}
	h.eachWake(back, func(iv *Interval, back []callback, _ Time) {
		by, port := h.wokenBy(iv.Off), back[0].port
		if by == None || port == 0 || back[0].over {
			return
		}
		if woke[port] == nil {
			woke[port] = map[StrandID]int{}
		}
		woke[port][by]++
	})
	h.ports = helperPorts{}
	for port, by := range woke {
		all := 0
		for _, n := range by {
			all += n
		}
		for s, n := range by {
			if n >= fewWakes && 2*n > all {
				h.ports[port] = s
			}
		}
	}
}

// fewWakes is how often a worker must have woken the loop with a message for its port to be known.
const fewWakes = 3

// helperPorts are the workers that send messages, by their ports.
type helperPorts map[int64]StrandID

func (p helperPorts) of(port int64) StrandID {
	if s, ok := p[port]; ok {
		return s
	}
	return None
}

// rested is when a helper went to wait for something else to do, between two times; the later if it did not.
func (h *helpers) rested(helper StrandID, from, to Time) Time {
	for _, iv := range clipped(h.t.Strands[helper].Intervals, from, to) {
		if iv.State == StateSleeping && iv.From >= from && iv.Off != nil && (onFutex(iv.Off) && iv.Off.Owner == recording.NoThread || pollWait(iv.Off.Syscall)) {
			return iv.From
		}
	}
	return to
}

// waitsForAny reports a sleep of a loop in which it waits for whatever comes.
func waitsForAny(iv *Interval) bool {
	return iv.State == StateSleeping && iv.Off != nil && pollWait(iv.Off.Syscall)
}

// wokenBy is the thread of the loop's process that ended a sleep, None if none did.
func (h *helpers) wokenBy(off *Off) StrandID {
	if off.WakerKind != recording.WakerThread || off.Woken == recording.NoTime {
		return None
	}
	by := h.f.strand(off.Waker)
	if by == h.loop || by != None && h.t.Strands[by].Process != h.t.Strands[h.loop].Process {
		return None
	}
	return by
}

// turnIn is the first turn since the loop ran again in which something was done for a request between
// two times: what called back first. Nil if there is none.
func (h *helpers) turnIn(ran, from, to Time) *turn {
	i := sort.Search(len(h.turns), func(i int) bool { return h.turns[i].from >= ran })
	for ; i < len(h.turns) && h.turns[i].from < to; i++ {
		if h.turns[i].last >= from {
			return h.turns[i]
		}
	}
	return nil
}

// did notes what a helper did until it was done, if the turn that this led to is known.
func (h *helpers) did(helper StrandID, done Time, u *turn) {
	free, worked := h.free[helper]
	h.free[helper] = done
	if u == nil {
		return
	}
	asked := h.before(u)
	if asked == nil || asked.from >= done {
		return
	}
	from := asked.from
	if worked && free > from {
		if h.several(helper) {
			return // it may have begun with this before
		}
		from = free
	}
	began := h.turnedTo(helper, from)
	if began >= done || began == asked.from {
		return // it was at work before that was asked for, and when it was done with that is not known
	}
	r := &h.t.Requests[u.request]
	if p := (Part{Strand: helper, From: max(began, r.FirstRead), To: min(done, r.End)}); p.From < p.To {
		h.parts[r.ID] = append(h.parts[r.ID], handed{Part: p, by: None})
		r.Parts = append(r.Parts, p)
	}
}

// several reports a helper that has several things under way: it waits for timers and peers itself.
func (h *helpers) several(helper StrandID) bool {
	async, known := h.async[helper]
	if known {
		return async
	}
	sleeps, itself := 0, 0
	ivs := h.t.Strands[helper].Intervals
	for i := range ivs {
		if waitsForAny(&ivs[i]) {
			sleeps++
			if w := h.t.WaitAt(helper, ivs[i].From); w != None && h.t.Waits[w].Rule == RuleChild {
				continue // of what it does one thing after the other, one is a program
			}
			if ivs[i].Off.WakerKind != recording.WakerThread {
				itself++
			}
		}
	}
	h.async[helper] = itself*mostItself > sleeps
	return h.async[helper]
}

// mostItself is for how many sleeps of a helper one may be ended by something else than another thread, if it does one
// thing at a time.
const mostItself = 20

// before is the turn of a request before another, nil if there is none.
func (h *helpers) before(u *turn) *turn {
	of := h.of[u.request]
	k := sort.Search(len(of), func(k int) bool { return h.all[of[k]].from >= u.from })
	if k == 0 {
		return nil
	}
	return &h.all[of[k-1]]
}

// turnedTo is when a helper was woken for work, if it waited for that at a time; else that time.
func (h *helpers) turnedTo(helper StrandID, at Time) Time {
	ivs := clipped(h.t.Strands[helper].Intervals, at, at+1)
	if len(ivs) == 0 || ivs[0].State != StateSleeping {
		return at
	}
	off := ivs[0].Off
	switch {
	case off == nil || off.Owner != recording.NoThread || !onFutex(off) && !pollWait(off.Syscall):
		return at // not for work
	case off.Woken != recording.NoTime:
		return max(at, off.Woken)
	}
	return max(at, ivs[0].To)
}

// sortParts puts the parts of requests in order of time.
func sortParts(t *Timeline, parts [][]handed) {
	for i := range parts {
		slices.SortStableFunc(parts[i], func(a, b handed) int { return cmp.Compare(a.From, b.From) })
		slices.SortStableFunc(t.Requests[i].Parts, func(a, b Part) int { return cmp.Compare(a.From, b.From) })
	}
}
