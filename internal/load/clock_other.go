//go:build !linux

package load

import "time"

// clock counts from the start of the run: elsewhere nothing is compared with a
// recording's times.
type clock struct{ origin time.Time }

func newClock() clock { return clock{time.Now()} }

func (c clock) now() int64 { return int64(time.Since(c.origin)) + 1 }
