package handoffs

import (
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// findLingering notes the sleeps in which strands lingered where none works for another's
// request.
func (h *jobFinder) findLingering() {
	for i := range h.f.Threads {
		s := timeline.StrandID(i)
		if len(h.o[s]) == 0 || h.t.Strands[i].Loop {
			continue
		}
		for _, st := range h.f.Threads[i].Steps {
			if h.lingers(s, st.Off, recording.NoTime) {
				h.t.Linger(st.Off)
			}
		}
	}
}

// lingers reports a poll with a time limit that a strand slept in right after it had answered
// a request: it waits whether the next one comes on that connection soon, as Puma's threads do
// for a fifth of a second, and works for nobody. Who is sent for meanwhile waits in a queue.
func (h *jobFinder) lingers(s timeline.StrandID, off *timeline.Off, begun recording.Time) bool {
	if off == nil || off.Timed != 1 || !timeline.SleepsBy(off.Syscall) || timeline.OnNoFile(off) || off.Since == recording.NoTime {
		return false
	}
	answered := recording.NoTime
	if list := h.strands[s].answers; len(list) > 0 {
		if i := sort.Search(len(list), func(k int) bool { return list[k].at > off.Since }); i > 0 {
			answered = list[i-1].at
		}
	}
	own := h.o[s]
	if i := sort.Search(len(own), func(k int) bool { return own[k].To > off.Since }); i > 0 && h.t.Requests[own[i-1].Request].End == own[i-1].To {
		answered = max(answered, own[i-1].To)
	}
	if answered == recording.NoTime || begun > answered {
		return false // never, or it has been woken for other work since
	}
	if moved, ok := h.f.Threads[s].Moves.After(answered + 1); ok && moved.From <= off.Since {
		return false
	}
	calls := h.strands[s].calls // it may be connecting for the next one
	next := sort.Search(len(calls), func(k int) bool { return h.sent(calls[k]) > off.Since })
	return next == len(calls) || h.t.Calls[calls[next]].Start >= off.Woken
}
