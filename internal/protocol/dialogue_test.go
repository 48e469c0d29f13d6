package protocol

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/getdwell/dwell/recording"
)

// The files in testdata/dialogue are conversations of clients with Redis and PostgreSQL
// servers, in the form of those in testdata/http.
func TestDialogues(t *testing.T) {
	files, err := filepath.Glob("testdata/dialogue/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts: ", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(file, []byte(rewrite(t, string(text), recording.Outbound)), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			p := newPlayer(recording.Outbound)
			for _, s := range parseScript(t, string(text)) {
				got := factLines(t, p.step(s))
				if fmt.Sprint(got) != fmt.Sprint(s.want) {
					t.Errorf("line %d:\n got %s\nwant %s", s.line, strings.Join(got, "\n     "), strings.Join(s.want, "\n     "))
				}
			}
			if strings.Contains(string(text), " +") || strings.Contains(string(text), " -") {
				return // not all bytes are known
			}
			for size := 1; size < 9; size++ {
				inPieces(t, parseScript(t, string(text)), size)
			}
		})
	}
}

// inPieces checks that the facts are the same however the bytes are cut into chunks.
func inPieces(t *testing.T, steps []step, size int) {
	t.Helper()
	var got, want []string
	p := newPlayer(recording.Outbound)
	for _, s := range steps {
		want = append(want, s.want...)
		if s.close {
			got = append(got, factLines(t, p.step(s))...)
		}
		for data := s.data; data != ""; {
			n := min(size, len(data))
			got = append(got, factLines(t, p.send(s.fromClient, data[:n], 0))...)
			data = data[n:]
		}
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("in chunks of %d:\n got %s\nwant %s", size, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}
