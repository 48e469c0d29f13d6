package main

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
)

// If no request of a recording has a latency, dwell says why: requests that ended without an answer are not streams.
func TestWhyNoRequestTellsALatency(t *testing.T) {
	tl := &timeline.Timeline{}
	for _, excluded := range []string{"aborted", "stream", "", "aborted"} {
		tl.Requests = append(tl.Requests, timeline.Request{RequestBy: &timeline.RequestBy{Excluded: excluded}})
	}
	if got, want := withoutLatency(tl), "1 a stream, 2 closed without an answer"; got != want {
		t.Errorf("said %q, want %q", got, want)
	}
}
