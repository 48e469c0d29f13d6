package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/getdwell/dwell/recording"
)

func TestFileSize(t *testing.T) {
	for text, want := range map[string]fileSize{"0": 0, "500MB": 500_000_000, "1.5g": 1_500_000_000, "100kB": 100_000, "2 GB": 2_000_000_000, "123456": 123_456} {
		var s fileSize
		if err := s.Set(text); err != nil || s != want {
			t.Errorf("%q is %d, %v, want %d", text, s, err, want)
		}
	}
	for _, text := range []string{"", "-1", "GB", "99kB", "12 apples", "NaN", "1e99TB"} {
		if err := new(fileSize).Set(text); err == nil {
			t.Errorf("%q is taken for a size", text)
		}
	}
}

// A recording that reaches its maximum size ends there, complete, and dwell says so.
func TestRecordEndsAtItsSize(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rec")
	const limit = 200_000
	f := new(fakeRecorder)
	f.running = func() {
		for i := recording.Time(1); f.sink.file.size < limit; i++ {
			if err := f.sink.Write(recording.Event{Time: i, Fact: &recording.Missing{Why: strings.Repeat(string(rune('a'+i%26)), int(i%4000))}}); err != nil {
				t.Error(err)
				return
			}
		}
	}
	w := quiet()
	var said bytes.Buffer
	w.err = &said
	r, err := record(t.Context(), w, recordOptions{command: "attach", open: f.open, path: path, size: limit})
	if err != nil || !r.timedOut || r.interrupted || !strings.Contains(said.String(), "grown to 200kB") {
		t.Fatalf("%+v, %v, said %q", r, err, said.String())
	}
	rec, err := readRecording("test", path)
	if err != nil || rec.Truncated || rec.Dropped > 0 {
		t.Errorf("%+v, %v, want all of it", rec, err)
	}
}
