//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/getdwell/dwell/internal/capture/target"
	"github.com/getdwell/dwell/recording"
	"github.com/spf13/cobra"
)

type attachOptions struct {
	pid    int
	name   string
	path   string
	length time.Duration
	size   fileSize
	stacks stackFlags
	probes probeFlags
	view   bool

	judging judging
}

func attachCommand(w world, g *globals) *cobra.Command {
	var o attachOptions
	c := &cobra.Command{
		Use:   "attach (--pid N | --name REGEX) [--for 30s] [-o REC]",
		Short: "Record a service that runs already, and diagnose it",
		Long: `Record a running service, with all its children and threads, those to come
included. It is neither stopped nor changed. Ctrl-C, or --for, ends the recording.`,
		Example: "  sudo dwell attach --pid 4242 --for 30s\n  sudo dwell attach --name puma",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := pidArgument(c, args); err != nil {
				return err
			}
			if c.Flags().Changed("pid") == c.Flags().Changed("name") {
				return errors.New("dwell attach: say which process, with either --pid N or --name REGEX")
			}
			if err := checkLength(o.length); err != nil {
				return fmt.Errorf("dwell attach: %w", err)
			}
			if _, err := o.judging.options(""); err != nil {
				return fmt.Errorf("dwell attach: %w", err)
			}
			return attach(c.Context(), w, g, o)
		},
	}
	c.Flags().IntVar(&o.pid, "pid", 0, "process id")
	c.Flags().StringVar(&o.name, "name", "", "regular expression that the name of the program matches")
	addRecordFlags(c, &o.length, &o.path)
	c.Flags().BoolVar(&o.view, "view", false, viewUsage)
	addSizeFlag(c, &o.size)
	addStackFlags(c, &o.stacks)
	addProbeFlags(c, &o.probes)
	o.judging.addFlags(c)
	return c
}

// pidArgument takes a bare pid, as other tools do, for --pid.
func pidArgument(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if _, err := strconv.Atoi(args[0]); err != nil {
		return fmt.Errorf("dwell attach: %q is not a pid (to choose by name: --name %s)", args[0], args[0])
	}
	if c.Flags().Changed("pid") {
		return errors.New("dwell attach: two pids (watch one; its children are watched with it)")
	}
	return c.Flags().Set("pid", args[0])
}

func attach(ctx context.Context, w world, g *globals, o attachOptions) error {
	roots, how, err := o.resolve()
	if err != nil {
		return fmt.Errorf("dwell attach%w", err)
	}
	var pids []int
	var names []string
	for _, p := range roots {
		pids = append(pids, p.PID)
		names = append(names, fmt.Sprintf("%s (%d)", recording.Printable(p.Comm), p.PID))
	}
	stacks, err := o.stacks.options()
	if err != nil {
		return fmt.Errorf("dwell attach: %w", err)
	}
	probes, err := o.probes.options()
	if err != nil {
		return fmt.Errorf("dwell attach: %w", err)
	}
	fmt.Fprintf(w.err, "watching %s and what belongs to it\n", strings.Join(names, ", "))
	r, err := record(ctx, w, recordOptions{
		command: "attach", view: o.view, open: openCapture, announce: true, only: true, path: o.path, length: o.length, size: o.size, pids: pids,
		capture: captureOptions{target: how, stacks: stacks, probes: probes, soon: true},
	})
	if err != nil {
		return err
	}
	if !r.interrupted && !r.timedOut {
		fmt.Fprintln(w.err, "all watched processes have ended")
	}
	r.judging = o.judging
	return finish(ctx, w, g, r)
}

// resolve returns the roots of the process trees to watch.
func (o attachOptions) resolve() ([]target.Process, string, error) {
	if o.name != "" {
		found, err := target.Find(o.name)
		if err != nil {
			return nil, "", fmt.Errorf(": %w", err)
		}
		return target.Roots(found), "attach by name", nil
	}
	p, err := target.Info(o.pid)
	if errors.Is(err, target.ErrNoProcess) {
		return nil, "", fmt.Errorf(" %d: %w (did it restart? try --name puma)", o.pid, target.ErrNoProcess)
	}
	if err != nil {
		return nil, "", fmt.Errorf(": %w", err)
	}
	return []target.Process{p}, "attach by pid", nil
}
