package main

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/hypotheses"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/internal/truth/corpus"
	"github.com/getdwell/dwell/recording"
)

// parted rebuilds a part of a recording, or all of it.
func parted(t *testing.T, file []byte, most int64) (*timeline.Timeline, *recording.Excerpt) {
	t.Helper()
	var rec *recording.Recording
	tl, err := build.From(recording.Workers{}, func(each func(recording.Event)) (_ *recording.Recording, err error) {
		rec, err = recording.Part{Most: most}.Stream(recording.Workers{}, bytes.NewReader(file), each)
		return rec, err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range timeline.Validate(tl) {
		t.Error(err)
	}
	return tl, rec.Excerpt
}

// finely is the file of a recording in many blocks, as a long one is.
func finely(t *testing.T, rec *recording.Recording) []byte {
	t.Helper()
	var file bytes.Buffer
	w, err := recording.NewWriter(&file)
	for i, e := range rec.Events {
		if err == nil {
			err = w.Write(e)
		}
		if err == nil && i%200 == 0 {
			err = w.Flush()
		}
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// A request that lies in a window is told of as in the whole recording, and no other one is measured: each that a
// window cuts is counted as cut.
func TestRequestsOfAPartAreThoseOfTheWhole(t *testing.T) {
	s, err := loadSeed("testdata/hello.dwell")
	if err != nil {
		t.Fatal(err)
	}
	file := finely(t, played(t, s, 4))
	whole, _ := parted(t, file, 0)
	part, x := parted(t, file, int64(whole.Events/3))
	if x == nil || x.Of != int64(len(whole.Requests)) || len(part.Requests) > len(whole.Requests)/2 || len(part.Requests) < len(whole.Requests)/4 {
		t.Fatalf("%d of %d requests, %+v", len(part.Requests), len(whole.Requests), x)
	}
	measured := map[timeline.Time][]*timeline.Request{}
	for i := range part.Requests {
		if r := &part.Requests[i]; r.Measured() {
			measured[r.Start] = append(measured[r.Start], r)
		}
	}
	within, cut := 0, 0
	for i := range whole.Requests {
		r := &whole.Requests[i]
		for _, w := range x.Windows {
			if r.End < w.From || r.Start >= w.To {
				continue
			}
			found := slices.ContainsFunc(measured[r.Start], func(p *timeline.Request) bool {
				return p.End == r.End && p.Endpoint == r.Endpoint && slices.EqualFunc(p.SegmentList(), r.SegmentList(), alike)
			})
			if inside := w.From <= r.Start && r.End < w.To; found != (inside && r.Measured()) {
				t.Errorf("request %d, %d to %d, measured in the window %v: %v", i, r.Start, r.End, w, found)
			}
			if w.From <= r.Start && r.End < w.To {
				within++
			} else if w.From <= r.FirstRead && r.FirstRead < w.To || w.From <= r.End && r.End < w.To { // else it only lay unread
				cut++
			}
		}
	}
	told := 0
	for i := range part.Requests {
		if part.Requests[i].Cut {
			told++
		}
	}
	if all := part.Requests; within == 0 || len(all) != within+cut || told != cut {
		t.Errorf("%d requests, %d of them cut; %d lie in windows and %d stick out", len(all), told, within, cut)
	}
}

// What is found in a part of a recording is what is found in all of it.
func TestFindingsOfAPartAreThoseOfTheWhole(t *testing.T) {
	for _, name := range []string{"node-http-busy", "jvm-fan-crowd", "go-full-pool"} {
		t.Run(name, func(t *testing.T) {
			packed, err := os.ReadFile("../corpus/testdata/" + name + corpus.RecordingSuffix)
			if err != nil {
				t.Fatal(err)
			}
			file, err := corpus.Unpack(packed)
			if err != nil {
				t.Fatal(err)
			}
			rec, err := recording.Load(bytes.NewReader(file))
			if err != nil {
				t.Fatal(err)
			}
			file = finely(t, rec)
			whole, _ := parted(t, file, 0)
			part, x := parted(t, file, int64(whole.Events/2))
			if x == nil || part.Events > whole.Events*2/3 {
				t.Fatalf("%d of %d facts, %+v", part.Events, whole.Events, x)
			}
			if a, b := found(whole), found(part); !slices.Equal(a, b) {
				t.Errorf("found in all of it %v, in a part %v", a, b)
			}
		})
	}
}

// found are the mechanisms that are findings.
func found(tl *timeline.Timeline) (ids []string) {
	for _, f := range diagnosis.Diagnose(tl, hypotheses.All(), diagnosis.Options{}).Findings {
		ids = append(ids, f.ID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
