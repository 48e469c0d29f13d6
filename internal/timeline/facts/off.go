package facts

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// Offs makes values of timeline.Off, many at a time.
type Offs struct {
	room   []timeline.Off
	by     lists.Interned[timeline.OffBy]
	faults lists.Interned[timeline.OffFaults]
}

// offsAtOnce is how many share one piece of memory.
const offsAtOnce = 256

// Of makes one from a fact.
func (o *Offs) Of(x *recording.Off) *timeline.Off {
	if len(o.room) == 0 {
		o.room = make([]timeline.Off, offsAtOnce)
	}
	next := &o.room[0]
	o.room = o.room[1:]
	by, faults := partsOf(x)
	*next = timeline.Off{Since: x.Since, Woken: x.Woken, Arg: x.Arg, Counter: x.Counter, SP: x.SP, Ran: x.Ran, In: x.In, Out: x.Out, OffBy: o.by.Of(by), OffFaults: o.faults.Of(faults)}
	return next
}

func partsOf(x *recording.Off) (timeline.OffBy, timeline.OffFaults) {
	return timeline.OffBy{Thread: x.Thread, State: x.State, WakerKind: x.WakerKind, Waker: x.Waker, Release: x.Release, Syscall: x.Syscall, Timed: x.Timed, Goroutine: x.Goroutine, Owner: x.Owner, File: x.File, Context: x.Context, Ahead: x.Ahead, Program: x.Program},
		timeline.OffFaults{Minor: x.Minor, Major: x.Major, Fetched: x.Fetched}
}

// NewOff makes one that shares nothing with others.
func NewOff(x *recording.Off) *timeline.Off {
	by, faults := partsOf(x)
	return &timeline.Off{Since: x.Since, Woken: x.Woken, Arg: x.Arg, Counter: x.Counter, SP: x.SP, Ran: x.Ran, In: x.In, Out: x.Out, OffBy: &by, OffFaults: &faults}
}
