// Command record writes a recording of a running process as text, for work on the recorder itself: go run
// ./internal/capture/testdata/record -pid N -for 3s
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"runtime/pprof"
	"time"

	"github.com/getdwell/dwell/internal/capture"
	"github.com/getdwell/dwell/recording"
)

func main() {
	pid := flag.Int("pid", 0, "process to watch")
	length := flag.Duration("for", 3*time.Second, "how long to record")
	boundaries := flag.Bool("boundaries", false, "probe Node's loop functions")
	profile := flag.String("profile", "", "file for a CPU profile of the recorder")
	flag.Parse()
	if *profile != "" {
		f, err := os.Create(*profile)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		defer pprof.StopCPUProfile()
	}
	if err := record(*pid, *length, *boundaries); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func record(pid int, length time.Duration, boundaries bool) error {
	s, err := capture.Open(capture.Options{Tool: "dev", Target: "pid", Boundaries: boundaries})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.Watch(pid); err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "recording")
	ctx, cancel := context.WithTimeout(context.Background(), length)
	defer cancel()
	var log bytes.Buffer
	w, err := recording.NewWriter(&log)
	if err != nil {
		return err
	}
	if err := s.Run(ctx, w); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%+v %d bytes\n", s.Stats(), log.Len())
	rec, err := recording.Load(&log)
	if err != nil {
		return err
	}
	for _, problem := range recording.Validate(rec) {
		fmt.Fprintln(os.Stderr, "invalid:", problem)
	}
	return recording.FormatText(os.Stdout, rec)
}
