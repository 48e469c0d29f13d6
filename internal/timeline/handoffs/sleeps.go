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

// purpose is what a strand slept for, as far as that sleep alone shows it.
type purpose int8

const (
	unknown   purpose = iota
	forWork           // for work
	forResult         // for what another strand was asked for
	forOther          // for something else, such as a lock
)

// waitOf is the Wait that a sleep belongs to, or None. The Wait begins later than the sleep if the strand was seen to
// do something since.
func (h *activity) waitOf(s timeline.StrandID, off *timeline.Off) timeline.WaitID {
	id := h.t.WaitAt(s, off.Since)
	if id == timeline.None && off.Woken != recording.NoTime {
		id = h.t.WaitAt(s, off.Woken-1)
	}
	return id
}

// purposeOf returns what a strand slept for.
func (h *activity) purposeOf(s timeline.StrandID, off *timeline.Off) purpose {
	id := h.waitOf(s, off)
	if id == timeline.None {
		return unknown
	}
	w := &h.t.Waits[id]
	switch {
	case w.Rule == timeline.RuleIdle:
		return forWork
	case w.Cause != timeline.CauseCondition && w.Cause != timeline.CauseUnknown || timeline.ForRoom(w.Rule):
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
func (h *activity) mayDeliver(w wake) bool {
	p := h.purposeOf(w.of, w.off)
	return p == unknown || p == forResult
}

// rests reports a wait for work: one that is known to be that, or one at a place where the strand waits for work.
func (h *activity) rests(s timeline.StrandID, off *timeline.Off) bool {
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

const (
	fewIdle   = 4 // so many waits are needed to know a place
	fewQueued = 2 // or a stack
	rareShare = 8
	muchShare = 10 // a strand waits much at a place if that has at least one part in so many of the longest total
)

// idleAt is where a strand waits for work.
type idleAt struct {
	above int64              // at this stack pointer and those of shallower stacks; 0: not known
	too   []int64            // at these stack pointers too
	word  int64              // CPython: on this word
	in    []timeline.StackID // CPython: in these stacks
}

// waitSite is what is known of the waits at a place.
type waitSite struct {
	key   int64            // stack pointer or word
	at    []recording.Time // when they began
	total recording.Duration
	odd   bool // a call was open meanwhile, or a stack contradicts it
}

// idlePlaces finds where strands wait for work.
type idlePlaces struct{ *activity }

// find finds where each strand waits for work.
func (h *idlePlaces) find() {
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

// waitSites returns the places at which a strand may wait for work, and the longest total time that it waits at any
// of them. There the strand waits for other threads outside of its requests, at least few times, with no call under
// way, and nothing shows that it waits for something else.
func (h *idlePlaces) waitSites(s timeline.StrandID, few int, keyOf func(*timeline.Off) (key int64, ok bool)) (list []*waitSite, most recording.Duration) {
	all, calls, stints := map[int64]*waitSite{}, h.strands[s].calls, h.o[s]
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
		for len(calls) > 0 && h.t.Calls[calls[0]].End <= off.Since {
			calls = calls[1:]
		}
		key, ok := keyOf(off)
		if !ok || len(stints) > 0 && stints[0].From < end {
			continue
		}
		p := lists.Entry(all, key)
		p.key, p.at, p.total = key, append(p.at, off.Since), p.total+end.Sub(off.Since)
		busy := len(calls) > 0 && h.sent(calls[0]) < end
		p.odd = p.odd || busy || off.Owner != recording.NoThread || h.purposeOf(s, off) > forWork
	}
	for _, p := range all {
		if !p.odd && len(p.at) >= few {
			list = append(list, p)
			most = max(most, p.total)
		}
	}
	slices.SortFunc(list, func(a, b *waitSite) int { return cmp.Compare(b.key, a.key) })
	return list, most
}

// idlePlacesOf finds where a strand waits for work: at the shallowest of the places where it waits much. Other places
// count too if they replaced that one, since code that is compiled anew has other stacks.
func (h *idlePlaces) idlePlacesOf(s timeline.StrandID) idleAt {
	list, most := h.waitSites(s, fewIdle, func(off *timeline.Off) (int64, bool) { return off.SP, true })
	var idle idleAt
	var waits []recording.Time // waits at the places found, in order
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

// elsewhen reports whether hardly any of the given waits lie between the place's own.
func (p *waitSite) elsewhen(waits []recording.Time) bool {
	last := len(p.at) - 1
	return (timeline.CountUpTo(waits, p.at[last])-timeline.CountUpTo(waits, p.at[0]))*rareShare <= len(p.at)
}

// queueOf finds the word at which a strand of CPython waits for work: the one where it waits longest without a time
// limit, if that is no mutex.
func (h *idlePlaces) queueOf(s timeline.StrandID) (word int64) {
	list, most := h.waitSites(s, fewIdle, func(off *timeline.Off) (int64, bool) { return off.Arg, off.Timed != 1 })
	for _, p := range list {
		if p.total == most {
			word = p.key
		}
	}
	return word
}

// queueStacks finds the stacks in which a strand of CPython waits for work: the shallowest of those in which it waits
// much. A queue written in Python creates a new lock for each wait, so words do not identify it.
func (h *idlePlaces) queueStacks(s timeline.StrandID) (idle []timeline.StackID) {
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

// depthOf is the number of frames of a stack.
func depthOf(t *timeline.Timeline, id timeline.StackID) (n int) {
	for ; id != timeline.None; id = t.Stacks[id].Caller {
		n++
	}
	return n
}
