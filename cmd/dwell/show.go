package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/getdwell/dwell/internal/report"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/spf13/cobra"
)

// defaultSlowest is how many requests show draws unless told otherwise.
const defaultSlowest = 3

type showOptions struct {
	whyOptions
	slowest int
	tree    bool
	every   bool // function of the tree
	flames  bool
	folded  string // which part of the flame graphs, as text; "": none
	source  sourceOptions
	where   string // selects requests; "": all
	at      string // only requests in flight at this time; "": at any time
	whose   int    // a call; -1: none
}

func showCommand(w world, g *globals) *cobra.Command {
	o := showOptions{whyOptions: whyOptions{command: "show"}}
	c := &cobra.Command{
		Use:   "show REC [--slowest 3] [--where EXPR] [--at TIME] | [--whose CALL [--at TIME]] | [--slowest 3 | --tree | --under FUNCTION | --flames | --folded] [--endpoint 'GET /x'] [--json]",
		Short: "Show requests piece by piece, the call tree behind them, or the time under a function",
		Long: `Show the slowest requests piece by piece: every segment, every call with its
phases, every wait with its place, its holder and what the holder was doing.

--tree shows the functions in which an endpoint's requests spent their time, slow
requests beside ordinary ones. --under shows all that is known about the time under one
function. --whose shows which request a call belongs to, the rule that decided, and the
evidence for and against other requests; give it the --at with which the call's number
was printed. For a recording without requests, such as a benchmark's, --flames and
--folded show the threads of each program. Time in waits is exact. CPU time is exact in
total, and distributed over samples.

` + report.WhereHelp,
		Example: "  dwell show REC --slowest 3\n  dwell show REC --where 'duration>50ms and call~\"GetItem\"'\n  dwell show REC --at 10:31:07\n  dwell show REC --whose 42\n  dwell show REC --tree --endpoint 'GET /'\n  dwell show REC --under 'Cache#get'\n" +
			"  dwell show REC --folded | flamegraph.pl > flames.svg\n  dwell show REC --json | jq -c 'select(.endpoint == \"GET /\")'",
		Args: exactly("REC"),
		RunE: func(c *cobra.Command, args []string) error {
			o.path = args[0]
			if err := o.check(c); err != nil {
				return fmt.Errorf("dwell show: %w", err)
			}
			if !c.Flags().Changed("slowest") && o.json && o.under == "" {
				o.slowest = 0 // scripts want all of them
			}
			return show(w, g, o)
		},
	}
	c.Flags().IntVar(&o.slowest, "slowest", defaultSlowest, "how many requests, the slowest first (with --json: default all)")
	c.Flags().StringVar(&o.where, "where", "", "only requests that match, such as 'duration>50ms and call~\"GetItem\"' (see above)")
	c.Flags().StringVar(&o.at, "at", "", "only requests in flight then: 10:31:07 (UTC, that second), 2026-01-02T10:31:07Z, +2.5s since the start, -1s before the end")
	c.Flags().IntVar(&o.whose, "whose", -1, "show which request this call belongs to, and why; CALL is its number in the output of show")
	c.Flags().StringVar(&o.endpoint, "endpoint", "", "only the requests of this endpoint, such as 'GET /prices/{}'")
	c.Flags().BoolVar(&o.json, "json", false, "print as JSON, in the form of docs/contract.md")
	c.Flags().BoolVar(&o.tree, "tree", false, "the call tree of an endpoint's requests, merged")
	c.Flags().BoolVar(&o.every, "all-frames", false, "with --tree: every function on a line of its own")
	c.Flags().StringVar(&o.under, "under", "", underUsage)
	c.Flags().BoolVar(&o.flames, "flames", false, "flame graphs of each endpoint, on CPUs and waiting, as JSON")
	c.Flags().StringVar(&o.folded, "folded", "", "the same as folded stacks, for flamegraph.pl and speedscope: all, cpu or waiting")
	c.Flags().Lookup("folded").NoOptDefVal = report.FoldedAll
	c.RegisterFlagCompletionFunc("folded", cobra.FixedCompletions([]string{report.FoldedAll, report.FoldedCPU, report.FoldedWaiting}, cobra.ShellCompDirectiveNoFileComp))
	o.source.addFlags(c)
	o.windowing.addFlag(c)
	return c
}

