package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/getdwell/dwell/internal/report"
	"github.com/getdwell/dwell/internal/timeline"
)

const longRecording = "../../internal/truth/analysis/testdata/hello.dwell"

// If a recording has more facts than wanted, only windows of it are analysed, the same ones each time. The text and
// the JSON say so, and commands whose output does not say it print it to standard error.
func TestWhatIsAnalysedOfALongRecordingIsSaid(t *testing.T) {
	ask := func(part windowing) (*report.Report, string) {
		var out, said bytes.Buffer
		o := whyOptions{command: "why", path: longRecording, json: true, windowing: part}
		w := world{out: &out, err: &said, getenv: func(string) string { return "" }}
		if err := why(w, &globals{}, o); err != nil {
			t.Fatal(err)
		}
		var r report.Report
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		return &r, said.String()
	}
	whole, said := ask(windowing{windows: "off", most: 20_000})
	if whole.Recording.Excerpt != nil || said != "" {
		t.Errorf("with --windows=off: %+v, %q", whole.Recording.Excerpt, said)
	}
	part, said := ask(windowing{most: 20_000})
	x := part.Recording.Excerpt
	if x == nil || x.OfRequests != int64(whole.Requests.Count+whole.Requests.Cut) || x.Requests < int64(part.Requests.Count) || part.Requests.Count < whole.Requests.Count/10 || part.Requests.Count > whole.Requests.Count*9/10 {
		t.Fatalf("%d of %d requests: %+v", part.Requests.Count, whole.Requests.Count, x)
	}
	sentence := fmt.Sprintf("%d windows", x.Windows)
	if !strings.Contains(said, sentence) || !strings.Contains(x.Text(), sentence) {
		t.Errorf("%q, %q do not say %q", said, x.Text(), sentence)
	}
	if again, _ := ask(windowing{most: 20_000}); fmt.Sprint(again.Requests, *again.Recording.Excerpt) != fmt.Sprint(part.Requests, *x) {
		t.Errorf("asked twice: %+v and %+v", part.Requests, again.Requests)
	}
	if _, err := analyseFile(quiet(), whyOptions{command: "why", path: longRecording, windowing: windowing{windows: "some"}}); err == nil {
		t.Error("--windows=some is taken")
	}
}

// A requested moment is analysed wherever it lies.
func TestAMomentOfALongRecording(t *testing.T) {
	whole, err := analyseFile(quiet(), whyOptions{command: "why", path: longRecording})
	if err != nil {
		t.Fatal(err)
	}
	tl := whole.timeline
	for _, percent := range []int{10, 35, 60, 95} {
		r := &tl.Requests[len(tl.Requests)*percent/100]
		at := "+" + time.Duration((r.Start+r.End)/2-tl.Start).String()
		shown := func(part windowing) (string, string) {
			var out, said bytes.Buffer
			o := showOptions{whyOptions: whyOptions{command: "show", path: longRecording, json: true, windowing: part}, slowest: 1000, at: at, whose: -1}
			if err := show(world{out: &out, err: &said, getenv: func(string) string { return "" }}, &globals{}, o); err != nil {
				t.Fatal(err)
			}
			return out.String(), said.String()
		}
		all, _ := shown(windowing{windows: "off"})
		some, said := shown(windowing{most: 20_000})
		if a, b := strings.Count(all, "\n"), strings.Count(some, "\n"); a == 0 || a != b || !strings.Contains(said, "1 window") {
			t.Errorf("at %s %d requests are in flight, %d in a part of the recording; %q", at, a, b, said)
		}
		got, err := whyOptions{command: "threads", path: longRecording, windowing: windowing{most: 20_000, at: func(tl *timeline.Timeline, wall wallClock) (timeline.Time, error) { return instant(at, tl, wall) }}}.rebuild(quiet())
		if err != nil || got.excerpt == nil {
			t.Fatalf("at %s: %+v, %v", at, got.excerpt, err)
		}
		if n, err := threadsIn(quiet(), &globals{}, threadsOptions{at: at, found: &sources{}}, got); n != 1 || err != nil {
			t.Errorf("at %s: %d instants, %v", at, n, err)
		}
	}
}
