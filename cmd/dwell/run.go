package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/getdwell/dwell/internal/capture"
	"github.com/getdwell/dwell/recording"
)

// How long dwell waits for a service after recording: first for it to end by itself, since Ctrl-C reached it too,
// then after asking it to end.
const (
	ownGrace  = 500 * time.Millisecond
	termGrace = 5 * time.Second
)

// worthKeeping is how long a program without requests must have run for its recording to be useful: a benchmark runs
// that long, a command that only prints its usage does not.
const worthKeeping = 500 * time.Millisecond

func runCommand(w world, g *globals) *cobra.Command {
	var length time.Duration
	var out string
	var view bool
	var size fileSize
	var stacks stackFlags
	var flags probeFlags
	var bounds judging
	c := &cobra.Command{
		Use:   "run [--for 30s] [-o REC] -- CMD [ARG...]",
		Short: "Start a service, record it until Ctrl-C or --for, and diagnose it",
		Long: `Start a service and record it from its first instruction, with all its threads and
child processes. Ctrl-C or --for ends the recording. Then the service is asked to end,
and the diagnosis is printed. Under sudo, the service runs as the user who called sudo.`,
		Example: "  sudo dwell run --for 30s -- node app.js",
		Args:    cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("dwell run: no program is given (as in: dwell run -- node app.js)")
			}
			if err := checkLength(length); err != nil {
				return fmt.Errorf("dwell run: %w", err)
			}
			if _, err := bounds.options(""); err != nil {
				return fmt.Errorf("dwell run: %w", err)
			}
			take, err := stacks.options()
			if err != nil {
				return fmt.Errorf("dwell run: %w", err)
			}
			probes, err := flags.options()
			if err != nil {
				return fmt.Errorf("dwell run: %w", err)
			}
			return runService(c.Context(), w, g, serviceOptions{args: args, path: out, length: length, size: size, stacks: take, probes: probes, view: view, judging: bounds})
		},
	}
	c.Flags().SetInterspersed(false) // arguments after CMD belong to CMD
	addRecordFlags(c, &length, &out)
	c.Flags().BoolVar(&view, "view", false, viewUsage)
	addSizeFlag(c, &size)
	addStackFlags(c, &stacks)
	addProbeFlags(c, &flags)
	bounds.addFlags(c)
	return c
}

func addRecordFlags(c *cobra.Command, length *time.Duration, out *string) {
	c.Flags().DurationVar(length, "for", 0, "how long to record, such as 30s (default: until Ctrl-C)")
	c.Flags().StringVarP(out, "output", "o", "", "file of the recording (default: named by the time, in the current directory)")
}

func checkLength(d time.Duration) error {
	if d < 0 {
		return fmt.Errorf("--for %s: a duration cannot be negative", d)
	}
	return nil
}

type serviceOptions struct {
	args   []string
	path   string
	length time.Duration
	size   fileSize
	stacks capture.Stacks
	probes probeOptions
	view   bool

	judging judging
}

func runService(ctx context.Context, w world, g *globals, o serviceOptions) error {
	service, err := launch(o.args, w)
	if err != nil {
		return err
	}
	defer service.abandon()
	byItself, worth := false, true
	r, err := record(ctx, w, recordOptions{
		command: "run", view: o.view, open: openCapture, announce: true, only: true, starts: true, path: o.path, length: o.length, size: o.size,
		capture: captureOptions{target: "run " + filepath.Base(o.args[0]), stacks: o.stacks, probes: o.probes, gate: service.pid()},
		pids:    []int{service.pid()}, begin: service.start, until: service.done,
		judging: o.judging,
		worth: func(r *recorded) bool {
			byItself = !r.interrupted && !r.timedOut && service.endsWithin(termGrace)
			worth = !byItself || r.last.requests > 0 || service.succeeded() && r.last.elapsed >= worthKeeping
			return worth
		},
	})
	name := recording.Printable(filepath.Base(o.args[0]))
	if r != nil && r.page != nil {
		defer r.page.close()
	}
	switch {
	case err != nil:
		service.endFor(w, name)
		return err
	case !worth:
		return fmt.Errorf("dwell run: %s ended after %s, before any request (%s)", name, short(r.last.elapsed), service.ended())
	case byItself && r.last.requests == 0:
		fmt.Fprintf(w.err, "%s ended (%s)\nrecorded %s in %s\n", name, service.ended(), r.last.elapsed.Round(100*time.Millisecond), r.path)
		fmt.Fprintln(w.err, "no request in it, so nothing is diagnosed: dwell diff compares it with other recordings; dwell threads and dwell show --folded show its threads")
		return nil
	case byItself:
		fmt.Fprintf(w.err, "%s ended (%s)\n", name, service.ended())
	default:
		service.endFor(w, name)
	}
	return finish(ctx, w, g, r)
}

// endFor ends a service that was started, and prints a message if it continues.
func (l *launched) endFor(w world, name string) {
	if l.started && !l.end() {
		fmt.Fprintf(w.err, "%s still runs as pid %d, though asked to end %s ago\n", name, l.pid(), termGrace)
	}
}

// end waits for the service to end by itself, or asks it to, and reports whether it did. Then it asks the processes
// of the service's group that are left, as a shell or npx leaves them. Ctrl-C at a terminal reaches the same
// processes.
func (l *launched) end() bool {
	left, group := descendants(l.pid()), groupOf(l.pid()) // known only while it lives
	ended := l.endsWithin(ownGrace)
	if !ended {
		l.cmd.Process.Signal(syscall.SIGTERM)
		ended = l.endsWithin(termGrace)
	}
	for _, pid := range left {
		if group != 0 && groupOf(pid) == group {
			syscall.Kill(pid, syscall.SIGTERM)
		}
	}
	return ended || l.endsWithin(ownGrace)
}

// groupOf returns the process group of a process; 0 if there is no such process.
func groupOf(pid int) int {
	group, err := syscall.Getpgid(pid)
	if err != nil {
		return 0
	}
	return group
}

// abandon ends a service that was never started.
func (l *launched) abandon() {
	if !l.started {
		l.gate.Close()
		<-l.done
	}
}

// finish says where the recording is, prints its diagnosis, and serves its page if wanted.
func finish(ctx context.Context, w world, g *globals, r *recorded) error {
	fmt.Fprintf(w.err, "recorded %s in %s\n", r.last.elapsed.Round(100*time.Millisecond), r.path)
	o := whyOptions{command: r.command, path: r.path, held: r.held, judging: r.judging}
	err := why(w, g, o)
	if r.page == nil {
		return err
	}
	defer r.page.close()
	ctx, stop := signal.NotifyContext(ctx, endings()...)
	defer stop()
	said := w
	said.err = io.Discard // problems of the recording were already printed
	a, failed := analyseFile(said, o)
	if failed == nil {
		failed = r.page.show(a, viewing{command: r.command, name: filepath.Base(r.path)})
	}
	if failed == nil {
		failed = r.page.until(ctx, w)
	}
	return errors.Join(err, failed)
}
