// Package diagnosis says why requests are slow: it compares slow requests with
// ordinary ones, lets each hypothesis test a Timeline, computes request by request
// what removing a cause would save, and gives every hypothesis a verdict with
// numbers. It is pure, and compares integers only.
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

// Milli is a duration of one millisecond.
const milli Duration = 1_000_000
