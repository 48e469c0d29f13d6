package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/hypotheses"
	"github.com/getdwell/dwell/internal/report"
	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/recording"
)

// profile analyses a recording, step by step, on one processor, and has pprof say what
// each step leaves in memory, and what takes the time of all.
func profile(out io.Writer, dir, path string) error {
	runtime.MemProfileRate = 64 << 10
	cpu, err := os.Create(filepath.Join(dir, "cpu.pprof"))
	if err != nil {
		return err
	}
	defer cpu.Close()
	if err := pprof.StartCPUProfile(cpu); err != nil {
		return err
	}
	var heaps []string
	step := func(name string) error {
		heaps = append(heaps, filepath.Join(dir, name+".pprof"))
		return writeHeap(heaps[len(heaps)-1])
	}
	if err := steps(path, step); err != nil {
		return err
	}
	pprof.StopCPUProfile()
	for _, heap := range heaps {
		if err := top(out, "-sample_index=inuse_space", heap); err != nil {
			return err
		}
	}
	return top(out, "-cum", cpu.Name())
}

// steps analyses a recording as dwell why does.
func steps(path string, step func(name string) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	tl, err := build.From(recording.Workers{}, func(each func(recording.Event)) (*recording.Recording, error) {
		rec, err := recording.Stream(recording.Workers{}, f, each)
		if err != nil {
			return nil, err
		}
		return rec, step("read")
	})
	if err != nil {
		return err
	}
	if err := step("built"); err != nil {
		return err
	}
	d := diagnosis.Diagnose(tl, hypotheses.All(), diagnosis.Options{})
	if err := step("diagnosed"); err != nil {
		return err
	}
	return report.WhyJSON(io.Discard, report.Build(d, tl))
}

// writeHeap writes what is in use.
func writeHeap(path string) error {
	runtime.GC()
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return pprof.WriteHeapProfile(f)
}

// top prints pprof's list of what takes most.
func top(out io.Writer, by, path string) error {
	c := exec.Command("go", "tool", "pprof", "-top", "-nodecount=25", by, path)
	c.Stdout, c.Stderr = out, os.Stderr
	fmt.Fprintf(out, "\n%s\n", filepath.Base(path))
	return c.Run()
}
