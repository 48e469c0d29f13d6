package handoffs

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// place is where in its code a strand waits: the depth of its stack tells places of one
// strand apart. CPython keeps its own frames elsewhere: there the word that is waited
// on tells more.
type place struct {
	strand timeline.StrandID
	key    int64
}

const (
	fewIdle   = 4 // a place is known from so many waits on
	fewQueued = 2 // a stack
	rareShare = 8
	muchShare = 10 // and waited at much if it has one part in so many of the most
)

// idleAt is where a strand waits for work.
type idleAt struct {
	above int64              // at this stack pointer and those of shallower stacks; 0: not known
	too   []int64            // at these too
	word  int64              // CPython: on this word
	in    []timeline.StackID // CPython: in these stacks
}

// waitSite is what is known of the waits at a place.
type waitSite struct {
	key   int64            // stack pointer or word
	at    []recording.Time // when they began
	total recording.Duration
	odd   bool // a call was open meanwhile, or a stack speaks against it
}

func (p *waitSite) see(off *timeline.Off, end recording.Time, odd bool) {
	p.at = append(p.at, off.Since)
	p.total += end.Sub(off.Since)
	p.odd = p.odd || odd
}

// restPlaces are where strands wait for work.
type restPlaces struct{ *scene }

// find finds where each strand waits for work.
func (h *restPlaces) find() {
	for i := range h.f.Threads {
		switch h.f.Runtime(h.t.Strands[i].Process) {
		case recording.RuntimeGo, recording.RuntimeNode:
		case recording.RuntimePython:
			h.strands[i].idle.word, h.strands[i].idle.in = h.queueOf(timeline.StrandID(i)), h.queueStacks(timeline.StrandID(i))
		default:
			h.strands[i].idle = h.idlePlacesOf(timeline.StrandID(i))
		}
	}
}

// waitsOutside visits a strand's waits for other threads that lie outside of requests of
// its own; busy tells whether one of its calls was open.
func (h *restPlaces) waitsOutside(s timeline.StrandID, visit func(off *timeline.Off, end recording.Time, busy bool)) {
	calls, stints := h.strands[s].calls, h.o[s]
	for _, st := range h.f.Threads[s].Steps {
		if !timeline.OnFutex(st.Off) {
			continue
		}
		off, end := st.Off, st.Off.Woken
		if end == recording.NoTime {
			end = st.At
		}
		for len(stints) > 0 && stints[0].To <= off.Since {
			stints = stints[1:]
		}
		if len(stints) > 0 && stints[0].From < end {
			continue
		}
		for len(calls) > 0 && h.t.Calls[calls[0]].End <= off.Since {
			calls = calls[1:]
		}
		visit(off, end, len(calls) > 0 && h.sent(calls[0]) < end)
	}
}

// waitSites are the places at which a strand waits for other threads outside of its requests,
// that may be where it waits for work, and the longest time that it waits at any: where it did
// a few times, had no call under way, and nothing tells that it waits for something else.
func (h *restPlaces) waitSites(s timeline.StrandID, few int, keyOf func(*timeline.Off) (key int64, ok bool)) (list []*waitSite, most recording.Duration) {
	all := map[int64]*waitSite{}
	h.waitsOutside(s, func(off *timeline.Off, end recording.Time, busy bool) {
		if key, ok := keyOf(off); ok {
			p := lists.Entry(all, key)
			p.key = key
			p.see(off, end, busy || off.Owner != recording.NoThread || h.purposeOf(s, off) > forWork)
		}
	})
	for _, p := range all {
		if !p.odd && len(p.at) >= few {
			list = append(list, p)
			most = max(most, p.total)
		}
	}
	slices.SortFunc(list, func(a, b *waitSite) int { return cmp.Compare(b.key, a.key) })
	return list, most
}

// idlePlacesOf finds where a strand waits for work: at the shallowest place of those
// where it waits much; and at places that took its turn, since code that is compiled
// anew has other stacks.
func (h *restPlaces) idlePlacesOf(s timeline.StrandID) idleAt {
	list, most := h.waitSites(s, fewIdle, func(off *timeline.Off) (int64, bool) { return off.SP, true })
	var idle idleAt
	var waits []recording.Time // at the places found, in order
	for _, p := range list {
		switch {
		case idle.above == 0 && p.total*muchShare >= most:
			idle.above = p.key
		case idle.above == 0 || !p.elsewhen(waits):
			continue
		default:
			idle.too = append(idle.too, p.key)
		}
		waits = append(waits, p.at...)
		slices.Sort(waits)
	}
	return idle
}

