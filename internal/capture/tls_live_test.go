//go:build linux && (amd64 || arm64)

package capture

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getdwell/dwell/internal/capture/target"
	"github.com/getdwell/dwell/recording"
)

// secureServer answers over TLS and records what was requested on each connection.
type secureServer struct {
	*httptest.Server
	mu    sync.Mutex
	asked map[string][]string // method, route and operation, by the client's address and port
	count int
}

func newSecureServer(t *testing.T, version uint16) *secureServer {
	s := &secureServer{asked: map[string][]string{}}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		operation := ""
		if name := r.Header.Get("X-Amz-Target") + r.FormValue("Action"); name != "" {
			operation = " " + name
		}
		io.Copy(io.Discard, r.Body)
		path := r.URL.Path
		if strings.HasPrefix(path, "/items/") {
			path = "/items/{}"
		}
		s.mu.Lock()
		s.asked[r.RemoteAddr] = append(s.asked[r.RemoteAddr], r.Method+" "+path+operation)
		s.count++
		s.mu.Unlock()
		fmt.Fprint(w, "answer")
	}))
	s.TLS = &tls.Config{MinVersion: version, MaxVersion: version}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func (s *secureServer) answered() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

func (s *secureServer) port() string { return s.URL[strings.LastIndexByte(s.URL, ':')+1:] }

// named returns what was requested on each outbound connection according to the recording.
func named(rec *recording.Recording) map[string][]string {
	local := map[recording.ConnID]string{}
	for _, c := range all[*recording.Conn](rec) {
		if c.Side == recording.Outbound {
			local[c.ID] = c.Local
		}
	}
	asked := map[string][]string{}
	for _, r := range all[*recording.HTTPRequest](rec) {
		asked[local[r.Conn]] = append(asked[local[r.Conn]], strings.TrimSpace(r.Method+" "+r.Route+" "+r.Operation))
	}
	return asked
}

// Calls over TLS are named from what the client passes to its TLS library, each on its own connection, matching what
// the server received.
func TestTLSHeads(t *testing.T) {
	ruby := "ruby"
	if _, err := exec.LookPath(ruby); err != nil {
		t.Fatal("this test needs ruby: ", err)
	}
	for _, client := range []struct {
		name    string
		argv    []string
		version uint16
	}{
		{"python, TLS 1.3", []string{python(t), "testdata/tls_client.py"}, tls.VersionTLS13},
		{"python, TLS 1.2", []string{python(t), "testdata/tls_client.py"}, tls.VersionTLS12},
		{"asyncio, TLS 1.3", []string{python(t), "testdata/tls_async.py"}, tls.VersionTLS13},
		{"ruby, TLS 1.3", []string{ruby, "testdata/tls_client.rb"}, tls.VersionTLS13},
		{"node, TLS 1.3", []string{"node", "testdata/tls_client.js"}, tls.VersionTLS13},
	} {
		t.Run(client.name, func(t *testing.T) {
			server := newSecureServer(t, client.version)
			p := start(t, 0, append(client.argv, server.port())...)
			eventually(t, "the client has loaded its TLS library", func() bool { return mapsTLS(p.Process.Pid) })
			l := record(t, p.Process.Pid, Options{TLSHeads: DefaultTLSHeads()})
			fmt.Fprintln(p.stdin)
			eventually(t, "the client has made its calls", func() bool { return server.answered() == 126 })
			rec := l.stop()

			got := named(rec)
			if !maps.EqualFunc(got, server.asked, slices.Equal[[]string]) {
				t.Errorf("named:\n%v\nthe server was asked:\n%v", got, server.asked)
			}
			var text bytes.Buffer
			if err := recording.FormatText(&text, rec); err != nil || bytes.Contains(text.Bytes(), []byte("hidden")) {
				t.Errorf("a secret is in the recording (%v)", err)
			}
		})
	}
}

func mapsTLS(pid int) bool {
	found, err := target.TLSLibraries(pid)
	return err == nil && len(found) > 0
}

// If a process makes so many calls that naming them costs too much, it is no longer probed: the recording says so,
// and continues with TLS records only.
func TestTLSHeadsTooHot(t *testing.T) {
	server := newSecureServer(t, tls.VersionTLS13)
	p := start(t, 0, python(t), "testdata/tls_client.py", server.port())
	eventually(t, "the client has loaded its TLS library", func() bool { return mapsTLS(p.Process.Pid) })
	l := record(t, p.Process.Pid, Options{TLSHeads: TLSHeads{PerSecond: 50 * time.Microsecond}}) // 31 hits at once
	fmt.Fprintln(p.stdin)
	eventually(t, "the client has made its calls", func() bool { return server.answered() == 126 })
	eventually(t, "it is no longer probed", func() bool { return !l.session.tls.probing(p.Process.Pid) })
	rec := l.stop()

	if n := len(all[*recording.HTTPRequest](rec)); n == 0 || n > 31 {
		t.Errorf("%d calls named, want some, and no more than were paid for", n)
	}
	said := slices.ContainsFunc(all[*recording.Missing](rec), func(m *recording.Missing) bool {
		return m.What == "tls-heads" && strings.Contains(m.Why, "50µs of each second")
	})
	if !said {
		t.Errorf("not said: %+v", all[*recording.Missing](rec))
	}
	if n := len(all[*recording.TLS](rec)); n < 2*126 {
		t.Errorf("%d records of 126 calls", n)
	}
}

// A TLS library that is loaded while recording is found at the first connection that uses TLS. A child of a probed
// process is probed too.
func TestTLSHeadsLate(t *testing.T) {
	server := newSecureServer(t, tls.VersionTLS13)
	p := start(t, 0, python(t), "testdata/tls_late.py", server.port())
	l := record(t, p.Process.Pid, Options{TLSHeads: DefaultTLSHeads()})
	fmt.Fprintln(p.stdin)
	eventually(t, "both processes have made their calls", func() bool { return server.answered() == 60 })
	rec := l.stop()

	named := map[string]int{}
	for _, r := range all[*recording.HTTPRequest](rec) {
		named[r.Route]++
	}
	for _, path := range []string{"/parent", "/child"} {
		if n := named[path]; n < 25 || n > 30 {
			t.Errorf("%d of 30 calls of %s named, want all but the first few", n, path)
		}
	}
	if len(named) != 2 {
		t.Errorf("named: %v", named)
	}
	t.Logf("named: %v", named)
}
