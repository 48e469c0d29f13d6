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

// spec is a case as its case.json describes it.
type spec struct {
	Name            string              `json:"-"`
	Dir             string              `json:"-"`
	Work            string              `json:"-"` // what a run leaves; not committed
	Install         []string            `json:"install"`
	Installed       string              `json:"installed"` // the file that shows it was
	Emulator        program             `json:"emulator"`  // a line on its stdin makes it print a handlerTimes
	Service         program             `json:"service"`
	Variants        map[string][]string `json:"variants"` // bad, fixed -> environment
	URL             string              `json:"url"`      // the number of the request is appended
	Rate            float64             `json:"rate"`     // requests per second, moderate
	Seconds         int                 `json:"seconds"`  // of the moderate load
	OverloadPercent float64             `json:"overload_percent"`
	OverloadSeconds int                 `json:"overload_seconds"`
}

func readSpec(name string) (*spec, error) {
	dir := filepath.Join("cases", name)
	data, err := os.ReadFile(filepath.Join(dir, "case.json"))
	if err != nil {
		return nil, fmt.Errorf("no such case, or not run from the root of the repository: %w", err)
	}
	s := &spec{Name: name, Dir: dir, Work: filepath.Join(dir, "work")}
	if err := json.Unmarshal(data, s); err != nil {
		return nil, fmt.Errorf("%s/case.json: %w", dir, err)
	}
	return s, os.MkdirAll(s.Work, 0o755)
}

// install fetches the components unless they are there.
func (s *spec) install(ctx context.Context, out io.Writer) error {
	if _, err := os.Stat(filepath.Join(s.Dir, s.Installed)); err == nil {
		return nil
	}
	fmt.Fprintf(out, "installing the components of the case: %v\n", s.Install)
	cmd := exec.CommandContext(ctx, s.Install[0], s.Install[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.Dir, out, out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%v in %s: %w", s.Install, s.Dir, err)
	}
	return nil
}
