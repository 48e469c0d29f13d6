package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/getdwell/dwell/recording"
)

func TestCutRecordingEndsAsIfStoppedThen(t *testing.T) {
	at := func(ms recording.Time, f recording.Fact) recording.Event {
		return recording.Event{Time: 1_000_000_000 + ms*1_000_000, Fact: f}
	}
	rec := &recording.Recording{Events: []recording.Event{
		at(0, &recording.Manifest{Tool: "test"}),
		at(2, &recording.Clock{Wall: 1}),
		at(9, &recording.Clock{Wall: 2}),
		at(20, &recording.End{Reason: "interrupt"}),
	}}
	cut := cutRecording(rec, 9_000_000)
	var names []string
	for _, e := range cut.Events {
		names = append(names, fmt.Sprintf("%T", e.Fact))
	}
	if got := strings.Join(names, " "); got != "*recording.Manifest *recording.Clock *recording.End" {
		t.Errorf("kept %s", got)
	}
	if last := cut.Events[2]; last.Time != 1_009_000_000 || cut.Truncated {
		t.Errorf("it ends at %d, truncated %v; want 1009000000 and closed", last.Time, cut.Truncated)
	}
	if whole := cutRecording(rec, 1e12); whole != rec {
		t.Error("a cut beyond the end must change nothing")
	}
}
