package main

import (
	"io"
	"runtime"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/hypotheses"
	"github.com/getdwell/dwell/internal/report"
	"github.com/getdwell/dwell/internal/timeline/build"
)

// Four times the requests that lie unread in front of one thread take four times the memory to diagnose, not sixteen
// times, as they would if all that the thread did were listed for each of them.
func TestAnOverloadIsLinear(t *testing.T) {
	few, many := diagnosed(t, 500), diagnosed(t, 2000)
	t.Logf("%d bytes for 500 requests, %d for 2,000", few, many)
	if many > 6*few {
		t.Errorf("2,000 requests take %d bytes, 500 take %d", many, few)
	}
}

// diagnosed is how many bytes it takes, in all, to diagnose an overload.
func diagnosed(t *testing.T, requests int) int64 {
	t.Helper()
	rec, err := overload(requests)
	if err != nil {
		t.Fatal(err)
	}
	tl, err := build.Recording(rec)
	if err != nil || len(tl.Requests) != requests {
		t.Fatal(len(tl.Requests), err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	d := diagnosis.Diagnose(tl, hypotheses.All(), diagnosis.Options{})
	if err := report.WhyJSON(io.Discard, report.Build(d, tl)); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}
