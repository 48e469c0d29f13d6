package build

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// leaveRequests ends the stints of a strand for requests that another strand answered:
// when it went to wait for something else to do.
func leaveRequests(t *timeline.Timeline, f *facts, work []served, list []stint) {
	for k := range list {
		w := &work[list[k].request]
		if !answeredElsewhere(t, f, w, list[k].request) {
			continue
		}
		next := recording.NoTime
		if k+1 < len(list) {
			next = list[k+1].from
		}
		list[k].to = leftAt(t, t.Requests[list[k].request].Strand, list[k], next)
		w.left = list[k].to
	}
}

// answeredElsewhere reports a request that one thread read and another answered.
func answeredElsewhere(t *timeline.Timeline, f *facts, w *served, r timeline.RequestID) bool {
	s := t.Requests[r].Strand
	if w.writer == timeline.None || w.writer == s || int(s) >= len(f.threads) {
		return false
	}
	switch f.runtime(t.Requests[r].Process) {
	case recording.RuntimeGo, recording.RuntimeNode:
		return false
	}
	return true
}

// leftAt is when a strand had left a request, before it read the next: when it waited
// for work, or for any of several files; else, before the last wait for another thread
// that came before the next request.
func leftAt(t *timeline.Timeline, s timeline.StrandID, own stint, next recording.Time) recording.Time {
	end := own.to
	if next != recording.NoTime {
		end = max(own.from, min(end, next))
	}
	left := end
	for _, iv := range timeline.Clipped(t.Strands[s].Intervals, own.from, end) {
		if iv.State != timeline.StateSleeping || iv.Off == nil || iv.From < own.from {
			continue
		}
		id := t.WaitAt(s, iv.From)
		switch {
		case timeline.PollWait(iv.Off.Syscall), id != timeline.None && t.Waits[id].Rule == timeline.RuleIdle:
			return iv.From
		case onFutex(iv.Off) && (next != recording.NoTime || iv.To >= end):
			left = iv.From
		}
	}
	return left
}
