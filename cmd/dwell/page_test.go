package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/web"
)

// A page is written whole, for its owner alone, over an older page or nothing.
func TestReportWritesAPageAndReplacesNothingElse(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "page.html")
	victim := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(victim, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	report := func(to string) (int, string) {
		var stdout, stderr bytes.Buffer
		status := execute(context.Background(), []string{"report", "bundled/bad.txt", "-o", to},
			world{out: &stdout, err: &stderr, getenv: func(string) string { return "" }})
		return status, stdout.String() + stderr.String()
	}
	for range 2 { // the second replaces the first
		if status, said := report(out); status != exitDone {
			t.Fatal(status, said)
		}
	}
	info, err := os.Stat(out)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v, want 0600", info.Mode(), err)
	}
	data, err := os.ReadFile(out)
	if err != nil || !bytes.Contains(data[:markedWithin], []byte(web.Marker)) {
		t.Errorf("no marker in %.300q, %v", data, err)
	}
	link := filepath.Join(dir, "link.html")
	if err := os.Symlink(victim, link); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{victim, link, dir} {
		if status, said := report(to); status != exitCannot || !strings.Contains(said, "name another with -o") {
			t.Errorf("%s: %d, %s", to, status, said)
		}
	}
	if data, _ := os.ReadFile(victim); string(data) != "mine" {
		t.Errorf("what was there is %q now", data)
	}
	left, err := filepath.Glob(filepath.Join(dir, ".dwell-*"))
	if err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}
