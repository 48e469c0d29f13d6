package main

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os/signal"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/getdwell/dwell/internal/report"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/web"
	"github.com/spf13/cobra"
)

// viewUsage describes the flag --view of commands that record.
const viewUsage = "serve the recording's page to browsers on this machine, also while recording, until Ctrl-C; the address is printed"

type viewOptions struct {
	path    string
	port    int
	source  sourceOptions
	judging judging
	windowing
}

func viewCommand(w world) *cobra.Command {
	var o viewOptions
	c := &cobra.Command{
		Use:   "view REC [--port N] [--slo 'GET /x p99<20ms per 1m']",
		Short: "Serve a recording's page to browsers on this machine, until Ctrl-C",
		Long: `Serve the page that dwell report writes, to browsers on this machine only. The address
is printed, and no browser is opened; it contains a random word that a browser has to
present. Every request can be shown in full, and the threads at any instant. Over ssh,
forward the port: ssh -L 8023:127.0.0.1:8023 HOST, with --port 8023 there.`,
		Example: "  dwell view REC\n  dwell view REC --port 8023",
		Args:    exactly("REC"),
		RunE: func(c *cobra.Command, args []string) error {
			o.path = args[0]
			if o.port < 0 || o.port > 65535 {
				return fmt.Errorf("dwell view: --port %d: want 1 to 65535, or 0 for any that is free", o.port)
			}
			a, code, err := forPage(w, shownPage{"view", o.path, o.source, o.judging, o.windowing})
			if err != nil {
				return err
			}
			defer code.end(w, "view")
			return a.view(c.Context(), w, viewing{command: "view", name: filepath.Base(o.path), port: o.port, code: code.lines})
		},
	}
	c.Flags().IntVar(&o.port, "port", 0, "port to listen on, at 127.0.0.1; 0 for any free one")
	o.source.addFlags(c)
	o.judging.addSLO(c)
	o.windowing.addFlag(c)
	return c
}

// viewing says how a page is served.
type viewing struct {
	command string // for messages
	name    string // of the recording
	port    int
	code    report.Source
}

// view serves the page until a signal ends dwell.
func (a *analysis) view(ctx context.Context, w world, o viewing) error {
	ctx, stop := signal.NotifyContext(ctx, endings()...)
	defer stop()
	p, err := newPage(o.command, o.port)
	if err != nil {
		return err
	}
	defer p.close()
	if err := p.show(a, o); err != nil {
		return err
	}
	return p.until(ctx, w)
}

// served returns the handler for a recording's page.
func (a *analysis) served(o viewing) (*web.Served, error) {
	page := report.NewWebPage(a.report, a.diagnosis, a.timeline,
		report.WebOptions{Name: o.name, Wall: a.wall.at(a.timeline.Start), Live: true, Source: o.code})
	detail := report.NewWebDetail(a.timeline, o.code)
	var one sync.Mutex // one request at a time
	alone := func(f func(url.Values) (any, error)) func(url.Values) (any, error) {
		return func(q url.Values) (any, error) {
			one.Lock()
			defer one.Unlock()
			return f(q)
		}
	}
	var data bytes.Buffer
	if err := page.WebJSON(&data); err != nil {
		return nil, err
	}
	return &web.Served{Title: "dwell: " + o.name, Data: data.Bytes(), Ask: map[string]func(url.Values) (any, error){
		"request.json": alone(func(q url.Values) (any, error) {
			id, err := strconv.Atoi(q.Get("id"))
			if err != nil || id < 0 || id >= len(a.timeline.Requests) {
				return nil, fmt.Errorf("no request %q in the recording (0 to %d)", q.Get("id"), len(a.timeline.Requests)-1)
			}
			return detail.Tell(timeline.RequestID(id)), nil
		}),
		"threads.json": alone(func(q url.Values) (any, error) {
			at, err := instant(q.Get("at"), a.timeline, a.wall)
			if err != nil {
				return nil, err
			}
			d := report.NewDump(a.timeline, report.DumpOptions{At: at, Chosen: "as asked for", Source: o.code})
			d.Wall = a.wall.at(at)
			return d, nil
		}),
		"lanes.json": alone(func(q url.Values) (any, error) {
			from, err := strconv.ParseInt(q.Get("from"), 10, 64)
			to, wrong := strconv.ParseInt(q.Get("to"), 10, 64)
			if span := int64(a.timeline.End.Sub(a.timeline.Start)); err != nil || wrong != nil || from < 0 || from >= to || to > span {
				return nil, fmt.Errorf("no span from %q to %q in the recording (nanoseconds from 0 to %d)", q.Get("from"), q.Get("to"), span)
			}
			return report.NewWebLanes(a.timeline, a.timeline.Start+timeline.Time(from), a.timeline.Start+timeline.Time(to), report.MostColumns), nil
		}),
		"where.json": alone(func(q url.Values) (any, error) {
			where, err := report.ParseWhere(q.Get("where"))
			if err != nil {
				return nil, err
			}
			return report.NewWebWhere(a.timeline, where), nil
		}),
		"under.json": alone(func(q url.Values) (any, error) {
			u := report.NewUnder(a.timeline, a.report, report.UnderOptions{Query: q.Get("function"), Endpoint: q.Get("endpoint"), Requests: 10})
			if len(u.Functions) == 0 {
				return nil, fmt.Errorf("no function %q was seen in a stack", q.Get("function"))
			}
			return u, nil
		}),
	}}, nil
}
