// Package diagnosis determines why requests are slow. It compares slow requests with ordinary ones, lets each
// hypothesis test a Timeline, computes request by request what removing a cause would save, and gives every hypothesis
// a verdict with numbers. Its entry point is Diagnose; Compare compares two recordings. It is pure, and compares
// integers only. No time is counted for two findings, and a mechanism that was seen is not ruled out, unless it has
// next to no time.
package diagnosis

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Time and Duration are those of the recording, in nanoseconds.
type (
	Time     = recording.Time
	Duration = recording.Duration
)

// RequestID is the index of a request in its Timeline.
type RequestID = timeline.RequestID

// milli is a duration of one millisecond.
const milli Duration = 1_000_000
