package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/getdwell/dwell/internal/truth/proc"
)

// Exit statuses of dwell: it has findings; some hypothesis stayed undecided; nothing could be diagnosed of so little.
const found, undecided, tooLittle = 1, 3, 2

// patience bounds one attachment: what takes longer has failed.
const patience = 2 * time.Minute

// length of what is recorded.
const length = 2 * time.Second

type bench struct {
	options
	work string // folder of the programs
}

// subject is a service that is attached to.
type subject struct {
	name string
	args func(work string) []string
	http bool // it answers HTTP, and asks an upstream
}

const (
	servicePort  = "21460"
	upstreamAddr = "127.0.0.1:21461"
)

func subjects() []subject {
	script := func(args ...string) func(string) []string { return func(string) []string { return args } }
	return []subject{
		{"Python", script("python3", "internal/truth/services/service.py"), true},
		{"Node", script("node", "internal/truth/services/service.js"), true},
		{"JVM", script("java", "-Dsun.net.httpserver.nodelay=true", "internal/truth/services/Locks.java"), true},
		{"Ruby", script("ruby", "internal/truth/services/service.rb"), true},
		{"Go", func(work string) []string { return []string{work + "/service"} }, true},
		{"Python that forks 100 times a second, children live 1 s", script("python3", "-c", forking, "100", "1"), false},
		{"Python that forks 100 times a second, children live 5 s", script("python3", "-c", forking, "100", "5"), false},
	}
}

// forking is a program that forks so many children a second, which live for so many seconds.
const forking = `
import os, signal, sys, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
rate, life = float(sys.argv[1]), float(sys.argv[2])
print("ready", flush=True)
due = time.monotonic()
while True:
    if os.fork() == 0:
        time.sleep(life)
        os._exit(0)
    due += 1 / rate
    time.sleep(max(0, due - time.monotonic()))
`

// service starts a service and attaches to it on each kind of host.
func (b *bench) service(ctx context.Context, s subject) error {
	if s.http {
		up, err := proc.Start(ctx, proc.Options{Args: []string{b.work + "/upstream", "-listen", upstreamAddr, "-log", os.DevNull}, Ready: "ready"})
		if err != nil {
			return err
		}
		defer up.Stop()
	}
	p, err := proc.Start(ctx, proc.Options{Args: s.args(b.work), Env: []string{"PORT=" + servicePort, "UPSTREAM=" + upstreamAddr, "LOG=" + os.DevNull, "PROBLEM=call", "FIXED=1"}, Ready: "ready"})
	if err != nil {
		return err
	}
	defer p.Stop()
	if !s.http {
		time.Sleep(6 * time.Second) // until as many of its children live as ever will
	} else if stop, err := b.ask(ctx); err != nil {
		return err
	} else {
		defer stop()
	}
	for _, h := range hosts() {
		name := s.name + ", " + h.name
		if !strings.Contains(name, b.only) {
			continue
		}
		all, err := b.attachments(ctx, p.PID(), h)
		if err != nil {
			return fmt.Errorf("%s: %w", h.name, err)
		}
		fmt.Println(row(name, all))
	}
	return nil
}

// ask sends a few requests a second.
func (b *bench) ask(ctx context.Context) (stop func(), err error) {
	url := "http://127.0.0.1:" + servicePort + "/work?sleep=1000&cpu=500&calls=1&delay=1000"
	get := func() error {
		r, err := http.Get(url)
		if err != nil {
			return err
		}
		return r.Body.Close()
	}
	if err := get(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		for every := time.NewTicker(50 * time.Millisecond); ; {
			select {
			case <-ctx.Done():
				return
			case <-every.C:
				_ = get() // on a host with nothing to spare some are late
			}
		}
	}()
	return func() { cancel(); <-over }, nil
}

func (b *bench) attachments(ctx context.Context, pid int, h host) (all []attachment, err error) {
	for range h.busy {
		loop := exec.CommandContext(ctx, "sh", "-c", "while :; do :; done")
		if err := loop.Start(); err != nil {
			return nil, err
		}
		defer loop.Wait() //nolint:errcheck // it was killed
		defer loop.Process.Kill()
	}
	for range b.rounds {
		a, err := b.attach(ctx, pid)
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// attachment is how long it all took.
type attachment struct {
	begun time.Duration // from the start of dwell until it records
	cpu   time.Duration // of dwell, until then
	ended time.Duration // from SIGINT until nothing is recorded any more
	said  time.Duration // from SIGINT until the diagnosis was said
}

func (b *bench) attach(ctx context.Context, pid int) (a attachment, err error) {
	file := b.work + "/recording.dwell"
	started := time.Now()
	p, err := proc.Start(ctx, proc.Options{Args: []string{b.work + "/dwell", "attach", "--pid", strconv.Itoa(pid), "-o", file}})
	if err != nil {
		return a, err
	}
	defer p.Stop()
	if _, err = p.Line("recording (", patience); err != nil {
		return a, err
	}
	a.begun = time.Since(started)
	if a.cpu, err = cpuTime(p.PID()); err != nil {
		return a, err
	}
	time.Sleep(length)
	told := time.Now()
	if err = syscall.Kill(p.PID(), syscall.SIGINT); err != nil {
		return a, err
	}
	if _, err = p.Line("recorded ", patience); err != nil {
		return a, err
	}
	a.ended = time.Since(told)
	err = p.Wait(patience)
	a.said = time.Since(told)
	if status := proc.Status(err); err != nil && status != found && status != undecided && status != tooLittle {
		return a, err
	}
	return a, nil
}

// cpuTime of a process, in user space and the kernel.
func cpuTime(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	const user, system, tick = 11, 12, 10 * time.Millisecond
	if len(fields) <= system {
		return 0, fmt.Errorf("too few fields in %q", text)
	}
	var sum time.Duration
	for _, field := range []int{user, system} {
		n, err := strconv.Atoi(fields[field])
		if err != nil {
			return 0, err
		}
		sum += time.Duration(n) * tick
	}
	return sum, nil
}
