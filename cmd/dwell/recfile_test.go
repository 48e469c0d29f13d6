package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/getdwell/dwell/recording"
)

// binary returns an empty recording in its binary form, closed properly.
func binary(t *testing.T) []byte {
	t.Helper()
	var buf bytes.Buffer
	w, err := recording.NewWriter(&buf)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []recording.Event{
		{Time: 1, Fact: &recording.Manifest{Tool: "test"}},
		{Time: 2, Fact: &recording.End{Reason: "time"}},
	} {
		if err := errors.Join(w.Write(e), w.Flush()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestReadRecordingSaysWhatIsWrong(t *testing.T) {
	whole := binary(t)
	newer := bytes.Clone(whole)
	newer[8]++ // the version follows the magic
	for name, test := range map[string]struct {
		data []byte
		want string
	}{
		"newer": {newer, "use a newer dwell"},
		"head":  {whole[:4], "record again"},
		"text":  {[]byte("1000 manifest tool=test\n2000 off thread=one\n"), "damaged"},
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, test.data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := readRecording("why", path)
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "dwell why "+path) {
			t.Errorf("%s: %v; want %q", name, err, test.want)
		}
	}
}

func TestWhatIsWholeOfACutRecordingIsUsed(t *testing.T) {
	whole := binary(t)
	path := filepath.Join(t.TempDir(), "cut")
	if err := os.WriteFile(path, whole[:len(whole)-3], 0o600); err != nil {
		t.Fatal(err)
	}
	rec, err := readRecording("why", path)
	if err != nil || len(rec.Events) != 1 || !rec.Truncated || rec.Dropped == 0 {
		t.Errorf("%+v, %v; want the first event, and to be told of the loss", rec, err)
	}
}
