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

// A page is written completely, for its owner only, and replaces nothing but an older page.
func TestReportWritesAPageAndReplacesNothingElse(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "page.html")
	victim := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(victim, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	report := func(to string, more ...string) (int, string) {
		var stdout, stderr bytes.Buffer
		status := execute(context.Background(), append([]string{"report", "bundled/bad.txt", "-o", to}, more...),
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
	if status, said := report(out, "--slo", "p99<1ns per 100ms", "--slo", "GET /none p50<1s"); status != exitDone {
		t.Fatal(status, said)
	}
	data, _ = os.ReadFile(out)
	for _, want := range []string{`"slos":[{"text":"p99\u003c1ns per 100ms"`, `"promises":[{"text":"p99\u003c1ns per 100ms: broken in `, `no request of it was measured.","mood":"look"`} {
		if !bytes.Contains(data, []byte(want)) {
			t.Errorf("a page of what was promised has no %s", want)
		}
	}
	if status, said := report(out, "--slo", "fast"); status == exitDone || !strings.Contains(said, "no bound") {
		t.Errorf("%d, %s", status, said)
	}
	left, err := filepath.Glob(filepath.Join(dir, ".dwell-*"))
	if err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}
