package timeline

import "github.com/getdwell/dwell/recording"

// leaveRequests ends the stints of a strand for requests that another strand answered:
// when it went to wait for something else to do.
func leaveRequests(t *Timeline, f *facts, work []served, list []stint) {
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
func answeredElsewhere(t *Timeline, f *facts, w *served, r RequestID) bool {
	s := t.Requests[r].Strand
	if w.writer == None || w.writer == s || int(s) >= len(f.threads) {
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
func leftAt(t *Timeline, s StrandID, own stint, next Time) Time {
	end := own.to
	if next != recording.NoTime {
		end = max(own.from, min(end, next))
	}
	left := end
	for _, iv := range clipped(t.Strands[s].Intervals, own.from, end) {
		if iv.State != StateSleeping || iv.Off == nil || iv.From < own.from {
			continue
		}
		id := t.WaitAt(s, iv.From)
		switch {
		case pollWait(iv.Off.Syscall), id != None && t.Waits[id].Rule == RuleIdle:
			return iv.From
		case onFutex(iv.Off) && (next != recording.NoTime || iv.To >= end):
			left = iv.From
		}
	}
	return left
}
