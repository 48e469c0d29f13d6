package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/getdwell/dwell/internal/web"
)

// openPage is a page at an address of this machine. While a recording is made, it shows its progress or what was
// recorded so far; afterwards it shows the recording's page.
type openPage struct {
	command string
	host    string
	token   string
	now     atomic.Pointer[web.Served]
	server  *http.Server
	over    chan error // of the server
	one     sync.Mutex // held to change what is shown
	parts   *soFarMaker
	last    sparing // when a page of the recording so far was last made
	whole   bool    // it shows the whole recording
}

// newPage opens an address at a port, or at any free port if port is 0.
func newPage(command string, port int) (*openPage, error) {
	socket, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("dwell %s: %w (another --port may be free)", command, err)
	}
	p := &openPage{command: command, host: socket.Addr().String(), token: rand.Text(), over: make(chan error, 1)}
	p.put(&web.Served{Title: "dwell", Waiting: func() string { return "Recording has not begun." }})
	p.server = &http.Server{ReadHeaderTimeout: 5 * time.Second, MaxHeaderBytes: 16 << 10,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.now.Load().ServeHTTP(w, r) })}
	go func() { p.over <- p.server.Serve(socket) }()
	return p, nil
}

func (p *openPage) address() string { return "http://" + p.host + "/" + p.token + "/" }

func (p *openPage) put(s *web.Served) {
	s.Host, s.Token = p.host, p.token
	p.now.Store(s)
}

// follow shows a recording's progress from now on. If there is a process that makes such pages, it also shows what
// was recorded so far on request.
func (p *openPage) follow(path string, live func() pulse) {
	s := &web.Served{Title: filepath.Base(path), Waiting: func() string { return "Recording " + strings.Join(told(live()), " · ") }}
	if p.parts != nil {
		s.SoFar = func() error { return p.soFar(s.Title) }
	}
	p.put(s)
}

// told returns the parts of a recorder's status.
func told(p pulse) []string {
	var parts []string
	for part := range strings.SplitSeq(p.String(), "  ") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// show shows the page of a whole recording.
func (p *openPage) show(a *analysis, o viewing) error {
	s, err := a.served(o)
	if err != nil {
		return fmt.Errorf("dwell %s: %w", p.command, err)
	}
	p.one.Lock()
	defer p.one.Unlock()
	p.whole = true
	p.put(s)
	return nil
}

// until prints the page's address, and serves the page until the context ends.
func (p *openPage) until(ctx context.Context, w world) error {
	fmt.Fprintf(w.err, "%s\nserved to browsers of this machine (Ctrl-C ends it)\n", p.address())
	select {
	case <-ctx.Done():
		return nil
	case err := <-p.over:
		return fmt.Errorf("dwell %s: %w", p.command, err)
	}
}

func (p *openPage) close() {
	p.server.Close()
}
