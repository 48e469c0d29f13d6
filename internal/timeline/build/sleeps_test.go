package build

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// A timed wait that an interrupt ended is a pause if a program waits for at most one thing. In epoll it belongs to a
// loop, and what came may have been a packet.
func TestOnlyWaitsForLittleAreSleep(t *testing.T) {
	tl := &timeline.Timeline{Strands: make([]timeline.Strand, 1)}
	for syscall, want := range map[string]timeline.Cause{"poll": timeline.CauseSleep, "select": timeline.CauseSleep, "epoll_wait": timeline.CauseUnknown, "epoll_pwait2": timeline.CauseUnknown} {
		iv := timeline.Interval{From: 1, To: 9, State: timeline.StateSleeping, Off: facts.NewOff(&recording.Off{Syscall: syscall, Timed: 1, WakerKind: recording.WakerInterrupt})}
		if got, _ := timeline.SleepCause(tl, 0, iv); got != want {
			t.Errorf("%s: %s, want %s", syscall, got, want)
		}
	}
}
