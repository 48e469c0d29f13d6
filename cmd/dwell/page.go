package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/getdwell/dwell/internal/report"
	"github.com/getdwell/dwell/internal/web"
	"github.com/spf13/cobra"
)

type reportOptions struct {
	path    string
	out     string
	source  sourceOptions
	judging judging
	windowing
}

func reportCommand(w world) *cobra.Command {
	var o reportOptions
	c := &cobra.Command{
		Use:   "report REC [-o report.html] [--slo 'GET /x p99<20ms per 1m']",
		Short: "Write the diagnosis of a recording as one HTML page to share",
		Long: `Write one HTML file that shows a recording to a browser: the verdict, latency over time,
requests piece by piece, threads, flame graphs, calls. It is self-contained, fetches
nothing, and opens without a network. All requests are on it. The slowest are shown in
full, and some of each kind of the others; dwell view REC shows all of them in full.

Only you can read the file (0600) until you share it. Like the recording, it names
hosts, routes, functions and files of the service, and holds no payload. It has lines of
source code only if --source-root or --jar says where they are. It overwrites older
pages of dwell and nothing else.`,
		Example: "  dwell report dwell-20260102-150405.dwell\n  dwell report REC -o incident-42.html",
		Args:    exactly("REC"),
		RunE: func(_ *cobra.Command, args []string) error {
			o.path = args[0]
			return reportFile(w, o)
		},
	}
	c.Flags().StringVarP(&o.out, "output", "o", "", "file to write (default: the recording's name with .html, in this directory)")
	o.source.addFlags(c)
	o.judging.addSLO(c)
	o.windowing.addFlag(c)
	return c
}

func reportFile(w world, o reportOptions) error {
	page, err := pageOf(w, shownPage{"report", o.path, o.source, o.judging, o.windowing})
	if err != nil {
		return err
	}
	if o.out == "" {
		base := filepath.Base(o.path)
		o.out = strings.TrimSuffix(base, filepath.Ext(base)) + ".html"
	}
	if err := writePage(o.out, page.Name, page, whoInvoked(w.getenv)); err != nil {
		return fmt.Errorf("dwell report %s: %w", o.path, err)
	}
	fmt.Fprintf(w.out, "%s: %d requests, %d of them in full; open it in a browser\n", o.out, page.Latency.Count, len(page.Requests))
	return nil
}

// shownPage is a recording for which a page is made.
type shownPage struct {
	command string // for messages
	path    string
	source  sourceOptions
	judging judging
	windowing
}

// pageOf makes the page of a recording.
func pageOf(w world, o shownPage) (*report.WebPage, error) {
	a, code, err := forPage(w, o)
	if err != nil {
		return nil, err
	}
	defer code.end(w, o.command)
	return report.NewWebPage(a.report, a.diagnosis, a.timeline, report.WebOptions{Name: filepath.Base(o.path), Wall: a.wall.at(a.timeline.Start), Source: code.lines}), nil
}

// forPage analyses a recording for a page, and opens the places of its source code. A recording without requests also
// gets a page, which says what was seen instead.
func forPage(w world, o shownPage) (*analysis, *sources, error) {
	code := &sources{} // pages are passed on: they contain code only on request
	if o.source.root != "" || len(o.source.jars) > 0 {
		var err error
		if code, err = o.source.open(0, whoInvoked(w.getenv)); err != nil {
			return nil, nil, fmt.Errorf("dwell %s: %w", o.command, err)
		}
	}
	a, err := analyseFile(w, whyOptions{command: o.command, path: o.path, judging: o.judging, windowing: o.windowing})
	if err != nil {
		code.close()
	}
	return a, code, err
}

// writePage writes a page to a file; see replaceWith.
func writePage(path, title string, m web.Model, owner invoker) error {
	return replaceWith(path, owner, web.Marker, func(f pageFile) error { return web.File(f, "dwell: "+title, m) })
}
