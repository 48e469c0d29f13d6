package main

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
)

// A recording of which no request tells a latency says why each does not: those that ended without
// an answer are no streams.
func TestWhyNoRequestTellsALatency(t *testing.T) {
	tl := &timeline.Timeline{}
	for _, excluded := range []string{"aborted", "stream", "", "aborted"} {
		tl.Requests = append(tl.Requests, timeline.Request{RequestBy: &timeline.RequestBy{Excluded: excluded}})
	}
	if got, want := withoutLatency(tl), "1 a stream, 2 closed without an answer"; got != want {
		t.Errorf("said %q, want %q", got, want)
	}
}
