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
	path   string
	out    string
	source sourceOptions
}

func reportCommand(w world) *cobra.Command {
	var o reportOptions
	c := &cobra.Command{
		Use:   "report REC [-o report.html]",
		Short: "Write the diagnosis of a recording as one page to send around",
		Long: `Write one HTML file that shows a recording to a browser: the verdict, latency over time,
requests piece by piece, threads, flame graphs, calls. It holds all it shows, asks for
nothing from anywhere, and opens without a network. All requests are on it; the slowest
are told of in full, and of the others some of each kind: dwell view REC tells of all.

The file belongs to you alone (0600) until you send it on. It names hosts, routes,
functions and files of the service, as the recording does, and no payload; lines of
source code only where --source-root or --jar says where they are. It replaces an older
page of dwell's and nothing else.`,
		Example: "  dwell report dwell-20260102-150405.dwell\n  dwell report REC -o incident-42.html",
		Args:    exactly("REC"),
		RunE: func(_ *cobra.Command, args []string) error {
			o.path = args[0]
			return reportFile(w, o)
		},
	}
	c.Flags().StringVarP(&o.out, "output", "o", "", "the file to write; else that of the recording with .html, in this directory")
	o.source.addFlags(c)
	return c
}

func reportFile(w world, o reportOptions) error {
	page, err := pageOf(w, "report", o.path, o.source)
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

// pageOf makes the page of a recording.
func pageOf(w world, command, path string, source sourceOptions) (*report.WebPage, error) {
	a, code, err := forPage(w, command, path, source)
	if err != nil {
		return nil, err
	}
	defer code.end(w, command)
	return report.NewWebPage(a.report, a.diagnosis, a.timeline, report.WebOptions{Name: filepath.Base(path), Wall: a.wall.at(a.timeline.Start), Source: code.lines}), nil
}

// forPage analyses a recording for a page, and opens the places of its source code. One without requests has
// a page, too, which says what was seen instead.
func forPage(w world, command, path string, source sourceOptions) (*analysis, *sources, error) {
	code := &sources{} // a page is sent around: lines of code are on it where they were asked for
	if source.root != "" || len(source.jars) > 0 {
		var err error
		if code, err = source.open(0, whoInvoked(w.getenv)); err != nil {
			return nil, nil, fmt.Errorf("dwell %s: %w", command, err)
		}
	}
	a, err := analyseFile(w, whyOptions{command: command, path: path})
	if err != nil {
		code.close()
	}
	return a, code, err
}

// writePage writes a page to a file; see replaceWith.
func writePage(path, title string, m web.Model, owner invoker) error {
	return replaceWith(path, owner, web.Marker, func(f pageFile) error { return web.File(f, "dwell: "+title, m) })
}
