package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/getdwell/dwell/internal/report"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/recording"
	"github.com/spf13/cobra"
)

// defaultFrames is how many frames of a stack threads prints by default.
const defaultFrames = 12

type threadsOptions struct {
	path   string // of the recording; "": examine pid
	pid    int
	length time.Duration // of one recording of pid
	at     string
	every  time.Duration
	when   string
	frames int
	json   bool
	source sourceOptions
	found  *sources
	windowing
}

func threadsCommand(w world, g *globals) *cobra.Command {
	var o threadsOptions
	c := &cobra.Command{
		Use:   "threads (REC | --pid N) [--at TIME | --every 5s | --when 'blocked>50%'] [--json]",
		Short: "What every thread did at an instant, what it waited for, and which thread had it",
		Long: `Print a thread dump, for any runtime, at any instant of a recording or of a running
service. It begins with which thread waits for which. Then, for each thread: its state
and since when, its stack, what it waits for, and what the thread that has it is doing.

By default the instant is the one at which most threads were blocked (waiting for a
lock, an interpreter lock or a pool), or the end of the recording if none was. --at
names another: +2.5s counts from the start of the recording, -1s back from its end, and
2026-01-02T15:04:05Z is wall time. Goroutines are shown only if they worked for a
request at that instant.

--pid watches a process for --for, without stopping it. The stack of a thread that
neither runs nor begins to wait in that time is not seen.`,
		Example: "  dwell threads REC\n  dwell threads REC --at +2.5s\n  dwell threads REC --when 'blocked>50%'\n" +
			"  sudo dwell threads --pid 4242\n  sudo dwell threads --pid 4242 --every 30s",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.path = args[0]
			}
			if err := o.check(c); err != nil {
				return fmt.Errorf("dwell threads: %w", err)
			}
			var err error
			if o.found, err = o.source.open(o.pid, whoInvoked(w.getenv)); err != nil { // before rights are given up
				return fmt.Errorf("dwell threads: %w", err)
			}
			defer o.found.end(w, "threads")
			if o.path == "" {
				return threadsOf(c.Context(), w, g, o)
			}
			how := whyOptions{command: "threads", path: o.path, windowing: o.windowing}
			if o.at != "" {
				how.windowing.at = func(tl *timeline.Timeline, wall wallClock) (timeline.Time, error) { return instant(o.at, tl, wall) }
			}
			got, err := how.rebuild(w)
			if err != nil {
				return err
			}
			_, err = threadsIn(w, g, o, got)
			return err
		},
	}
	c.Flags().IntVar(&o.pid, "pid", 0, "look at this running process and its children")
	c.Flags().DurationVar(&o.length, "for", 2*time.Second, "with --pid: how long to look")
	c.Flags().StringVar(&o.at, "at", "", "the instant: +2.5s after the start, -1s before the end, or wall time such as 2026-01-02T15:04:05Z")
	c.Flags().DurationVar(&o.every, "every", 0, "print an instant at this interval (with --pid: until Ctrl-C)")
	c.Flags().StringVar(&o.when, "when", "", "print each instant at which this becomes true: blocked>50%, runnable>10, running>4 (with --pid: the first)")
	c.Flags().IntVar(&o.frames, "frames", defaultFrames, "how many frames of each stack to print; 0 for all")
	c.Flags().BoolVar(&o.json, "json", false, "print one JSON object a line for each instant, in the form of docs/contract.md")
	o.source.addFlags(c)
	o.windowing.addFlag(c)
	return c
}

func (o threadsOptions) check(c *cobra.Command) error {
	switch {
	case (o.path == "") == !c.Flags().Changed("pid"):
		return errors.New("say whose, with either a recording or --pid N (as in: dwell threads REC)")
	case o.path != "" && c.Flags().Changed("for"):
		return errors.New("--for is how long to look at --pid (a recording has its length)")
	case o.length <= 0:
		return fmt.Errorf("--for %s: want a time to look, such as 2s", o.length)
	case c.Flags().Changed("every") && o.every <= 0:
		return fmt.Errorf("--every %s: want a time, such as 5s", o.every)
	case o.frames < 0:
		return fmt.Errorf("--frames %d: want 0 for all, or how many", o.frames)
	}
	if o.when != "" {
		if _, err := report.ParseCondition(o.when); err != nil {
			return err
		}
	}
	return errors.Join(apart(c, "at", "every", "when"), apart(c, "at", "pid"))
}

