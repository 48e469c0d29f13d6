package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/hypotheses"
	"github.com/getdwell/dwell/internal/report"
	"github.com/spf13/cobra"
)

type diffOptions struct {
	paths    [2]string
	walls    [2]int64 // wall time of their starts
	excerpts [2]*report.Excerpt
	programs []string
	endpoint string
	json     bool
	judging  judging
	windowing
	out string // path of a page; "": print
}

func diffCommand(w world, g *globals) *cobra.Command {
	var o diffOptions
	c := &cobra.Command{
		Use:   "diff A B [--program NAME[,NAME]] [--endpoint 'GET /x'] [--slo 'p99<20ms'] [--json | -o diff.html]",
		Short: "Compare two recordings: latencies, findings, and what one of them did not exercise",
		Long: `Compare two recordings. If they have requests: the latencies of each endpoint, which
findings are gone and which are new, and predicted savings beside the measured ones.
For all recordings, benchmarks included: how much ran concurrently, on how many
processors, what it waited for, what it read, wrote and synced, and CPU by function.
What B did and A hardly did comes first.

The program that served requests is compared. In recordings without requests it is one
that both have, or else the one that used most CPU (build tools, such as go and
compile, come last). --program names another, or one for each side.`,
		Example: "  dwell diff before.dwell after.dwell\n  dwell diff bench.dwell prod.dwell --program store.test,store",
		Args:    exactly("A", "B"),
		RunE: func(_ *cobra.Command, args []string) error {
			o.paths = [2]string{args[0], args[1]}
			return diff(w, g, o)
		},
	}
	c.Flags().StringSliceVar(&o.programs, "program", nil, "the executable to compare, or two: of A and of B")
	o.judging.addSLO(c)
	o.windowing.addFlag(c)
	c.Flags().StringVar(&o.endpoint, "endpoint", "", "only the requests of this endpoint, such as 'GET /prices/{}'")
	c.Flags().StringVarP(&o.out, "output", "o", "", "write a page instead, as dwell report does: both sides on one scale, predicted savings beside measured ones")
	c.Flags().BoolVar(&o.json, "json", false, "print as JSON, in the form of docs/contract.md")
	return c
}

func diff(w world, g *globals, o diffOptions) error {
	if len(o.programs) > 2 {
		return fmt.Errorf("dwell diff: --program %s: want one name, or two: of A and of B", strings.Join(o.programs, ","))
	}
	var sides [2]diagnosis.Compared
	for i, path := range o.paths {
		var err error
		if sides[i], err = o.side(w, i, path); err != nil {
			return err
		}
	}
	names := append(endpoints(sides[0].Timeline), endpoints(sides[1].Timeline)...)
	if slices.Sort(names); o.endpoint != "" && !slices.Contains(names, o.endpoint) {
		return fmt.Errorf("dwell diff: no request of endpoint %q in either recording (there are: %s)", o.endpoint, orNone(slices.Compact(names)))
	}
	d := report.NewDiff(diagnosis.Compare(sides[0], sides[1]))
	d.A.Excerpt, d.B.Excerpt = o.excerpts[0], o.excerpts[1]
	if o.out != "" {
		return o.page(w, d, sides)
	}
	if o.json {
		return report.DiffJSON(w.out, d)
	}
	width, _ := terminal(w.out)
	return report.DiffText(w.out, d, report.TextOptions{Color: g.useColor(w.out, w.getenv), Width: width})
}

// page writes the comparison as a page.
func (o *diffOptions) page(w world, d *report.Diff, sides [2]diagnosis.Compared) error {
	if o.json {
		return errors.New("dwell diff: --json prints (without -o)")
	}
	var pages [2]*report.WebPage
	var flames [2][]*report.Flames
	for i, s := range sides {
		r := report.Build(s.Diagnosis, s.Timeline)
		r.Recording.Excerpt = o.excerpts[i]
		pages[i] = report.NewWebPage(r, s.Diagnosis, s.Timeline, report.WebOptions{Name: filepath.Base(o.paths[i]), Wall: o.walls[i], Slim: true})
		flames[i] = report.AllFlames(s.Timeline, r, "")
	}
	title := pages[0].Name + " and " + pages[1].Name
	if err := writePage(o.out, title, report.NewWebDiff(d, pages, flames), whoInvoked(w.getenv)); err != nil {
		return fmt.Errorf("dwell diff: %w", err)
	}
	fmt.Fprintf(w.out, "%s: open it in a browser\n", o.out)
	return nil
}

// side reads one recording.
func (o *diffOptions) side(w world, i int, path string) (diagnosis.Compared, error) {
	got, err := whyOptions{command: "diff", path: path, windowing: o.windowing}.rebuild(w)
	if err != nil {
		return diagnosis.Compared{}, err
	}
	tl := got.Timeline
	o.walls[i], o.excerpts[i] = got.wall.at(tl.Start), report.NewExcerpt(tl, got.excerpt)
	bounds, err := o.judging.options(o.endpoint)
	if err != nil {
		return diagnosis.Compared{}, fmt.Errorf("dwell diff: %w", err)
	}
	side := diagnosis.Compared{Timeline: tl, Diagnosis: diagnosis.DiagnoseBy(workers(), tl, hypotheses.All(), bounds)}
	if len(o.programs) > 0 {
		side.Program = o.programs[min(i, len(o.programs)-1)]
		if names := diagnosis.Programs(tl); !slices.Contains(names, side.Program) {
			return side, fmt.Errorf("dwell diff %s: no program %q in it (there are: %s)", path, side.Program, orNone(names))
		}
	}
	return side, nil
}
