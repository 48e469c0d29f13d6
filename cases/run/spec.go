package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// program is how to start a part of a case; it prints "ready" when it is.
type program struct {
	Args []string `json:"args"`
	Env  []string `json:"env"`
}

// spec is a case as its case.json describes it. A case with one switch describes it
// beside the rest, a case with several in pairs.
type spec struct {
	Name            string   `json:"-"`
	Dir             string   `json:"-"`
	Work            string   `json:"-"` // what a run leaves; not committed
	Install         []string `json:"install"`
	Installed       string   `json:"installed"` // the file that shows it was; "": the command sees for itself
	Emulator        program  `json:"emulator"`  // a line on its stdin makes it print a handlerTimes; none: nothing is called
	Service         program  `json:"service"`
	ServiceCPU      string   `json:"service_cpu"` // as taskset takes it
	OtherCPU        string   `json:"other_cpu"`   // of the emulator and the load generator
	URL             string   `json:"url"`         // the number of the request is appended
	OverloadPercent float64  `json:"overload_percent"`
	OverloadSeconds float64  `json:"overload_seconds"` // 0: no overload
	pair
	Pairs []pair `json:"pairs"`
}

// pair is one switch between bad and fixed, and the load it is judged under.
type pair struct {
	Name        string              `json:"name"`
	Incident    string              `json:"incident"`     // its figures, printed beside ours
	EmulatorEnv []string            `json:"emulator_env"` // of both variants
	ServiceEnv  []string            `json:"service_env"`  // of both variants
	Variants    map[string][]string `json:"variants"`     // bad, fixed -> environment
	Rate        float64             `json:"rate"`         // requests per second, moderate
	KneePercent float64             `json:"knee_percent"` // Rate is at most so much of what the bad variant answers at most; 0: it is Rate
	Seconds     float64             `json:"seconds"`      // of the moderate load
	warmUp
	SLA       sla        `json:"sla"`
	FromStart bool       `json:"from_start"` // the recorder starts the service, which is not warmed up
	KeepEnv   []string   `json:"keep_env"`   // of both variants in the committed recordings, after the rest
	Look      [][]string `json:"look"`       // commands of dwell whose first lines on each recording are printed
	Short     bool       `json:"short"`      // part of a short run
	Keep      float64    `json:"keep"`       // seconds of the committed recordings; 0: keptSeconds, < 0: none
}

// warmUp is the load before the recording.
type warmUp struct {
	WarmRate    float64 `json:"warm_rate"`    // 0: the pair's
	WarmSeconds float64 `json:"warm_seconds"` // 0: warmSeconds
}

// sla makes the rate of a pair the highest of Rates at which the fixed variant answers
// 99 % of requests within MS milliseconds.
type sla struct {
	MS    float64   `json:"ms"`
	Rates []float64 `json:"rates"` // ascending
}

// onePair is what the switch of a case with one is called.
const onePair = "moderate"

// warmSeconds of load precede the recording unless the pair says otherwise: code is
// compiled, connections that can be kept are open.
const warmSeconds = 4

func readSpec(name string) (*spec, error) {
	dir := filepath.Join("cases", name)
	data, err := os.ReadFile(filepath.Join(dir, "case.json"))
	if err != nil {
		return nil, fmt.Errorf("no such case, or not run from the root of the repository: %w", err)
	}
	s := &spec{Name: name, Dir: dir, Work: filepath.Join(dir, "work"), ServiceCPU: "0", OtherCPU: "1"}
	if err := json.Unmarshal(data, s); err != nil {
		return nil, fmt.Errorf("%s/case.json: %w", dir, err)
	}
	if len(s.Pairs) == 0 {
		s.pair.Name = onePair
		s.pair.Short = true
		s.Pairs = []pair{s.pair}
	}
	for i := range s.Pairs {
		s.Pairs[i].complete()
	}
	return s, os.MkdirAll(s.Work, 0o755)
}

// shorten makes a run quick enough for every change: an overload lasts as long as clients need to
// wait for more than ten seconds. Other loads are as long as a p99 needs.
func (s *spec) shorten() {
	const overloadSeconds = 20
	s.OverloadSeconds = min(s.OverloadSeconds, overloadSeconds)
}

func (p *pair) complete() {
	if p.WarmRate == 0 {
		p.WarmRate = p.Rate
	}
	if p.WarmSeconds == 0 {
		p.WarmSeconds = warmSeconds
	}
	if p.Keep == 0 {
		p.Keep = keptSeconds
	}
}

// install fetches the components unless they are there.
func (s *spec) install(ctx context.Context, out io.Writer) error {
	if s.Installed != "" {
		if _, err := os.Stat(filepath.Join(s.Dir, s.Installed)); err == nil {
			return nil
		}
	}
	fmt.Fprintf(out, "installing the components of the case: %v\n", s.Install)
	cmd := exec.CommandContext(ctx, s.Install[0], s.Install[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.Dir, out, out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%v in %s: %w", s.Install, s.Dir, err)
	}
	return nil
}
