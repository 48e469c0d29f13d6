package build

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// A Node loop lets other threads work for it: those of the thread pool (files, zlib, crypto), and workers that it sends
// messages to. What such a helper does for a request is a part of the request, as far as the helper's thread is known.
// A helper wakes the loop when it has finished something, and the first callback after that is about it. What the
// helper did since it was woken for this, or since it finished something else, was for that callback's request. If the
// loop was already awake, and for later callbacks, the port of a message identifies the worker that sent it: each
// worker has a port of its own, and wakes the loop when its messages arrive. In these cases the thread of the pool is
// not known.

// helpers finds the parts of requests that one loop's helpers worked on.
type helpers struct {
	t     *timeline.Timeline
	f     *facts.Facts
	loop  timeline.StrandID
	of    func(timeline.RequestID) []int32     // the turns of a request
	all   []loops.Turn                         // of all requests
	turns []*loops.Turn                        // of the loop, that no socket began, in order of time
	free  map[timeline.StrandID]recording.Time // since when each helper has done no work that is known to be finished
	async map[timeline.StrandID]bool           // helpers that have several things under way
	ports helperPorts
	parts [][]timeline.Handover // by request; nil: none has any
	calls [][]timeline.CallID   // calls of no request, by strand
}

// addHelpers adds to the parts of the requests of Node's loops what other threads did for them.
func addHelpers(t *timeline.Timeline, f *facts.Facts, turns *loops.Turns, parts [][]timeline.Handover) [][]timeline.Handover {
	back := calledBack(t, f)
	if len(back) == 0 {
		return parts
	}
	begun := map[timeline.StrandID][]*loops.Turn{}
	for i := range turns.All {
		if u := &turns.All[i]; u.How == loops.ResumeUnseen || u.How == loops.ResumeFired {
			loop := t.Requests[u.Request].Strand
			begun[loop] = append(begun[loop], u)
		}
	}
	calls := lists.Grouped[timeline.CallID](len(t.Strands), len(t.Calls), func(i int) int {
		if c := &t.Calls[i]; c.Request == timeline.None {
			return int(c.Strand)
		}
		return timeline.None
	}).Lists()
	for s := range t.Strands {
		loop := timeline.StrandID(s)
		if len(back[loop]) == 0 {
			continue
		}
		h := helpers{t: t, f: f, loop: loop, of: turns.Of, all: turns.All, turns: begun[loop], free: map[timeline.StrandID]recording.Time{}, async: map[timeline.StrandID]bool{}, parts: parts, calls: calls}
		slices.SortStableFunc(h.turns, func(a, b *loops.Turn) int { return cmp.Compare(a.From, b.From) })
		h.walk(back[loop])
		parts = h.parts
	}
	sortParts(t, parts)
	return parts
}

// walk goes through the sleeps in which the loop waited for whatever arrives, and through the callbacks after each. If
// a helper ended such a sleep, the first callback after it is about what that helper finished.
func (h *helpers) walk(back []callback) {
	h.findPorts(back)
	h.eachWake(back, func(iv *timeline.Interval, back []callback, until recording.Time) {
		for k := range back {
			if back[k].Over {
				continue
			}
			helper, done := h.ports.of(back[k].Port), back[k].At
			if by := h.wokenBy(iv.Off); k == 0 && by != timeline.None && (helper == timeline.None || helper == by) {
				helper, done = by, iv.Off.Woken
			} else if helper != timeline.None {
				done = h.rested(helper, iv.To, done)
			}
			to := until
			if k+1 < len(back) {
				to = min(to, back[k+1].At)
			}
			switch u := h.turnIn(iv.To, back[k].At, to); {
			case helper == timeline.None:
			case back[k].Asked != recording.NoTime:
				h.didTask(helper, timeline.Stint{From: back[k].Asked, To: done}, u)
			default:
				h.did(helper, done, u)
			}
		}
	})
}

