package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/getdwell/dwell/internal/load"
	"github.com/getdwell/dwell/internal/truth/proc"
)

// Where things run: the service has a CPU of its own, the rest shares the other, so
// that the service is what saturates.
const (
	serviceCPU = "0"
	otherCPU   = "1"
)

// toleratedPercent of the requests may get no answer: beyond the knee the accept queue
// overflows, and the kernel resets connections that waited for a minute. They are
// printed.
const toleratedPercent = 3

// endWithin bounds how long a recorder may take to finish and diagnose.
const endWithin = 5 * time.Minute

// scene is a running emulator, and what it takes to play scenarios before it.
type scene struct {
	*spec
	emulator *proc.Process
	load     string // the load generator's binary
}

// handlerTimes is what the emulator says about itself; ns.
type handlerTimes struct {
	Count int   `json:"count"`
	P50   int64 `json:"p50_ns"`
	P99   int64 `json:"p99_ns"`
	Max   int64 `json:"max_ns"`
}

func openScene(ctx context.Context, s *spec) (*scene, error) {
	binary, err := filepath.Abs(filepath.Join(s.Work, "load"))
	if err != nil {
		return nil, err
	}
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "./internal/load/cmd/load").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building the load generator: %w\n%s", err, out)
	}
	emulator, err := proc.Start(ctx, proc.Options{Args: s.Emulator.Args, Env: s.Emulator.Env, Dir: s.Dir, CPUs: otherCPU, Ready: "ready"})
	if err != nil {
		return nil, fmt.Errorf("the emulator: %w", err)
	}
	return &scene{spec: s, emulator: emulator, load: binary}, nil
}

func (sc *scene) service(ctx context.Context, variant string) (*proc.Process, error) {
	env := append(append([]string{}, sc.Service.Env...), sc.Variants[variant]...)
	p, err := proc.Start(ctx, proc.Options{Args: sc.Service.Args, Env: env, Dir: sc.Dir, CPUs: serviceCPU, Ready: "ready"})
	if err != nil {
		return nil, fmt.Errorf("the service: %w", err)
	}
	return p, nil
}

// send runs the load generator on its own CPU.
func (sc *scene) send(ctx context.Context, seconds int, how ...string) (load.Summary, error) {
	args := []string{"-c", otherCPU, sc.load, "-url", sc.URL + "{i}", "-for", strconv.Itoa(seconds) + "s", "-drain", "120s"}
	cmd := exec.CommandContext(ctx, "taskset", append(args, how...)...)
	cmd.Stderr = os.Stderr
	var s load.Summary
	out, err := cmd.Output()
	if err != nil {
		return s, fmt.Errorf("the load generator: %w", err)
	}
	if err := json.Unmarshal(out, &s); err != nil {
		return s, fmt.Errorf("what the load generator printed: %w", err)
	}
	if s.Errors*100 > s.Requests*toleratedPercent || s.Failed > 0 || s.Answered == 0 {
		return s, fmt.Errorf("of %d requests %d got no answer (%s) and %d a bad one", s.Requests, s.Errors, s.FirstErr, s.Failed)
	}
	return s, nil
}

// handlerTimes asks the emulator about the calls since it was last asked.
func (sc *scene) handlerTimes() (handlerTimes, error) {
	var h handlerTimes
	if err := sc.emulator.Say("report"); err != nil {
		return h, err
	}
	line, err := sc.emulator.Line("{", time.Minute)
	if err != nil {
		return h, err
	}
	return h, json.Unmarshal([]byte(line), &h)
}

// knee measures how many requests per second the service can answer: what it does
// when it always has 16 of them.
func (sc *scene) knee(ctx context.Context, variant string) (float64, error) {
	service, err := sc.service(ctx, variant)
	if err != nil {
		return 0, err
	}
	defer service.Stop()
	if _, err := sc.send(ctx, 3, "-workers", "16"); err != nil { // warm-up
		return 0, err
	}
	s, err := sc.send(ctx, 8, "-workers", "16")
	return s.Rate, err
}
