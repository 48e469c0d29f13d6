package timeline

import (
	"testing"

	"github.com/getdwell/dwell/recording"
)

// A timed wait that an interrupt ended is a pause where a program waits for one thing at
// most; in epoll it is a loop's, and what came may have been a packet.
func TestOnlyWaitsForLittleAreSleep(t *testing.T) {
	tl := &Timeline{Strands: make([]Strand, 1)}
	for syscall, want := range map[string]Cause{"poll": CauseSleep, "select": CauseSleep, "epoll_wait": CauseUnknown, "epoll_pwait2": CauseUnknown} {
		iv := Interval{From: 1, To: 9, State: StateSleeping, Off: newOff(&recording.Off{Syscall: syscall, Timed: 1, WakerKind: recording.WakerInterrupt})}
		if got, _ := tl.sleepCause(0, iv); got != want {
			t.Errorf("%s: %s, want %s", syscall, got, want)
		}
	}
}
