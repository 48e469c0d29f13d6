package handoffs

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/recording"
)

// A loop that reads requests and has threads work on them hands each over as soon as it has read it: it wakes a
// worker before it waits for events again, reads another's, or writes an answer. Where that is so, the worker wakes
// the loop when it is done, and what the loop answers next is that request. A few exceptions are let pass.

// loopAct is a request that a loop had read, or answered.
type loopAct struct {
	at      recording.Time
	request timeline.RequestID
	read    bool
}

// loopActs lists those of each loop that is known by no contexts, in order of time.
func (h *jobFinder) loopActs() map[timeline.StrandID][]loopAct {
	of := map[timeline.StrandID][]loopAct{}
	for i := range h.t.Requests {
		r := &h.t.Requests[i]
		if r.Strand == timeline.None || !h.t.Strands[r.Strand].Loop || h.contexts != nil && h.contexts.loops[r.Strand] {
			continue
		}
		of[r.Strand] = append(of[r.Strand], loopAct{r.FirstRead, r.ID, true}, loopAct{r.End, r.ID, false})
	}
	for _, list := range of {
		slices.SortFunc(list, func(a, b loopAct) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.request, b.request)) })
	}
	return of
}

// tellByReads finds the jobs for which a loop woke a strand right after it had read a request.
func (h *jobFinder) tellByReads() {
	acts := h.loopActs()
	if len(acts) == 0 {
		return
	}
	read, counts := map[*job]timeline.RequestID{}, causality.Tallies[recording.ProcessID]{}
	h.eachJob(func(j *job) {
		if j.by == timeline.None || j.told {
			return
		}
		list := acts[j.by]
		i := sort.Search(len(list), func(k int) bool { return list[k].at > j.from })
		if i == 0 || !list[i-1].read || h.polled(j.by, list[i-1].at, j.from) {
			return
		}
		read[j] = list[i-1].request
		if next := h.answeredAfter(j, list[i:]); next != timeline.None {
			counts.Add(h.t.Strands[j.by].Process, next != read[j])
		}
	})
	for j, r := range read {
		if counts[h.t.Strands[j.by].Process].Rule(enoughTasks) {
			j.claim, j.root, j.told, j.read = r, j.from-recording.Time(submitLead), true, true
		}
	}
}

// answeredAfter is what a loop answered, of what it did since, once a worker that it had woken woke it: before it
// waited for events again. None: that is not known.
func (h *jobFinder) answeredAfter(j *job, since []loopAct) timeline.RequestID {
	woke := h.wokeLoop(j, j.to+1)
	if woke == recording.NoTime {
		return timeline.None
	}
	i := sort.Search(len(since), func(k int) bool { return since[k].at >= woke })
	i += max(0, slices.IndexFunc(since[i:], func(a loopAct) bool { return !a.read }))
	if i == len(since) || since[i].read || h.polled(j.by, woke, since[i].at) {
		return timeline.None
	}
	return since[i].request
}

// polled reports that a loop waited for events within a span.
func (h *jobFinder) polled(loop timeline.StrandID, from, to recording.Time) bool {
	steps := h.f.Threads[loop].Steps
	k := sort.Search(len(steps), func(k int) bool { return steps[k].At > from })
	for ; k < len(steps) && (steps[k].Off == nil || steps[k].Off.Since < to); k++ {
		if off := steps[k].Off; off != nil && timeline.PollWait(off.Syscall) && off.Since >= from {
			return true
		}
	}
	return false
}