// elsewhen reports that hardly any of the given waits lie between the place's own.
func (p *waitSite) elsewhen(waits []recording.Time) bool {
	last := len(p.at) - 1
	return (timeline.CountUpTo(waits, p.at[last])-timeline.CountUpTo(waits, p.at[0]))*rareShare <= len(p.at)
}

// queueOf finds the word at which a strand of CPython waits for work: the one where it
// waits most, with no time limit, of those where it waits for no mutex.
func (h *restPlaces) queueOf(s timeline.StrandID) (word int64) {
	list, most := h.waitSites(s, fewIdle, func(off *timeline.Off) (int64, bool) { return off.Arg, off.Timed != 1 })
	for _, p := range list {
		if p.total == most {
			word = p.key
		}
	}
	return word
}

// queueStacks finds the stacks in which a strand of CPython waits for work: the shallowest of
// those in which it waits much. A queue that is written in Python makes a new lock for each
// wait, so words do not tell.
func (h *restPlaces) queueStacks(s timeline.StrandID) (idle []timeline.StackID) {
	list, most := h.waitSites(s, fewQueued, func(off *timeline.Off) (int64, bool) {
		id := h.t.WaitAt(s, off.Since)
		if id == timeline.None || h.t.Waits[id].Cause != timeline.CauseCondition {
			return timeline.None, false
		}
		return int64(h.t.Waits[id].Stack), h.t.Waits[id].Stack != timeline.None
	})
	least := math.MaxInt
	for _, p := range list {
		id := timeline.StackID(p.key)
		depth := depthOf(h.t, id)
		if p.total*muchShare < most || depth > least {
			continue
		}
		if depth < least {
			idle, least = nil, depth
		}
		idle = append(idle, id)
	}
	return idle
}

// depthOf is of how many frames a stack is.
func depthOf(t *timeline.Timeline, id timeline.StackID) (n int) {
	for ; id != timeline.None; id = t.Stacks[id].Caller {
		n++
	}
	return n
}

// purpose is what a strand slept for, as far as is known of that sleep alone.
type purpose int8

const (
	unknown   purpose = iota
	forWork           // for work
	forResult         // for what another strand was asked for
	forOther          // for something else, such as a lock
)

// purposeOf tells what a strand slept for.
func (h *scene) purposeOf(s timeline.StrandID, off *timeline.Off) purpose {
	id := h.waitOf(s, off)
	if id == timeline.None {
		return unknown
	}
	w := &h.t.Waits[id]
	switch {
	case w.Rule == timeline.RuleIdle:
		return forWork
	case w.Cause != timeline.CauseCondition && w.Cause != timeline.CauseUnknown:
		return forOther
	}
	for _, what := range []string{"-future", "-join", "-barrier", "-event"} {
		if strings.HasSuffix(w.Rule, what) {
			return forResult
		}
	}
	return unknown
}

// mayDeliver reports a wake-up by which a result may have been delivered.
func (h *scene) mayDeliver(w wake) bool {
	p := h.purposeOf(w.of, w.off)
	return p == unknown || p == forResult
}

// forWork reports a wait for work.
func (h *scene) rests(s timeline.StrandID, off *timeline.Off) bool {
	if !timeline.OnFutex(off) {
		return off != nil && off.Syscall == "ppoll" && h.purposeOf(s, off) == forWork
	}
	if p := h.purposeOf(s, off); p != unknown {
		return p == forWork
	}
	idle := &h.strands[s].idle
	if len(idle.in) > 0 {
		if id := h.t.WaitAt(s, off.Since); id != timeline.None && slices.Contains(idle.in, h.t.Waits[id].Stack) {
			return true
		}
	}
	if idle.word != 0 {
		return off.Arg == idle.word
	}
	return idle.above != 0 && (off.SP >= idle.above || slices.Contains(idle.too, off.SP))
}

// ends counts, for a place, who ended the waits of requests there.
type ends struct {
	workers int // strands that serve no request of their own
	others  int // strands that do, or that never work for any
}

// findResults counts who ended the waits of requests at each place. Where only workers
// do, results are waited for; locks are handed on by the strands of other requests too.
func (h *jobFinder) findResults() {
	h.results = map[place]*ends{}
	for s := range h.strands {
		for _, w := range h.strands[s].woke {
			if h.ownAt(w) == timeline.None {
				continue
			}
			e := lists.Entry(h.results, h.placeOf(w))
			if h.owner(w.by, w.at) == timeline.None && len(h.strands[w.by].calls) > 0 {
				e.workers++
			} else {
				e.others++
			}
		}
	}
}

// placeOf is the place of a wait for a result.
func (h *jobFinder) placeOf(w wake) place {
	if h.f.Runtime(h.t.Strands[w.of].Process) == recording.RuntimePython {
		return place{timeline.None, w.off.Arg}
	}
	return place{w.of, w.off.SP}
}
