package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

const longHelp = `dwell answers one question about a running service, with no code change and no
restart: my client sees 60 ms, the database says 4 ms: where did the other 56 ms
go, why, and what would fixing it save?

It records what threads, sockets and locks did, rebuilds every request and every
outgoing call, accounts for all of each request's time, and tests a fixed list of
explanations. Each is found, a lead, minor, ruled out or undecided, with numbers.

Exit status: 0 done, 1 a promised latency (--slo) was broken, 2 cannot (usage,
rights, input), 3 nothing could be decided, 70 a defect of dwell.`

const examples = `  sudo dwell run -- node app.js             start a service and watch it until Ctrl-C
  sudo dwell attach --pid 4242 --for 30s    watch a running service
  dwell why REC                             the diagnosis of a recording
  dwell show REC --slowest 3                its slowest requests, piece by piece
  dwell threads REC                         what every thread waited for, and which thread had it
  dwell diff A B                            two recordings: what a change saved, what a benchmark missed
  dwell doctor                              what this machine allows
  sudo dwell demo                           watch it find the fault of a built-in service`

// globals are the flags that every subcommand has.
type globals struct {
	noColor bool
}

func rootCommand(w world) *cobra.Command {
	var g globals
	root := &cobra.Command{
		Use:                        "dwell",
		Short:                      "Where did the time of a request go, why, and what would a fix save?",
		Long:                       longHelp,
		Example:                    examples,
		Version:                    versionLine(),
		SilenceErrors:              true, // execute prints them
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
		Args:                       cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(c, args[0])
			}
			return c.Help()
		},
	}
	root.SetIn(w.in)
	root.SetOut(w.out)
	root.SetErr(w.err)
	root.SetVersionTemplate("{{.Version}}\n")
	root.PersistentFlags().BoolVar(&g.noColor, "no-color", false, "print without colours (also: NO_COLOR in the environment)")
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(
		runCommand(w, &g), attachCommand(w, &g), whyCommand(w, &g), showCommand(w, &g), threadsCommand(w, &g), diffCommand(w, &g), reportCommand(w), viewCommand(w),
		doctorCommand(w, &g), demoCommand(w, &g), versionCommand(w),
		factsCommand(w), launchCommand(), helperCommand(), decompileCommand(), demoServerCommand(w), demoLoadCommand(w), soFarCommand(w),
	)
	return root
}

func unknownCommand(c *cobra.Command, name string) error {
	if near := c.SuggestionsFor(name); len(near) > 0 {
		return fmt.Errorf("dwell: there is no command %q; did you mean %s?", name, strings.Join(near, " or "))
	}
	return fmt.Errorf("dwell: there is no command %q (see dwell --help)", name)
}

// exactly requires one argument for each of names.
func exactly(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		if len(names) == 0 {
			return fmt.Errorf("%s takes no arguments, but got %q", c.CommandPath(), args[0])
		}
		return fmt.Errorf("%s needs %s (usage: %s)", c.CommandPath(), strings.Join(names, " and "), c.UseLine())
	}
}

// apart refuses two of these flags at once.
func apart(c *cobra.Command, names ...string) error {
	given := slices.DeleteFunc(names, func(name string) bool { return !c.Flags().Changed(name) })
	if len(given) > 1 {
		return fmt.Errorf("--%s and --%s cannot be given together", given[0], given[1])
	}
	return nil
}
