package timeline

import (
	"github.com/getdwell/dwell/recording"
)

// HandedOn reports whether another watched thread ended the sleep with a futex wake.
func HandedOn(off *Off) bool {
	return OnFutex(off) && off.Release == 1 && off.WakerKind == recording.WakerThread
}

// Handover is a Part, and how it began.
type Handover struct {
	Part
	By  StrandID       // the strand that handed it over while it worked for the same request; None: it was taken from a queue
	Put recording.Time // since when it lay in a queue where By had put it; NoTime: it was handed over at once
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

// OnFutex reports whether the thread waited for another thread in this sleep.
func OnFutex(off *Off) bool {
	return off != nil && off.State == recording.OffSleep && FutexWait(off.Syscall)
}

// SleepCause returns why a strand slept in an interval.
func SleepCause(t *Timeline, s StrandID, iv Interval) (Cause, Quality) {
	if w := t.WaitAt(s, iv.From); w != None {
		x := &t.Waits[w]
		if x.Rule == RuleIdle { // the thread is idle: the request it served is elsewhere
			return CauseUnknown, Inferred
		}
		return x.Cause, x.Quality
	}
	if off := iv.Off; off != nil && SleepsBy(off.Syscall) && off.Timed == 1 && off.WakerKind == recording.WakerInterrupt {
		return CauseSleep, Inferred
	}
	return CauseUnknown, Inferred
}
