package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"time"

	"github.com/getdwell/dwell/internal/capture"
	"github.com/getdwell/dwell/internal/demo"
	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/load"
	"github.com/getdwell/dwell/internal/report"
	"github.com/spf13/cobra"
)

const (
	demoLength = 8 * time.Second
	demoRate   = 60 // requests/s: enough for p99, far from either processor's limit
)

type demoOptions struct {
	length time.Duration
	rate   float64 // requests per second
	json   bool
	keep   string // directory in which the recordings are kept
	view   bool
}

func demoCommand(w world, g *globals) *cobra.Command {
	var o demoOptions
	c := &cobra.Command{
		Use:   "demo [--for 8s] [--json]",
		Short: "Record a built-in slow service live, diagnose it, and check the prediction on its fixed twin",
		Long: `Start a small shop and the store it reads from, send requests, record the shop and
diagnose it. Then do the same with the fault repaired, and compare the prediction with
the result. Everything stays on this machine and ends with the demo. If BPF is not
allowed here, bundled recordings of the same service are diagnosed instead.`,
		Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			if o.length < time.Second {
				return fmt.Errorf("dwell demo: --for %s: want at least 1s", o.length)
			}
			if o.rate <= 0 {
				return fmt.Errorf("dwell demo: --rate %v: want more than 0", o.rate)
			}
			if o.view && o.json {
				return errors.New("dwell demo: --json and --view cannot be given together")
			}
			return runDemo(c.Context(), w, g, o)
		},
	}
	c.Flags().DurationVar(&o.length, "for", demoLength, "how long to record each of the two variants")
	c.Flags().Float64Var(&o.rate, "rate", demoRate, "how many requests a second to send")
	c.Flags().Lookup("rate").Hidden = true // for emulated machines
	c.Flags().BoolVar(&o.json, "json", false, "print as JSON")
	c.Flags().BoolVar(&o.view, "view", false, viewUsage)
	c.Flags().StringVarP(&o.keep, "output", "o", "", "directory to leave the two recordings in")
	return c
}

// act is one variant of the demo, run and diagnosed.
type act struct {
	*analysis
	client load.Summary    // what the client measured; zero for a bundled recording
	store  demo.StoreStats // the store's own statistics
}

// stage runs the acts.
type stage struct {
	w    world
	o    demoOptions
	dir  string // of the recordings
	live bool   // false: bundled recordings
	bad  *act   // once it has run
}

func runDemo(ctx context.Context, w world, g *globals, o demoOptions) error {
	ctx, stop := signal.NotifyContext(ctx, endings()...)
	defer stop() // so that an interrupted demo leaves nothing behind either
	s := &stage{w: w, o: o, dir: o.keep, live: true}
	if o.keep != "" {
		if err := makeDirectory(o.keep, whoInvoked(w.getenv)); err != nil {
			return fmt.Errorf("dwell demo: %w", err)
		}
	} else {
		dir, err := temporaryFor(whoInvoked(w.getenv))
		if err != nil {
			return fmt.Errorf("dwell demo: %w", err)
		}
		defer os.RemoveAll(dir)
		s.dir = dir
	}
	if why := recordingForbidden(); why != nil {
		note := w.out
		if o.json {
			note = w.err
		}
		fmt.Fprintf(note, "Recording is not possible here: %s\nWhat follows comes from BUNDLED recordings of the demo's service, made on another machine.\n\n", why)
		s.live = false
	}
	if o.json {
		return s.json(ctx)
	}
	if err := s.text(ctx, g); err != nil || !o.view {
		return err
	}
	return s.bad.view(ctx, w, viewing{command: "demo", name: "the demo's slow variant"})
}

// json prints both diagnoses.
func (s *stage) json(ctx context.Context) error {
	bad, err := s.play(ctx, demo.Bad)
	if err != nil {
		return err
	}
	fixed, err := s.play(ctx, demo.Fixed)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(s.w.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	return enc.Encode(struct {
		Version int            `json:"version"`
		Live    bool           `json:"live"`
		Bad     *report.Report `json:"bad"`
		Fixed   *report.Report `json:"fixed"`
	}{1, s.live, bad.report, fixed.report})
}

// play runs one variant under load, records and diagnoses it.
func (s *stage) play(ctx context.Context, mode demo.Mode) (*act, error) {
	a := &act{}
	if mode == demo.Bad {
		s.bad = a
	}
	if !s.live {
		rec, err := bundled(mode)
		if err != nil {
			return nil, err
		}
		a.analysis, err = analyse(rec, diagnosis.Options{})
		return a, err
	}
	service, err := demo.Start(ctx, demoServer, mode)
	if err != nil {
		return nil, fmt.Errorf("dwell demo: %w", err)
	}
	defer service.Stop()
	path := filepath.Join(s.dir, string(mode)+".dwell")
	if err := s.recordUnderLoad(ctx, service, path, a); err != nil {
		return nil, err
	}
	if a.store, err = service.StoreStats(ctx); err != nil {
		return nil, fmt.Errorf("dwell demo: %w", err)
	}
	if a.analysis, err = analyseFile(s.w, whyOptions{command: "demo", path: path}); err != nil {
		return nil, err
	}
	if a.empty() {
		return nil, fmt.Errorf("dwell demo: %s", a.whyEmpty())
	}
	a.path = "" // it is deleted with the demo
	return a, nil
}

// recordUnderLoad records the shop for as long as the load lasts.
func (s *stage) recordUnderLoad(ctx context.Context, service *demo.Service, path string, a *act) error {
	ctx, cancel := context.WithCancel(ctx)
	sent := make(chan struct{})
	var sender sync.WaitGroup
	defer func() { cancel(); sender.Wait() }() // the load ends with the recording
	var failed error
	begin := func() error {
		sender.Go(func() {
			defer close(sent)
			a.client, failed = sendDemoLoad(ctx, service.URL, s.o)
		})
		return nil
	}
	r, err := record(ctx, s.w, recordOptions{
		command: "demo", open: openCapture, path: path, capture: captureOptions{target: "demo", stacks: capture.DefaultStacks()}, pids: []int{service.PID},
		begin: begin, until: sent,
	})
	if err != nil {
		return err
	}
	if r.interrupted {
		return errors.New("dwell demo: interrupted")
	}
	<-sent
	if failed != nil {
		return fmt.Errorf("dwell demo: %w", failed)
	}
	return nil
}
