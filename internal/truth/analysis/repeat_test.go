package main

import (
	"bytes"
	"runtime"
	"slices"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/recording"
)

// TestEachTurnIsLikeTheFirst plays the middle of the seed three times: each turn has the
// requests of the first, which took as long and were accounted for alike.
func TestEachTurnIsLikeTheFirst(t *testing.T) {
	s, err := loadSeed("testdata/hello.dwell")
	if err != nil {
		t.Fatal(err)
	}
	const times = 3
	tl, err := build.Recording(played(t, s, times))
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range timeline.Validate(tl) {
		t.Error(err)
	}
	length := s.to - s.from
	var turns [times][]timeline.Request
	for _, r := range tl.Requests {
		if s.from < r.Start && r.Start < s.from+times*length {
			turn := (r.Start - s.from) / length
			turns[turn] = append(turns[turn], r)
		}
	}
	if len(turns[0]) != s.requests {
		t.Errorf("the middle has %d requests, want %d", len(turns[0]), s.requests)
	}
	for turn := range turns {
		if len(turns[turn]) != len(turns[0]) {
			t.Fatalf("turn %d has %d requests, the first %d", turn, len(turns[turn]), len(turns[0]))
		}
		for i, r := range turns[turn] {
			first := turns[0][i]
			if r.Conn != first.Conn || r.Duration() != first.Duration() || r.Unaccounted() != first.Unaccounted() || !slices.EqualFunc(r.SegmentList(), first.SegmentList(), alike) {
				t.Fatalf("request %d of turn %d is %+v, in the first %+v", i, turn, r, first)
			}
		}
	}
}

// alike reports whether two segments are as long, of the same phase and cause.
func alike(a, b timeline.Segment) bool {
	return a.To-a.From == b.To-b.From && a.Phase == b.Phase && a.Cause == b.Cause
}

// played is the recording in which the middle is played so often.
func played(t *testing.T, s *seed, times int) *recording.Recording {
	t.Helper()
	var file bytes.Buffer
	w, err := recording.NewWriter(&file)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.write(w, times); err != nil {
		t.Fatal(err)
	}
	rec, err := recording.Load(&file)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// TestWhatARequestKeeps bounds the memory that facts and what is rebuilt of them take for
// each request of a service that says hello. The list of events, and the facts that have
// been used, are not kept.
func TestWhatARequestKeeps(t *testing.T) {
	s, err := loadSeed("testdata/hello.dwell")
	if err != nil {
		t.Fatal(err)
	}
	before := inUse()
	rec := played(t, s, 3)
	loaded := inUse() - before
	tl, err := build.Recording(rec) // the last use of rec
	if err != nil {
		t.Fatal(err)
	}
	built := inUse() - before
	n := int64(len(tl.Requests))
	if loaded/n > 750 || built/n > 800 {
		t.Errorf("%d bytes a request are kept of the recording, then %d of what was rebuilt; want at most 750, 800", loaded/n, built/n)
	}
	t.Logf("%d and %d bytes a request", loaded/n, built/n)
	runtime.KeepAlive(s)
	runtime.KeepAlive(tl)
}

// inUse is how many bytes are in use.
func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
