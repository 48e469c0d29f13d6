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
	"github.com/getdwell/dwell/internal/capture/target/container"
	"github.com/getdwell/dwell/recording"
	"github.com/spf13/cobra"
)

type attachOptions struct {
	pid    int
	name   string
	inside container.Choice
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
		Use:   "attach (--pid N | --name REGEX | --container C | --pod NS/NAME | --unit U) [--for 30s] [-o REC]",
		Short: "Record a running service, and diagnose it",

		SuggestFor: []string{"record", "trace", "profile", "top", "watch"},
		Long: `Record a running service with all its threads and child processes, including those
that start later. The service is neither stopped nor changed. Ctrl-C or --for ends the
recording.

For a container, a pod or a systemd unit, all of its processes are recorded, and
those started in it later (docker exec). A container is named by its id, or by its
name if the files of Docker, containerd, CRI-O, Podman or the kubelet have it.`,
		Example: "  sudo dwell attach --pid 4242 --for 30s\n  sudo dwell attach --name puma\n" +
			"  sudo dwell attach --container shop-web-1\n  sudo dwell attach --pod prod/shop-7f9c\n  sudo dwell attach --unit nginx.service",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := pidArgument(c, args); err != nil {
				return err
			}
			if err := oneTarget(c); err != nil {
				return err
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
	c.Flags().StringVar(&o.name, "name", "", "regular expression that matches the program's name")
	addInsideFlags(c, &o.inside)
	addRecordFlags(c, &o.length, &o.path)
	c.Flags().BoolVar(&o.view, "view", false, viewUsage)
	addSizeFlag(c, &o.size)
	addStackFlags(c, &o.stacks)
	addProbeFlags(c, &o.probes)
	o.judging.addFlags(c)
	return c
}

// addInsideFlags adds the flags that choose processes by where they run.
func addInsideFlags(c *cobra.Command, o *container.Choice) {
	c.Flags().StringVar(&o.Container, "container", "", "name or id of a container, or the beginning of its id")
	c.Flags().StringVar(&o.Pod, "pod", "", "Kubernetes pod on this node: NAMESPACE/NAME, NAME or uid")
	c.Flags().StringVar(&o.Unit, "unit", "", "systemd unit, such as nginx.service")
	for _, kind := range []string{"container", "pod", "unit"} {
		c.RegisterFlagCompletionFunc(kind, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return container.Machine{}.Names(kind), cobra.ShellCompDirectiveNoFileComp
		})
	}
}

// oneTarget checks that exactly one way to choose processes is used, and that its value is not empty.
func oneTarget(c *cobra.Command) error {
	var by []string
	for _, name := range []string{"pid", "name", "container", "pod", "unit"} {
		if f := c.Flags().Lookup(name); f.Changed {
			by = append(by, "--"+name)
			if f.Value.String() == "" {
				return fmt.Errorf("dwell attach: --%s is empty", name)
			}
		}
	}
	switch {
	case len(by) == 0:
		return errors.New("dwell attach: say which process, with --pid N or --name REGEX, or with --container, --pod or --unit")
	case len(by) > 1:
		return fmt.Errorf("dwell attach: %s: choose by one of them", strings.Join(by, " and "))
	}
	return nil
}

// pidArgument accepts a bare pid for --pid, as other tools do.
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
	chosen, err := o.resolve()
	if err != nil {
		return fmt.Errorf("dwell attach%w", err)
	}
	var pids []int
	var names []string
	for _, p := range chosen.Processes {
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
	const most = 5
	if more := len(names) - most; more > 0 {
		names = append(names[:most], fmt.Sprintf("%d more", more))
	}
	fmt.Fprintf(w.err, "watching %s and what belongs to it\n", strings.Join(names, ", "))
	r, err := record(ctx, w, recordOptions{
		command: "attach", view: o.view, open: openCapture, announce: true, only: true, path: o.path, length: o.length, size: o.size, pids: pids,
		judging: o.judging,
		capture: captureOptions{target: "attach by " + chosen.What, stacks: stacks, probes: probes, soon: true, entered: chosen.Entered, groups: chosen.Groups},
	})
	if err != nil {
		return err
	}
	if !r.interrupted && !r.timedOut {
		fmt.Fprintln(w.err, "all watched processes have ended")
	}
	return finish(ctx, w, g, r)
}

// resolve finds the roots of the process trees to watch, and the other processes that belong to them.
func (o attachOptions) resolve() (chosen target.Insiders, err error) {
	if o.name != "" {
		found, err := target.Find(o.name)
		if err != nil {
			return chosen, fmt.Errorf(": %w", err)
		}
		return target.Insiders{Processes: target.Roots(found), What: "name"}, nil
	}
	if o.inside != (container.Choice{}) {
		if chosen, err = target.Inside(o.inside); err != nil {
			return chosen, fmt.Errorf(": %w", err)
		}
		chosen.Processes = target.Roots(chosen.Processes)
		return chosen, nil
	}
	p, err := target.Info(o.pid)
	if errors.Is(err, target.ErrNoProcess) {
		return chosen, fmt.Errorf(" %d: %w (did it restart? try --name puma)", o.pid, target.ErrNoProcess)
	}
	if err != nil {
		return chosen, fmt.Errorf(": %w", err)
	}
	return target.Insiders{Processes: []target.Process{p}, What: "pid"}, nil
}
