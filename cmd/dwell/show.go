package main

import (
	"fmt"

	"github.com/getdwell/dwell/internal/report"
	"github.com/spf13/cobra"
)

// defaultSlowest is how many requests show draws unless told otherwise.
const defaultSlowest = 3

type showOptions struct {
	whyOptions
	slowest    int
	tree       bool
	every      bool // function of the tree
	folded     string
	sourceRoot string
}

func showCommand(w world, g *globals) *cobra.Command {
	o := showOptions{whyOptions: whyOptions{command: "show"}}
	c := &cobra.Command{
		Use:   "show REC [--slowest 3 | --tree | --under FUNCTION | --flames | --folded] [--endpoint 'GET /x'] [--json]",
		Short: "Show requests piece by piece, the call tree behind them, or the time under a function",
		Long: `Show the slowest requests piece by piece: every segment, every call with its
phases, every wait with its place, its holder and what that was doing.

With --tree, the functions beneath which an endpoint's requests spent their time,
slow requests beside ordinary ones; with --under, all that is known of the time
under one function. Time in waits is exact; CPU time is exact in sum and shared out
over samples.`,
		Example: "  dwell show REC --slowest 3\n  dwell show REC --tree --endpoint 'GET /'\n  dwell show REC --under 'Cache#get'\n" +
			"  dwell show REC --folded | flamegraph.pl > flames.svg\n  dwell show REC --json | jq -c 'select(.endpoint == \"GET /\")'",
		Args: exactly("REC"),
		RunE: func(c *cobra.Command, args []string) error {
			o.path = args[0]
			if !c.Flags().Changed("slowest") && o.json && o.under == "" {
				o.slowest = 0 // scripts want them all
			} else if o.slowest <= 0 {
				return fmt.Errorf("dwell show: --slowest %d: want at least 1", o.slowest)
			}
			return show(w, g, o)
		},
	}
	c.Flags().IntVar(&o.slowest, "slowest", defaultSlowest, "how many requests, the slowest first; with --json all of them unless given")
	c.Flags().StringVar(&o.endpoint, "endpoint", "", "only the requests of this endpoint, such as 'GET /prices/{}'")
	c.Flags().BoolVar(&o.json, "json", false, "print as JSON, in the form of docs/contract.md")
	c.Flags().BoolVar(&o.tree, "tree", false, "the call tree of an endpoint's requests, merged")
	c.Flags().BoolVar(&o.every, "all-frames", false, "with --tree: every function on a line of its own")
	c.MarkFlagsMutuallyExclusive("tree", "slowest")
	return c
}

func show(w world, g *globals, o showOptions) error {
	a, err := analyseFile(o.whyOptions)
	if err != nil {
		return err
	}
	if len(a.timeline.Requests) == 0 || o.tree && a.empty() {
		return fmt.Errorf("dwell show %s: %s", o.path, a.whyEmpty())
	}
	a.warn(w, o.whyOptions)
	width, _ := terminal(w.out)
	text := report.TextOptions{Color: g.useColor(w.out, w.getenv), Width: width}
	switch {
	case o.tree:
		a.noStacks(w, o.whyOptions)
		trees := report.Trees(a.timeline, a.report, o.endpoint)
		if o.json {
			return report.TreesJSON(w.out, trees)
		}
		return report.TreesText(w.out, trees, report.TreeOptions{TextOptions: text, All: o.every})
	case o.json:
		return report.ShowJSON(w.out, a.timeline, report.Filter{Endpoint: o.endpoint, Slowest: o.slowest})
	}
	return report.ShowText(w.out, a.timeline, report.Filter{Endpoint: o.endpoint, Slowest: o.slowest}, text)
}

// noStacks says why a view that needs stacks is empty.
func (a *analysis) noStacks(w world, o whyOptions) {
	if len(a.timeline.Stacks) == 0 {
		fmt.Fprintf(w.err, "dwell %s %s: it has no stacks (recorded with --stacks=off, or by a machine that cannot take them: see dwell doctor)\n", o.command, o.path)
	}
}
