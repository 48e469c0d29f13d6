//go:build linux && (amd64 || arm64)

package unwind

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	profiled "go.opentelemetry.io/ebpf-profiler/process"
	"go.opentelemetry.io/ebpf-profiler/tracer"

	"github.com/getdwell/dwell/internal/capture/elffile"
	"github.com/getdwell/dwell/internal/torture"
)

// mapped is a process that has one file mapped; without a name, the file is on a file system that does not answer.
type mapped struct {
	profiled.Process
	name  string
	opens int
}

func (m *mapped) OpenMappingFile(*profiled.RawMapping) (profiled.ReadAtCloser, error) {
	m.opens++
	if m.name == "" {
		select {}
	}
	return os.Open(m.name)
}

// The profiler version in use has the fields that examining needs.
func TestProfilerHasWhatExaminingTakes(t *testing.T) {
	if _, err := newExaminer(&tracer.Tracer{}, nil); err != nil {
		t.Error(err)
	}
}

// If the profiler fails because of a file, one process has no stacks, and that is reported.
func TestProfilerMayFail(t *testing.T) {
	var told []problem
	survive(func(p problem) { told = append(told, p) }, func() { _ = []byte{}[len(told)] })
	if len(told) != 1 {
		t.Errorf("told: %q", told)
	}
}

// The profiler gets only sound files; for each other file the reason is reported once.
func TestProfilerIsGivenSoundFiles(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	hostile := filepath.Join(t.TempDir(), "hostile")
	begin, size := torture.GoProgram(program, 1<<28)
	if err := errors.Join(os.WriteFile(hostile, begin, 0o700), os.Truncate(hostile, size)); err != nil {
		t.Fatal(err)
	}
	var told []problem
	e := &examiner{checked: map[fileVersion]error{}, refused: func(p problem) { told = append(told, p) }}
	open := func(p *mapped, device uint64) error {
		file, err := (&examined{p, e}).OpenMappingFile(&profiled.RawMapping{Device: device})
		if err == nil {
			file.Close()
		}
		return err
	}
	if err := open(&mapped{name: sleep}, 1); err != nil || len(told) > 0 {
		t.Errorf("%s: %v, %v", sleep, err, told)
	}
	for range 2 {
		if err := open(&mapped{name: hostile}, 1); !errors.Is(err, elffile.ErrTooLarge) {
			t.Errorf("a hostile program: %v", err)
		}
	}
	silent := new(mapped)
	for range 2 {
		if err := open(silent, 2); !errors.Is(err, elffile.ErrStalled) {
			t.Errorf("a program that does not come: %v", err)
		}
	}
	if silent.opens != 1 {
		t.Errorf("it was asked for %d times", silent.opens)
	}
	if len(told) != 2 || !slices.Contains(told, problemStalled) {
		t.Errorf("told: %q", told)
	}
}
