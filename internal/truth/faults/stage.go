package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/getdwell/dwell/internal/truth/names"
	"github.com/getdwell/dwell/internal/truth/proc"
)

// What services ask, and where they listen.
const (
	upstream   = "127.0.0.1:21520"
	secure     = "127.0.0.1:21521"
	statsd     = "127.0.0.1:21522"
	resolver   = "127.53.0.1" // at port 53
	servesAt   = "21523"
	services   = "internal/truth/services"
	goServices = "internal/truth/cmd/faulty"
)

// stage is where all runs are played: the peers, and the programs by the noun of their names.
type stage struct {
	options
	dir   string
	stop  []func()
	delay atomic.Int64  // how late a peer is whose fault it is, us
	turn  chan struct{} // of a peer that does one thing at a time: it is full meanwhile
	built map[string]bool
}

func openStage(ctx context.Context, opt options) (*stage, error) {
	if opt.keep != "" {
		if err := os.MkdirAll(opt.keep, 0o755); err != nil {
			return nil, err
		}
	}
	dir, err := os.MkdirTemp("", "dwell-faults-")
	if err != nil {
		return nil, err
	}
	st := &stage{options: opt, dir: dir, turn: make(chan struct{}, 1), built: map[string]bool{}}
	st.stop = append(st.stop, func() { os.RemoveAll(dir) })
	if err := command(ctx, "go", "build", "-o", dir+"/", "./cmd/dwell", "./internal/truth/cmd/upstream"); err != nil {
		st.close()
		return nil, err
	}
	for _, args := range [][]string{{"-listen", "0.0.0.0" + upstream[9:]}, {"-listen", "0.0.0.0" + secure[9:], "-tls"}} {
		p, err := proc.Start(ctx, proc.Options{Args: append([]string{dir + "/upstream", "-log", os.DevNull}, args...), Ready: "ready"})
		if err != nil {
			st.close()
			return nil, err
		}
		st.stop = append(st.stop, p.Stop)
	}
	if err := st.peers(); err != nil {
		st.close()
		return nil, err
	}
	named, err := names.Serve(resolver, st.late)
	if err != nil {
		st.close()
		return nil, err
	}
	metrics, err := net.ListenPacket("udp4", statsd)
	if err != nil {
		named.Close()
		st.close()
		return nil, err
	}
	st.stop = append(st.stop, func() { named.Close() }, func() { metrics.Close() })
	go swallow(metrics)
	return st, nil
}

func (st *stage) close() {
	for i := len(st.stop) - 1; i >= 0; i-- {
		st.stop[i]()
	}
}

// swallow takes what comes until the connection is closed.
func swallow(c net.PacketConn) {
	for buf := make([]byte, 2048); ; {
		if _, _, err := c.ReadFrom(buf); err != nil {
			return
		}
	}
}

// program is how a service is started: from sources whose things are called by a noun.
func (st *stage) program(ctx context.Context, p *plan) ([]string, error) {
	dir := filepath.Join(st.dir, p.Noun)
	if kind := p.Noun + p.Runtime; !st.built[kind] {
		if err := st.build(ctx, dir, p); err != nil {
			return nil, err
		}
		st.built[kind] = true
	}
	switch p.Runtime {
	case golang:
		return []string{dir + "/faulty"}, nil
	case node:
		return []string{"node", dir + "/faulty.js"}, nil
	case python:
		return []string{"python3", dir + "/faulty.py"}, nil
	case ruby:
		return []string{"ruby", dir + "/faulty.rb"}, nil
	}
	args := []string{"java", "-Xmx96m", "-XX:+UseSerialGC", "-Dsun.net.httpserver.nodelay=true", "-cp", dir, "Faulty"}
	return args, nil
}

// build writes the sources of a runtime's service with other names, and compiles those that need it.
func (st *stage) build(ctx context.Context, dir string, p *plan) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	from := services
	files := map[string][]string{golang: {"main.go", "faults.go"}, node: {"faulty.js"}, python: {"faulty.py"}, ruby: {"faulty.rb", "puma.rb"}, jvm: {"Faulty.java"}}[p.Runtime]
	if p.Runtime == golang {
		from = goServices
	}
	names := strings.NewReplacer("Thing", p.Noun, "THING", strings.ToUpper(p.Noun), "thing", strings.ToLower(p.Noun))
	overlay := map[string]string{} // the Go program's files are replaced where they are, within the module
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return err
		}
		to := filepath.Join(dir, name)
		if err := os.WriteFile(to, []byte(names.Replace(string(text))), 0o644); err != nil {
			return err
		}
		there, err := filepath.Abs(filepath.Join(from, name))
		if err != nil {
			return err
		}
		overlay[there] = to
	}
	switch p.Runtime {
	case jvm:
		return command(ctx, "javac", "-d", dir, dir+"/Faulty.java")
	case golang:
		text, err := json.Marshal(map[string]any{"Replace": overlay})
		if err != nil {
			return err
		}
		if err := os.WriteFile(dir+"/overlay.json", text, 0o644); err != nil {
			return err
		}
		return command(ctx, "go", "build", "-overlay", dir+"/overlay.json", "-o", dir+"/faulty", "./"+goServices)
	}
	return nil
}

func command(ctx context.Context, name string, args ...string) error {
	if out, err := exec.CommandContext(ctx, name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}
