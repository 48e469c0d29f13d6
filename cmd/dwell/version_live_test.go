//go:build linux && (amd64 || arm64)

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// deployed is a service whose next version takes over after the current one has answered thirty requests.
const deployed = `
import os, sys, http.server
class Versioned(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.send_header("Content-Length", "0"); self.end_headers()
    def log_message(self, *args): pass
class Server(http.server.HTTPServer):
    allow_reuse_address = True
if len(sys.argv) == 1:
    for version in ("1.9.0", "2.0.0-rc1"):
        with_version = dict(os.environ, APP_VERSION=version, API_KEY="k3y-of-the-service")
        os.spawnve(os.P_WAIT, sys.executable, [sys.executable, __file__, "serve"], with_version)
else:
    with Server(("127.0.0.1", 21307), Versioned) as server:
        for _ in range(30): server.handle_request()
`

// Versions deployed during recording are distinguished by the named environment variable and by their build; nothing
// else of an environment is in the file.
func TestLiveVersionsOfADeployAreToldApart(t *testing.T) {
	needBPF(t)
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	script := filepath.Join(t.TempDir(), "deployed.py")
	if err := os.WriteFile(script, []byte(deployed), 0o644); err != nil {
		t.Fatal(err)
	}
	c := newConsole()
	path := filepath.Join(t.TempDir(), "rec")
	run := c.start(t, "run", "--for", "20s", "--version-env", "APP_VERSION", "-o", path, "--", python, script)
	for answered, until := 0, time.Now().Add(15*time.Second); answered < 60; {
		if answer, err := exchange("127.0.0.1:21307"); err == nil && strings.HasPrefix(answer, "HTTP/1.") {
			answered++
		} else if time.Sleep(10 * time.Millisecond); time.Now().After(until) {
			t.Fatalf("%d answers, then %v", answered, err)
		}
	}
	if s := <-run.status; s != exitDone {
		t.Fatalf("status %d: %s", s, c.err.String())
	}
	var versions, builds []string
	for _, p := range diagnosisOf(t, path).Processes {
		versions, builds = append(versions, p.Version), append(builds, p.Build)
	}
	if len(versions) != 2 || versions[0] != "1.9.0" || versions[1] != "2.0.0-rc1" {
		t.Errorf("versions %q", versions)
	}
	if len(builds) != 2 || builds[0] == "" || builds[0] != builds[1] {
		t.Errorf("builds %q, want that of the one interpreter", builds)
	}
	why := newConsole()
	if execute(t.Context(), []string{"why", path}, why.world()); !strings.Contains(why.out.String(), "version 1.9.0)") {
		t.Errorf("the text does not name the version:\n%s", why.out.String())
	}
	facts := newConsole()
	execute(t.Context(), []string{"facts", path}, facts.world())
	if text := facts.out.Bytes(); !bytes.Contains(text, []byte("2.0.0-rc1")) || bytes.Contains(text, []byte("k3y-of-the-service")) || bytes.Contains(text, []byte("PATH")) {
		t.Error("the facts lack the version, or hold something else of an environment")
	}
}
