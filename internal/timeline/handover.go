package timeline

import (
	"github.com/getdwell/dwell/recording"
)

// HandedOn reports a sleep that another watched thread ended by a futex wake.
func HandedOn(off *Off) bool {
	return OnFutex(off) && off.Release == 1 && off.WakerKind == recording.WakerThread
}

// Handover is a Part with how it began.
type Handover struct {
	Part
	By  StrandID       // that handed it over, working for the same request; None: it was taken from a queue
	Put recording.Time // since when it lay in a queue where by had put it; NoTime: it was handed over at once
}

// Slept reports whether a strand slept in a span.
func Slept(t *Timeline, strand StrandID, from, to recording.Time) bool {
	for _, iv := range Clipped(t.Strands[strand].Intervals, from, to) {
		if iv.State == StateSleeping {
			return true
		}
	}
	return false
}

// OnFutex reports a sleep in which a thread waited for another thread.
func OnFutex(off *Off) bool {
	return off != nil && off.State == recording.OffSleep && FutexWait(off.Syscall)
}

// SleepCause tells why a strand slept in an interval.
func SleepCause(t *Timeline, s StrandID, iv Interval) (Cause, Quality) {
	if w := t.WaitAt(s, iv.From); w != None {
		x := &t.Waits[w]
		if x.Rule == RuleIdle { // the request it served is elsewhere
			return CauseUnknown, Inferred
		}
		return x.Cause, x.Quality
	}
	if off := iv.Off; off != nil && SleepsBy(off.Syscall) && off.Timed == 1 && off.WakerKind == recording.WakerInterrupt {
		return CauseSleep, Inferred
	}
	return CauseUnknown, Inferred
}
