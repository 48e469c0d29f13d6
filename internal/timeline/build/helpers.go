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

// A loop of Node lets other threads work for it: those of the thread pool (files, zlib, crypto), and
// workers that it sends messages. What such a helper does for a request is a part of that, as far
// as its thread is known: it wakes the loop when it has done something, and what calls back first then
// is about that. What it did since it was woken for it, or since it had done something else, was for that.
// Where the loop was awake, and for all that calls back later, it is known by its port which worker sent a
// message, since that is one for each: whoever wakes the loop as its messages come. Which thread of the
// pool it was is not.

// helpers finds the parts of requests that the helpers of one loop are.
type helpers struct {
	t     *timeline.Timeline
	f     *facts.Facts
	loop  timeline.StrandID
	of    func(timeline.RequestID) []int32     // the turns of a request
	all   []loops.Turn                         //
	turns []*loops.Turn                        // of the loop that no socket began, in order of time
	free  map[timeline.StrandID]recording.Time // since when each has not worked for what is known to be done
	async map[timeline.StrandID]bool           // which have several things under way
	ports helperPorts
	parts [][]timeline.Handover // by request; nil: none has any
	calls [][]timeline.CallID   // of no request, by strand
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

// walk goes through the sleeps in which the loop waited for whatever comes, and through what calls back after
// each. What a helper ended one by is what calls back first then.
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

// eachWake visits the sleeps of the loop in which it waited for whatever comes, with what called back until it
// slept so again.
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

// rested is when a helper went to wait for something else to do, between two times; the later if it did not.
func (h *helpers) rested(helper timeline.StrandID, from, to recording.Time) recording.Time {
	for _, iv := range timeline.Clipped(h.t.Strands[helper].Intervals, from, to) {
		if iv.State == timeline.StateSleeping && iv.From >= from && iv.Off != nil && (timeline.OnFutex(iv.Off) && iv.Off.Owner == recording.NoThread || timeline.PollWait(iv.Off.Syscall)) {
			return iv.From
		}
	}
	return to
}

// waitsForAny reports a sleep of a loop in which it waits for whatever comes.
func waitsForAny(iv *timeline.Interval) bool {
	return iv.State == timeline.StateSleeping && iv.Off != nil && timeline.PollWait(iv.Off.Syscall)
}

// wokenBy is the thread of the loop's process that ended a sleep, None if none did.
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

// turnIn is the first turn since the loop ran again in which something was done for a request between
// two times: what called back first. Nil if there is none.
func (h *helpers) turnIn(ran, from, to recording.Time) *loops.Turn {
	i := sort.Search(len(h.turns), func(i int) bool { return h.turns[i].From >= ran })
	for ; i < len(h.turns) && h.turns[i].From < to; i++ {
		if h.turns[i].Last >= from {
			return h.turns[i]
		}
	}
	return nil
}

// did notes what a helper did until it was done, if the turn that this led to is known.
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
			return // it may have begun with this before
		}
		from = free
	}
	began := h.turnedTo(helper, from)
	if began >= done || began == asked.From {
		return // it was at work before that was asked for, and when it was done with that is not known
	}
	h.add(u.Request, timeline.Part{Strand: helper, From: began, To: done})
}

// add adds to the parts of a request what lies within that.
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

// several reports a helper that has several things under way: it waits for timers and peers itself.
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
func (h *helpers) before(u *loops.Turn) *loops.Turn {
	of := h.of(u.Request)
	k := sort.Search(len(of), func(k int) bool { return h.all[of[k]].From >= u.From })
	if k == 0 {
		return nil
	}
	return &h.all[of[k-1]]
}

// turnedTo is when a helper was woken for work, if it waited for that at a time; else that time.
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

// sortParts puts the parts of requests in order of time.
func sortParts(t *timeline.Timeline, parts [][]timeline.Handover) {
	for i := range parts {
		slices.SortStableFunc(parts[i], func(a, b timeline.Handover) int { return cmp.Compare(a.From, b.From) })
		slices.SortStableFunc(t.Requests[i].Parts, func(a, b timeline.Part) int { return cmp.Compare(a.From, b.From) })
	}
}