// threadsIn prints dumps of a recording, and returns their number.
func threadsIn(w world, g *globals, o threadsOptions, got rebuilt) (int, error) {
	tl, wall := got.Timeline, got.wall
	list, err := o.instants(tl, wall)
	if err != nil {
		return 0, fmt.Errorf("dwell threads: %w", err)
	}
	width, _ := terminal(w.out)
	text := report.DumpTextOptions{
		TextOptions: report.TextOptions{Color: g.useColor(w.out, w.getenv), Width: width}, Frames: o.frames, Who: whose(tl),
	}
	for i, at := range list {
		at.Source = o.found.lines
		d := report.NewDump(tl, at)
		d.Wall = wall.at(at.At)
		if o.json {
			err = report.DumpJSON(w.out, d)
		} else {
			if i > 0 {
				fmt.Fprintln(w.out)
			}
			text.Wall = wallText(d.Wall)
			err = report.DumpText(w.out, d, text)
		}
		if err != nil {
			return i, err
		}
	}
	return len(list), nil
}

// whose names the processes of a recording.
func whose(tl *timeline.Timeline) string {
	var names []string
	for _, p := range tl.Processes {
		names = append(names, fmt.Sprintf("%s (pid %d)", p.Comm, p.PID))
	}
	if n := len(names) - 2; n > 0 {
		names = append(names[:2], fmt.Sprintf("%d more", n))
	}
	return strings.Join(names, ", ")
}

// threadsOf examines a running process: once, on a schedule, or until a condition holds.
func threadsOf(ctx context.Context, w world, g *globals, o threadsOptions) error {
	fmt.Fprintf(w.err, "looking at process %d for %s\n", o.pid, o.length)
	for first := true; ; first = false {
		began := time.Now()
		rec, interrupted, err := look(ctx, w, o)
		if errors.Is(err, errNotBegun) && !first {
			return nil // between two looks: the usual end of a schedule
		}
		if err != nil {
			return err
		}
		printed, err := o.printLook(w, g, rec, first)
		if err != nil {
			return err
		}
		once := o.every == 0 && (o.when == "" || printed > 0)
		if once || interrupted || !pause(ctx, o.every-time.Since(began)) {
			return nil
		}
	}
}

// printLook prints the result of one look.
func (o threadsOptions) printLook(w world, g *globals, rec *recording.Recording, first bool) (int, error) {
	if !first && o.every > 0 && !o.json {
		fmt.Fprintln(w.out)
	}
	o.every = 0
	tl, err := build.By(workers(), rec)
	if err != nil {
		return 0, fmt.Errorf("dwell threads: %w", err)
	}
	return threadsIn(w, g, o, rebuilt{Timeline: tl, wall: newWallClock(rec.Events)})
}

// look records a process for a short time, and reports whether a signal ended it.
func look(ctx context.Context, w world, o threadsOptions) (*recording.Recording, bool, error) {
	stacks, err := stackFlags{when: "on", rate: defaultStackRate}.options()
	if err != nil {
		return nil, false, fmt.Errorf("dwell threads: %w", err)
	}
	r, err := record(ctx, w, recordOptions{
		command: "threads", open: openCapture, only: o.every == 0 && o.when == "", starts: len(o.source.jars) > 0, runs: len(o.source.jars) > 0, private: true, length: o.length,
		capture: captureOptions{target: "threads by pid", stacks: stacks, probes: probeOptions{all: true}}, pids: []int{o.pid},
	})
	if err != nil {
		return nil, false, err
	}
	defer r.file.keep()
	rec, err := r.file.read("threads")
	return rec, r.interrupted, err
}