func (o *showOptions) check(c *cobra.Command) error {
	switch {
	case o.slowest <= 0:
		return fmt.Errorf("--slowest %d: want at least 1", o.slowest)
	case c.Flags().Changed("slowest") && (o.tree || o.flames || o.folded != ""):
		return errors.New("--slowest is of single requests (a tree or flame graph is of all)")
	case c.Flags().Changed("under") && o.under == "":
		return errors.New("--under: which function? (as in --under Cache.get)")
	case o.folded != "" && !slices.Contains([]string{report.FoldedAll, report.FoldedCPU, report.FoldedWaiting}, o.folded):
		return fmt.Errorf("--folded=%s: want all, cpu or waiting", o.folded)
	case o.folded != "" && o.json:
		return errors.New("--folded is text (for JSON: --flames)")
	case (o.where != "" || o.at != "") && (o.tree || o.flames || o.folded != "" || o.under != ""):
		return errors.New("--where and --at choose single requests (a tree, flame graph or --under is of all)")
	case c.Flags().Changed("whose") && o.whose < 0:
		return fmt.Errorf("--whose %d: calls are numbered from 0", o.whose)
	case c.Flags().Changed("whose") && (o.where != "" || o.endpoint != "" || c.Flags().Changed("slowest")):
		return errors.New("--whose is of one call: no requests can be chosen")
	case o.every && !o.tree:
		return errors.New("--all-frames goes with --tree")
	}
	return apart(c, "tree", "under", "flames", "folded", "whose")
}

func show(w world, g *globals, o showOptions) error {
	if o.at != "" {
		o.windowing.at = func(tl *timeline.Timeline, wall wallClock) (timeline.Time, error) {
			from, _, err := moment(o.at, tl, wall)
			return from, err
		}
	}
	a, err := analyseFile(w, o.whyOptions)
	if err != nil {
		return err
	}
	grouped := o.tree || o.flames || o.folded != "" || o.under != ""
	if (o.flames || o.folded != "") && len(a.timeline.Requests) == 0 {
		return flames(w, o, report.ProgramFlames(a.timeline))
	}
	if len(a.timeline.Requests) == 0 || grouped && a.empty() {
		return fmt.Errorf("dwell show %s: %s", o.path, a.whyEmpty())
	}
	width, _ := terminal(w.out)
	source, err := o.source.open(0, whoInvoked(w.getenv))
	if err != nil {
		return fmt.Errorf("dwell show: %w", err)
	}
	defer source.end(w, "show")
	text := report.TextOptions{Color: g.useColor(w.out, w.getenv), Width: width, Source: source.lines}
	if o.whose >= 0 {
		return a.whose(w, o, text)
	}
	filter, err := o.filter(a)
	if err != nil {
		return fmt.Errorf("dwell show %s: %w", o.path, err)
	}
	switch {
	case o.under != "":
		return a.under(w, o.whyOptions, o.slowest, text)
	case grouped:
		return a.stackViews(w, o, text)
	case o.json:
		return report.ShowJSON(w.out, a.timeline, filter)
	}
	return report.ShowText(w.out, a.timeline, filter, text)
}

// whose prints the request to which a call belongs.
func (a *analysis) whose(w world, o showOptions, text report.TextOptions) error {
	x, err := report.NewWhose(a.timeline, o.whose)
	if err != nil {
		return fmt.Errorf("dwell show %s --whose: %w", o.path, err)
	}
	if o.json {
		return report.WhoseJSON(w.out, x)
	}
	return report.WhoseText(w.out, x, text)
}

// filter selects the requested requests.
func (o *showOptions) filter(a *analysis) (f report.Filter, err error) {
	f = report.Filter{Endpoint: o.endpoint, Slowest: o.slowest}
	if len(a.wall) > 0 {
		f.Wall = a.wall.at
	}
	if o.where != "" {
		if f.Where, err = report.ParseWhere(o.where); err != nil {
			return f, fmt.Errorf("--where %s: %w", o.where, err)
		}
	}
	if o.at != "" {
		from, to, err := moment(o.at, a.timeline, a.wall)
		if err != nil {
			return f, err
		}
		f.During = &[2]timeline.Time{from, to}
	}
	return f, nil
}

// stackViews prints views over all requests of an endpoint.
func (a *analysis) stackViews(w world, o showOptions, text report.TextOptions) error {
	a.noStacks(w, o.whyOptions)
	if !o.tree {
		return flames(w, o, report.AllFlames(a.timeline, a.report, o.endpoint))
	}
	how := report.TreeOptions{TextOptions: text, Endpoint: o.endpoint, All: o.every}
	trees := report.Trees(a.timeline, a.report, how)
	if o.json {
		return report.TreesJSON(w.out, trees)
	}
	return report.TreesText(w.out, trees, how)
}

// flames prints flame graphs: of requests, or of programs if there are no requests.
func flames(w world, o showOptions, list []*report.Flames) error {
	if o.folded != "" {
		return report.Folded(w.out, list, o.folded)
	}
	return report.FlamesJSON(w.out, list)
}
