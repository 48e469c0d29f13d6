package main

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
)

// A recording of which no request tells a latency says why each does not: those that ended without
// an answer are no streams.
func TestWhyNoRequestTellsALatency(t *testing.T) {
	tl := &timeline.Timeline{Requests: []timeline.Request{{Excluded: "aborted"}, {Excluded: "stream"}, {}, {Excluded: "aborted"}}}
	if got, want := withoutLatency(tl), "1 a stream, 2 closed without an answer"; got != want {
		t.Errorf("said %q, want %q", got, want)
	}
}
