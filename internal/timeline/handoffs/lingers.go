package handoffs

import (
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// findLingering notes the sleeps in which strands lingered, in a recording in which no strand works for another's
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

// lingers reports a poll with a time limit in which a strand slept right after it had answered a request. The strand
// waits whether the next request comes on that connection soon, as Puma's threads do for a fifth of a second, and
// works for none. A request on another connection meanwhile waits in a queue.
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
		return false // it has answered none, or was woken for other work since
	}
	if moved, ok := h.f.Threads[s].Moves.After(answered + 1); ok && moved.From <= off.Since {
		return false
	}
	calls := h.strands[s].calls // it may be connecting for the next call
	next := sort.Search(len(calls), func(k int) bool { return h.sent(calls[k]) > off.Since })
	return next == len(calls) || h.t.Calls[calls[next]].Start >= off.Woken
}