// eachWake visits the sleeps in which the loop waited for whatever arrives, each with the callbacks until the next such
// sleep.
func (h *helpers) eachWake(back []callback, visit func(iv *timeline.Interval, back []callback, until recording.Time)) {
	sleeps, last := h.t.Strands[h.loop].Intervals, (*timeline.Interval)(nil)
	upTo := func(until recording.Time) {
		n := sort.Search(len(back), func(k int) bool { return back[k].At >= until })
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

// rested returns when, between two times, a helper began to wait for other work; the later time if it did not.
func (h *helpers) rested(helper timeline.StrandID, from, to recording.Time) recording.Time {
	for _, iv := range timeline.Clipped(h.t.Strands[helper].Intervals, from, to) {
		if iv.State == timeline.StateSleeping && iv.From >= from && iv.Off != nil && (timeline.OnFutex(iv.Off) && iv.Off.Owner == recording.NoThread || timeline.PollWait(iv.Off.Syscall)) {
			return iv.From
		}
	}
	return to
}

// waitsForAny reports whether a loop waits for whatever arrives in a sleep.
func waitsForAny(iv *timeline.Interval) bool {
	return iv.State == timeline.StateSleeping && iv.Off != nil && timeline.PollWait(iv.Off.Syscall)
}

// wokenBy returns the thread of the loop's process that ended a sleep; None if none did.
func (h *helpers) wokenBy(off *timeline.Off) timeline.StrandID {
	if off.WakerKind != recording.WakerThread || off.Woken == recording.NoTime {
		return timeline.None
	}
	by := h.f.Strand(off.Waker)
	if by == h.loop || by != timeline.None && h.t.Strands[by].Process != h.t.Strands[h.loop].Process {
		return timeline.None
	}
	return by
}

// turnIn returns the first turn, since the loop ran again, in which it worked for a request between two times: this is
// the turn of the callback. It returns nil if there is none.
func (h *helpers) turnIn(ran, from, to recording.Time) *loops.Turn {
	i := sort.Search(len(h.turns), func(i int) bool { return h.turns[i].From >= ran })
	for ; i < len(h.turns) && h.turns[i].From < to; i++ {
		if h.turns[i].Last >= from {
			return h.turns[i]
		}
	}
	return nil
}

// did notes what a helper did until it was done, if the turn that resulted is known.
func (h *helpers) did(helper timeline.StrandID, done recording.Time, u *loops.Turn) {
	free, worked := h.free[helper]
	h.free[helper] = done
	if u == nil {
		return
	}
	asked := h.before(u)
	if asked == nil || asked.From >= done {
		return
	}
	from := asked.From
	if worked && free > from {
		if h.several(helper) {
			return // it may have begun this work before
		}
		from = free
	}
	began := h.turnedTo(helper, from)
	if began >= done || began == asked.From {
		return // it was busy before this was asked for, and when it finished that is not known
	}
	h.add(u.Request, timeline.Part{Strand: helper, From: began, To: done})
}

// add adds the piece of a part that lies within a request to the request's parts.
func (h *helpers) add(id timeline.RequestID, p timeline.Part) {
	r := &h.t.Requests[id]
	if p.From, p.To = max(p.From, r.FirstRead), min(p.To, r.End); p.From < p.To {
		if h.parts == nil {
			h.parts = make([][]timeline.Handover, len(h.t.Requests))
		}
		h.parts[id] = append(h.parts[id], timeline.Handover{Part: p, By: timeline.None})
		more := r.More()
		more.Parts = append(more.Parts, p)
	}
}

// several reports whether a helper has several things under way: it waits for timers and peers itself.
func (h *helpers) several(helper timeline.StrandID) bool {
	async, known := h.async[helper]
	if known {
		return async
	}
	sleeps, itself := 0, 0
	ivs := h.t.Strands[helper].Intervals
	for i := range ivs {
		if waitsForAny(&ivs[i]) {
			sleeps++
			if w := h.t.WaitAt(helper, ivs[i].From); w != timeline.None && h.t.Waits[w].Rule == timeline.RuleChild {
				continue // its tasks, done one at a time, may include a program
			}
			if ivs[i].Off.WakerKind != recording.WakerThread {
				itself++
			}
		}
	}
	h.async[helper] = itself*mostItself > sleeps
	return h.async[helper]
}

// mostItself: of a helper that does one thing at a time, at most one in this many sleeps is ended by something other
// than another thread.
const mostItself = 20

// before returns a request's turn before a given one; nil if there is none.
func (h *helpers) before(u *loops.Turn) *loops.Turn {
	of := h.of(u.Request)
	k := sort.Search(len(of), func(k int) bool { return h.all[of[k]].From >= u.From })
	if k == 0 {
		return nil
	}
	return &h.all[of[k-1]]
}

// turnedTo returns when a helper was woken for work, if it was waiting for work at a time; else that time.
func (h *helpers) turnedTo(helper timeline.StrandID, at recording.Time) recording.Time {
	ivs := timeline.Clipped(h.t.Strands[helper].Intervals, at, at+1)
	if len(ivs) == 0 || ivs[0].State != timeline.StateSleeping {
		return at
	}
	off := ivs[0].Off
	switch {
	case off == nil || off.Owner != recording.NoThread || !timeline.OnFutex(off) && !timeline.PollWait(off.Syscall):
		return at // not for work
	case off.Woken != recording.NoTime:
		return max(at, off.Woken)
	}
	return max(at, ivs[0].To)
}

// sortParts sorts the parts of requests by time.
func sortParts(t *timeline.Timeline, parts [][]timeline.Handover) {
	for i := range parts {
		slices.SortStableFunc(parts[i], func(a, b timeline.Handover) int { return cmp.Compare(a.From, b.From) })
		slices.SortStableFunc(t.Requests[i].Parts, func(a, b timeline.Part) int { return cmp.Compare(a.From, b.From) })
	}
}
