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
	slowest int
}

func showCommand(w world, g *globals) *cobra.Command {
	o := showOptions{whyOptions: whyOptions{command: "show"}}
	c := &cobra.Command{
		Use:     "show REC [--slowest 3] [--endpoint 'GET /x'] [--json]",
		Short:   "Show requests piece by piece: every segment, every call with its phases",
		Example: "  dwell show REC --slowest 3\n  dwell show REC --json | jq -c 'select(.endpoint == \"GET /\")'",
		Args:    exactly("REC"),
		RunE: func(c *cobra.Command, args []string) error {
			o.path = args[0]
			if !c.Flags().Changed("slowest") && o.json {
				o.slowest = 0 // scripts want them all
			} else if o.slowest <= 0 {
				return fmt.Errorf("dwell show: --slowest %d: want at least 1", o.slowest)
			}
			return show(w, g, o)
		},
	}
	c.Flags().IntVar(&o.slowest, "slowest", defaultSlowest, "how many requests, the slowest first; with --json all of them unless given")
	c.Flags().StringVar(&o.endpoint, "endpoint", "", "only the requests of this endpoint, such as 'GET /prices/{}'")
	c.Flags().BoolVar(&o.json, "json", false, "print one JSON object a line for each request")
	return c
}

func show(w world, g *globals, o showOptions) error {
	a, err := analyseFile(o.whyOptions)
	if err != nil {
		return err
	}
	if len(a.timeline.Requests) == 0 {
		return fmt.Errorf("dwell show %s: %s", o.path, a.whyEmpty())
	}
	a.warn(w, o.whyOptions)
	filter := report.Filter{Endpoint: o.endpoint, Slowest: o.slowest}
	if o.json {
		return report.ShowJSON(w.out, a.timeline, filter)
	}
	width, _ := terminal(w.out)
	return report.ShowText(w.out, a.timeline, filter, report.TextOptions{Color: g.useColor(w.out, w.getenv), Width: width})
}
