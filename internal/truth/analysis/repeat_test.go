package main

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strings"
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

// A service answers three requests on one connection, for each of which it makes a call on another. Of the two that
// are played again and again each has its call each time, which takes as long.
func TestCallsArePlayedToo(t *testing.T) {
	text := `# dwell recording, text form 1
1000 manifest tool=dwell kernel=6 arch=amd64 cpus=1 hooks="arrivals io sched sockets"
1000 process id=1 pid=7 comm=shop
1000 thread id=1 tid=7 process=1 name=shop
1000 conn id=1 process=1 local=10.0.0.1:80 peer=10.0.0.2:5000 existing=1
1000 conn id=2 side=out process=1 local=10.0.0.1:5000 peer=10.0.0.3:81 existing=1
1000 conn-protocol conn=1 protocol=http1
1000 conn-protocol conn=2 protocol=http1
`
	for i := range 3 {
		at := 2000 + 1000*i
		text += fmt.Sprintf(`%d chunk conn=1 thread=1 offset=%d bytes=50 arrived=%d last=%[3]d first=%[1]d
%[1]d http-request conn=1 offset=%[2]d head=50 method=GET route=/
%[4]d chunk conn=2 thread=1 dir=write offset=%[5]d bytes=60 first=%[4]d
%[4]d http-request conn=2 offset=%[5]d head=60 method=GET route=/price
%[6]d chunk conn=2 thread=1 offset=%[7]d bytes=70 arrived=%[6]d last=%[6]d first=%[6]d
%[6]d http-response conn=2 offset=%[7]d head=70 status=200
%[8]d chunk conn=1 thread=1 dir=write offset=%[9]d bytes=80 first=%[8]d
%[8]d http-response conn=1 offset=%[9]d head=80 status=200
`, at, 50*i, at-10, at+100, 60*i, at+400, 70*i, at+500, 80*i)
	}
	rec, err := recording.Load(strings.NewReader(text + "6000 end reason=interrupted\n"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSeed(rec)
	if err != nil || s.requests != 2 {
		t.Fatalf("%+v, %v", s, err)
	}
	tl, err := build.Recording(played(t, s, 3))
	if err != nil || len(tl.Requests) != 7 || len(tl.Calls) != 7 {
		t.Fatalf("%d requests, %d calls, %v", len(tl.Requests), len(tl.Calls), err)
	}
	for i, c := range tl.Calls {
		if c.Request != timeline.RequestID(i) || c.End.Sub(c.SendFrom) != 300 || c.Operation != "GET /price" {
			t.Errorf("call %d: %+v", i, c)
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
