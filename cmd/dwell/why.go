package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/getdwell/dwell/internal/report"
	"github.com/spf13/cobra"
)

type whyOptions struct {
	command  string // for messages
	path     string
	held     *os.File // the recording, if dwell has given up the rights to open it; nil: it is opened by its path
	endpoint string
	json     bool
	under    string // a function
	flames   bool   // with json: flame graphs too
	tells    bool   // the output says which part of the recording was analysed
	windowing
	ask     asking
	judging judging
}

func whyCommand(w world, g *globals) *cobra.Command {
	o := whyOptions{command: "why", tells: true}
	c := &cobra.Command{
		Use:     "why REC [--endpoint 'GET /x'] [--slo 'GET /x p99<20ms per 1m'] [--worth 5%] [--all] [--under FUNCTION] [--what-if CHANGE | --load xN] [--json [--flames]]",
		Short:   "Diagnose a recording: where the time went, why, and what a fix would save",
		Example: "  dwell why dwell-20260102-150405.dwell\n  dwell why REC --json | jq .findings\n  dwell why REC --what-if 'lock Cache.put work x0.5'\n  dwell why REC --load x1.5",
		Args:    exactly("REC"),
		RunE: func(_ *cobra.Command, args []string) error {
			o.path = args[0]
			if o.flames && !o.json {
				return errors.New("dwell why: --flames goes with --json (for flamegraph.pl: dwell show REC --folded)")
			}
			if o.ask.any() {
				return whatIf(w, g, o)
			}
			return why(w, g, o)
		},
	}
	c.Flags().StringVar(&o.endpoint, "endpoint", "", "only the requests of this endpoint, such as 'GET /prices/{}'")
	c.Flags().BoolVar(&o.json, "json", false, "print as JSON, in the form of docs/contract.md")
	o.judging.addFlags(c)
	o.windowing.addFlag(c)
	c.Flags().StringVar(&o.under, "under", "", underUsage)
	c.Flags().BoolVar(&o.flames, "flames", false, "with --json: the flame graphs of each endpoint as well")
	o.ask.flags(c)
	return c
}

func why(w world, g *globals, o whyOptions) error {
	a, err := analyseFile(w, o)
	if err != nil {
		return err
	}
	if o.under != "" && !a.empty() {
		width, _ := terminal(w.out)
		return a.under(w, o, 0, report.TextOptions{Color: g.useColor(w.out, w.getenv), Width: width})
	}
	if o.flames {
		a.report.Flames = report.AllFlames(a.timeline, a.report, o.endpoint)
	}
	if err := a.print(w, g, o.json); err != nil {
		return err
	}
	if a.empty() {
		return fmt.Errorf("dwell %s %s: %s", o.command, o.path, a.whyEmpty())
	}
	if a.undecided() {
		fmt.Fprintf(w.err, "dwell %s %s: nothing could be decided on %d requests%s (record longer, or send more)\n", o.command, o.path, a.report.Requests.Count, a.instead())
		return exitError{exitUndecided}
	}
	for _, s := range a.report.SLOs {
		if s.Broken > 0 {
			return exitError{exitBroken}
		}
	}
	return nil
}

// print writes the diagnosis, unless the text would be empty.
func (a *analysis) print(w world, g *globals, asJSON bool) error {
	if asJSON {
		return report.WhyJSON(w.out, a.report)
	}
	if a.empty() {
		return nil
	}
	width, _ := terminal(w.out)
	return report.Text(w.out, a.report, report.TextOptions{Color: g.useColor(w.out, w.getenv), Width: width, All: a.all, Path: a.path})
}
