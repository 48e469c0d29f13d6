package build

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// leaveRequests ends the stints of a strand for requests that another strand answered: a stint ends when the strand
// began to wait for other work.
func leaveRequests(t *timeline.Timeline, f *facts.Facts, work []exchange.Request, list []timeline.Stint) {
	for k := range list {
		w := &work[list[k].Request]
		if !answeredElsewhere(t, f, w, list[k].Request) {
			continue
		}
		next := recording.NoTime
		if k+1 < len(list) {
			next = list[k+1].From
		}
		list[k].To = leftAt(t, t.Requests[list[k].Request].Strand, list[k], next)
		w.Left = list[k].To
	}
}

// answeredElsewhere reports whether one thread read a request and another thread answered it.
func answeredElsewhere(t *timeline.Timeline, f *facts.Facts, w *exchange.Request, r timeline.RequestID) bool {
	s := t.Requests[r].Strand
	if w.Writer == timeline.None || w.Writer == s || int(s) >= len(f.Threads) {
		return false
	}
	switch f.Runtime(t.Requests[r].Process) {
	case recording.RuntimeGo, recording.RuntimeNode:
		return false
	}
	return true
}

// leftAt returns when a strand had left a request, before it read the next one. That is when it began to wait for work,
// or for any of several files; otherwise, when it began its last wait for another thread before the next request.
func leftAt(t *timeline.Timeline, s timeline.StrandID, own timeline.Stint, next recording.Time) recording.Time {
	end := own.To
	if next != recording.NoTime {
		end = max(own.From, min(end, next))
	}
	left := end
	for _, iv := range timeline.Clipped(t.Strands[s].Intervals, own.From, end) {
		if iv.State != timeline.StateSleeping || iv.Off == nil || iv.From < own.From {
			continue
		}
		id := t.WaitAt(s, iv.From)
		switch {
		case timeline.PollWait(iv.Off.Syscall), id != timeline.None && t.Waits[id].Rule == timeline.RuleIdle:
			return iv.From
		case timeline.OnFutex(iv.Off) && (next != recording.NoTime || iv.To >= end):
			left = iv.From
		}
	}
	return left
}
