package main

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/getdwell/dwell/recording"
)

// A TLS library that a service loads after dwell has dropped its rights is probed too: the service's calls have
// names.
func TestLiveNamesCallsOverTLSWithFewRights(t *testing.T) {
	needBPF(t)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "x") }))
	defer server.Close()
	const client = `import sys, time
sys.stdin.readline()
import ssl, http.client
c = http.client.HTTPSConnection("localhost", int(sys.argv[1]), context=ssl._create_unverified_context())
for _ in range(30):
    c.request("GET", "/named"); c.getresponse().read(); time.sleep(0.02)
`
	service := exec.Command("python3", "-c", client, server.URL[strings.LastIndexByte(server.URL, ':')+1:])
	begin, err := service.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.dwell")
	if err := service.Start(); err != nil {
		t.Fatal(err)
	}
	defer service.Wait()
	defer service.Process.Kill()
	dwell := exec.Command(os.Args[0], "attach", "--stacks", "off", "--pid", fmt.Sprint(service.Process.Pid), "-o", path)
	dwell.Env = append(os.Environ(), "BE_DWELL=1")
	said, err := dwell.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := dwell.Start(); err != nil {
		t.Fatal(err)
	}
	defer dwell.Process.Kill()
	lines := bufio.NewScanner(said)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "all that can be seen") {
	}
	fmt.Fprintln(begin) // the service ends by itself, and the recording with it
	for lines.Scan() {
	}
	dwell.Wait() // it cannot diagnose: there were no requests

	rec, err := readRecording("test", path)
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, e := range rec.Events {
		switch f := e.Fact.(type) {
		case *recording.HTTPRequest:
			if f.Route == "/named" {
				named++
			}
		case *recording.Missing:
			t.Logf("missing: %+v", f)
		}
	}
	if named < 25 || named > 30 {
		t.Errorf("%d of 30 calls named, want all but the first few", named)
	}
}
