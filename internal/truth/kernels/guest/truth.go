package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/getdwell/dwell/internal/load"
	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/internal/truth"
	"github.com/getdwell/dwell/internal/truth/kernels/outcome"
	"github.com/getdwell/dwell/internal/truth/proc"
	"github.com/getdwell/dwell/recording"
)

const (
	upstreamAt  = "127.0.0.1:21410"
	servicePort = "21411"
	loadFor     = 6 * time.Second
	loadRate    = 10                                 // a second
	path        = "/work?cpu=200&calls=2&delay=2000" // two calls, one after the other
	undecided   = 3                                  // dwell's exit status when nothing was found nor ruled out
	settle      = time.Second
)

func playTruth() outcome.Truth {
	o, err := recordService()
	if err != nil {
		o.Error = err.Error()
	}
	return o
}

// recordService records a service that logs what it does, and compares.
func recordService() (outcome.Truth, error) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	upstream, err := proc.Start(ctx, proc.Options{Args: []string{"/bin/upstream", "-listen", upstreamAt, "-log", "/tmp/upstream"}, Ready: "ready"})
	if err != nil {
		return outcome.Truth{}, err
	}
	defer upstream.Stop()
	service, err := proc.Start(ctx, proc.Options{
		Args: []string{"/bin/service"}, Ready: "ready", Env: []string{"PORT=" + servicePort, "UPSTREAM=" + upstreamAt, "LOG=/tmp/service"},
	})
	if err != nil {
		return outcome.Truth{}, err
	}
	defer service.Stop()
	recorder, err := proc.Start(ctx, proc.Options{
		Args:  []string{"/bin/dwell", "attach", "--pid", strconv.Itoa(service.PID()), "--for", "10m", "--windows", "off", "-o", "/tmp/recording"},
		Ready: "recording",
	})
	if err != nil {
		return outcome.Truth{}, err
	}
	sent, err := load.Run(ctx, load.Options{
		URL: "http://127.0.0.1:" + servicePort + "/", Rate: loadRate, For: loadFor, Seed: 7, Path: func(int) string { return path },
	})
	time.Sleep(settle) // so that the last facts are drained
	stopped := recorder.Interrupt(within)
	if proc.Status(stopped) == undecided {
		stopped = nil
	}
	service.Stop()
	if err := errors.Join(err, stopped); err != nil {
		return outcome.Truth{}, err
	}
	return compare(sent)
}

func compare(sent *load.Result) (outcome.Truth, error) {
	rec, err := read("/tmp/recording", func(f *os.File) (*recording.Recording, error) { return recording.Load(f) })
	if err != nil {
		return outcome.Truth{}, err
	}
	if bad := recording.Validate(rec); len(bad) > 0 {
		return outcome.Truth{}, fmt.Errorf("the facts are not valid: %w", bad[0])
	}
	tl, err := build.Recording(rec)
	if err != nil {
		return outcome.Truth{}, err
	}
	served, err := read("/tmp/service", func(f *os.File) ([]truth.Served, error) { return truth.ReadLines[truth.Served](f) })
	if err != nil {
		return outcome.Truth{}, err
	}
	exchanges, err := read("/tmp/upstream", func(f *os.File) ([]truth.Exchange, error) { return truth.ReadLines[truth.Exchange](f) })
	if err != nil {
		return outcome.Truth{}, err
	}
	score := truth.Compare(tl, truth.Truth{Client: sent.Log, From: sent.Start, To: sent.End, Served: served, Exchanges: exchanges})
	o := outcome.Truth{
		Requests: score.Sent, Matched: score.Matched, Cut: score.Cut, Extra: score.Extra,
		Exchanges: score.Calls.Exchanges, Right: score.Calls.Right, Wrong: score.Calls.Wrong,
		Events: int64(len(rec.Events)),
	}
	for _, e := range rec.Events {
		switch fact := e.Fact.(type) {
		case *recording.Loss:
			o.Lost += int64(fact.Count)
		case *recording.StackAt:
			o.Stacks++
		}
	}
	return o, nil
}

// read opens a file, and has it read.
func read[T any](name string, with func(*os.File) (T, error)) (T, error) {
	f, err := os.Open(name)
	if err != nil {
		var none T
		return none, err
	}
	defer f.Close()
	all, err := with(f)
	if err != nil {
		return all, fmt.Errorf("%s: %w", name, err)
	}
	return all, nil
}
