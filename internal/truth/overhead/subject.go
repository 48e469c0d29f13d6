package main

import (
	"context"
	"os"
	"os/exec"
	"time"

	"github.com/getdwell/dwell/internal/demo"
	"github.com/getdwell/dwell/internal/truth/proc"
)

// The server under load has a CPU of its own; what it calls, and the load, share the
// other. The recorder runs where the scheduler puts it.
const (
	serverCPU = "0"
	otherCPU  = "1"
)

// warmUp is for a server whose code is compiled while it runs.
const warmUp = 35 * time.Second

// subject is a running server, and what the recorder watches.
type subject struct {
	url     string
	pid     int // of the server
	watched int // pid given to the recorder; another one for a bystander
	stop    func()

	part *part // also compared without it; may be nil
}

// subjectKind is how to start one.
type subjectKind struct {
	name  string
	start func(ctx context.Context, b *bench) (*subject, error)
}

func subjects() []subjectKind {
	return []subjectKind{
		{"demo (Go, one TLS call a request)", startDemo},
		{"Go, hello", startGo},
		{"Go, one call a request", startGoCalls("direct")},
		{"Go, one exchange over UDP a request", startGoCalls("udp")},
		{"Node, hello", startNode},
		{"JVM (24 threads, one call a request)", startJVM},
		{"a bystander (Go, hello), not watched", startBystander},
	}
}

func startDemo(ctx context.Context, b *bench) (*subject, error) {
	command := func(dir, store string, mode demo.Mode) *exec.Cmd {
		cpu := serverCPU
		if store == "" {
			cpu = otherCPU // this one is the store
		}
		return exec.Command("taskset", "-c", cpu, b.work+"/dwell", "__demo-server", "--dir", dir, "--store", store, "--mode", string(mode))
	}
	s, err := demo.Start(ctx, command, demo.Fixed)
	if err != nil {
		return nil, err
	}
	return &subject{url: s.URL + demo.ProductPath(7), pid: s.PID, watched: s.PID, stop: s.Stop}, nil
}

// startGo starts a server of net/http that does next to nothing: what the probes on Go's
// runtime cost is most of what a request costs.
func startGo(ctx context.Context, b *bench) (*subject, error) {
	p, err := proc.Start(ctx, proc.Options{
		Args: []string{b.work + "/upstream", "-listen", "127.0.0.1:21424", "-log", os.DevNull}, CPUs: serverCPU, Ready: "ready",
	})
	if err != nil {
		return nil, err
	}
	return &subject{url: "http://127.0.0.1:21424/answer", pid: p.PID(), watched: p.PID(), stop: p.Stop, part: goPart()}, nil
}

// goPart is what Go programs can be recorded without.
func goPart() *part {
	return &part{"--go-probes=off", "no Go probes", "Go probes against none"}
}

// startGoCalls starts one that asks another for each request, on pooled connections or over UDP.
func startGoCalls(flow string) func(context.Context, *bench) (*subject, error) {
	return func(ctx context.Context, b *bench) (*subject, error) { return b.startGoCalls(ctx, flow) }
}

func (b *bench) startGoCalls(ctx context.Context, flow string) (*subject, error) {
	const upstream = "127.0.0.1:21425"
	peer, err := proc.Start(ctx, proc.Options{
		Args: []string{b.work + "/upstream", "-listen", upstream, "-log", os.DevNull}, CPUs: otherCPU, Ready: "ready",
	})
	if err != nil {
		return nil, err
	}
	p, err := proc.Start(ctx, proc.Options{
		Args: []string{b.work + "/service"}, Env: []string{"PORT=21426", "UPSTREAM=" + upstream, "UDP_TIMEOUT=1000000"}, CPUs: serverCPU, Ready: "ready",
	})
	if err != nil {
		peer.Stop()
		return nil, err
	}
	return &subject{
		url: "http://127.0.0.1:21426/work?calls=1&delay=0&flow=" + flow, pid: p.PID(), watched: p.PID(),
		stop: func() { p.Stop(); peer.Stop() }, part: goPart(),
	}, nil
}

func startNode(ctx context.Context, b *bench) (*subject, error) {
	p, err := proc.Start(ctx, proc.Options{
		Args: []string{"node", "internal/truth/services/service.js"}, Env: []string{"PORT=21420"}, CPUs: serverCPU, Ready: "ready",
	})
	if err != nil {
		return nil, err
	}
	return &subject{url: "http://127.0.0.1:21420/work", pid: p.PID(), watched: p.PID(), stop: p.Stop}, nil
}

// startJVM warms it up for longer than the others: its code is compiled meanwhile.
func startJVM(ctx context.Context, b *bench) (*subject, error) {
	const upstream = "127.0.0.1:21423"
	peer, err := proc.Start(ctx, proc.Options{
		Args: []string{b.work + "/upstream", "-listen", upstream, "-log", os.DevNull}, CPUs: otherCPU, Ready: "ready",
	})
	if err != nil {
		return nil, err
	}
	p, err := proc.Start(ctx, proc.Options{
		Args: []string{"java", "-Dsun.net.httpserver.nodelay=true", "internal/truth/services/Locks.java"},
		Env:  []string{"PORT=21422", "UPSTREAM=" + upstream, "PROBLEM=call", "FIXED=1"}, CPUs: serverCPU, Ready: "ready",
	})
	if err != nil {
		peer.Stop()
		return nil, err
	}
	s := &subject{url: "http://127.0.0.1:21422/work?delay=0", pid: p.PID(), watched: p.PID(), part: &part{"--stacks=off", "no stacks taken", "stacks against none taken"}}
	s.stop = func() { p.Stop(); peer.Stop() }
	if _, err := b.send(ctx, s, loads()[0], warmUp); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

func startBystander(ctx context.Context, b *bench) (*subject, error) {
	p, err := proc.Start(ctx, proc.Options{
		Args: []string{b.work + "/upstream", "-listen", "127.0.0.1:21421", "-log", "/dev/null"}, CPUs: serverCPU, Ready: "ready",
	})
	if err != nil {
		return nil, err
	}
	idle, err := proc.Start(ctx, proc.Options{Args: []string{"sleep", "3600"}})
	if err != nil {
		p.Stop()
		return nil, err
	}
	stop := func() { p.Stop(); idle.Stop() }
	return &subject{url: "http://127.0.0.1:21421/answer", pid: p.PID(), watched: idle.PID(), stop: stop}, nil
}
