package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/getdwell/dwell/internal/load"
	"github.com/getdwell/dwell/internal/truth/proc"
)

// toleratedPercent of the requests may get no answer: beyond the knee the accept queue
// overflows, and the kernel resets connections that waited for a minute. They are
// printed.
const toleratedPercent = 3

// endWithin bounds how long a recorder may take to finish and diagnose.
const endWithin = 5 * time.Minute

// stage is a case whose components and load generator are ready.
type stage struct {
	*spec
	load string // the load generator's binary
	out  io.Writer
}

// scene is a running emulator, and what it takes to play a pair before it.
type scene struct {
	*stage
	pair     *pair
	emulator *proc.Process // or nil
}

// handlerTimes is what the emulator says about itself; ns.
type handlerTimes struct {
	Count int    `json:"count"`
	P50   int64  `json:"p50_ns"`
	P99   int64  `json:"p99_ns"`
	Max   int64  `json:"max_ns"`
	Note  string `json:"note"` // what else it has to say, printed as it is
}

func openStage(ctx context.Context, s *spec, out io.Writer) (*stage, error) {
	binary, err := filepath.Abs(filepath.Join(s.Work, "load"))
	if err != nil {
		return nil, err
	}
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "./internal/load/cmd/load").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building the load generator: %w\n%s", err, out)
	}
	return &stage{spec: s, load: binary, out: out}, nil
}

// scene starts the emulator of a pair, if the case has one; stop it.
func (st *stage) scene(ctx context.Context, p *pair) (*scene, error) {
	if len(st.Emulator.Args) == 0 {
		return &scene{stage: st, pair: p}, nil
	}
	env := append(append([]string{}, st.Emulator.Env...), p.EmulatorEnv...)
	emulator, err := proc.Start(ctx, proc.Options{Args: st.Emulator.Args, Env: env, Dir: st.Dir, CPUs: st.OtherCPU, Ready: "ready"})
	if err != nil {
		return nil, fmt.Errorf("the emulator: %w", err)
	}
	return &scene{stage: st, pair: p, emulator: emulator}, nil
}

// stop ends the emulator.
func (sc *scene) stop() {
	if sc.emulator != nil {
		sc.emulator.Stop()
	}
}

// env is the environment of a variant.
func (sc *scene) env(variant string) []string {
	return append(append(append([]string{}, sc.Service.Env...), sc.pair.ServiceEnv...), sc.pair.Variants[variant]...)
}

// start starts a variant.
func (sc *scene) start(ctx context.Context, variant string) (*proc.Process, error) {
	p, err := proc.Start(ctx, proc.Options{Args: sc.Service.Args, Env: sc.env(variant), Dir: sc.Dir, CPUs: sc.ServiceCPU, Ready: "ready"})
	if err != nil {
		return nil, fmt.Errorf("the service: %w", err)
	}
	return p, nil
}

// service starts a variant and warms it up.
func (sc *scene) service(ctx context.Context, variant string) (*proc.Process, error) {
	p, err := sc.start(ctx, variant)
	if err != nil {
		return nil, err
	}
	rate := sc.pair.WarmRate
	if sc.pair.SLA.MS > 0 && variant == "fixed" {
		rate = max(rate, sc.pair.Rate) // at a rate near the highest cold code would only queue
	}
	if _, err := sc.send(ctx, sc.pair.WarmSeconds, "-rate", fmt.Sprint(rate)); err != nil {
		p.Stop()
		return nil, fmt.Errorf("warming up: %w", err)
	}
	return p, nil
}

// send runs the load generator.
func (sc *scene) send(ctx context.Context, seconds float64, how ...string) (load.Summary, error) {
	args := []string{"-c", sc.OtherCPU, sc.load, "-url", sc.URL + "{i}", "-for", fmt.Sprint(seconds) + "s", "-drain", "120s"}
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
	if sc.emulator == nil {
		return h, nil
	}
	if err := sc.emulator.Say("report"); err != nil {
		return h, err
	}
	line, err := sc.emulator.Line("{", time.Minute)
	if err != nil {
		return h, err
	}
	return h, json.Unmarshal([]byte(line), &h)
}
