package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/getdwell/dwell/internal/demo"
	"github.com/getdwell/dwell/internal/load"
	"github.com/spf13/cobra"
)

// demoServerCommand is one of the two processes of the demo's service.
func demoServerCommand(w world) *cobra.Command {
	var dir, store, mode string
	c := &cobra.Command{
		Use:    "__demo-server",
		Hidden: true,
		Args:   exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			m, err := demo.ParseMode(mode)
			if err != nil {
				return err
			}
			return demo.Serve(c.Context(), demo.ServeOptions{Dir: dir, Store: store, Mode: m, In: w.in, Out: w.out})
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "directory of the demo's files")
	c.Flags().StringVar(&store, "store", "", "base URL of the store; without it, be the store")
	c.Flags().StringVar(&mode, "mode", string(demo.Bad), "how the shop's HTTP client is set up")
	return c
}

// demoLoadCommand is the process that sends the demo's requests. It is separate from the recorder so that its CPU
// time is not counted as the recorder's.
func demoLoadCommand(w world) *cobra.Command {
	var url string
	var length time.Duration
	var rate float64
	c := &cobra.Command{
		Use:    "__demo-load",
		Hidden: true,
		Args:   exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			demo.TakeName("demo-client")
			result, err := load.Run(c.Context(), load.Options{URL: url, Rate: rate, For: length, Seed: 1, Path: demo.ProductPath})
			if err != nil {
				return err
			}
			return json.NewEncoder(w.out).Encode(result.Summary())
		},
	}
	c.Flags().StringVar(&url, "url", "", "base URL of the shop")
	c.Flags().DurationVar(&length, "for", demoLength, "how long to send requests")
	c.Flags().Float64Var(&rate, "rate", demoRate, "how many requests a second to send")
	return c
}

// sendDemoLoad runs demoLoadCommand in its own process.
func sendDemoLoad(ctx context.Context, url string, o demoOptions) (load.Summary, error) {
	var s load.Summary
	cmd := exec.CommandContext(ctx, "/proc/self/exe", "__demo-load", "--url", url, "--for", o.length.String(), "--rate", fmt.Sprint(o.rate))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &s)
	}
	switch {
	case err != nil:
		return s, fmt.Errorf("send the demo's requests: %w", err)
	case s.Errors+s.Failed > 0:
		return s, fmt.Errorf("%d of the demo's %d requests failed (%s)", s.Errors+s.Failed, s.Requests, s.FirstErr)
	}
	return s, nil
}

// demoServer starts this program as a demo server.
func demoServer(dir, store string, mode demo.Mode) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", "__demo-server", "--dir", dir, "--store", store, "--mode", string(mode))
	cmd.Args[0] = "dwell-demo"
	cmd.Stderr = os.Stderr
	return cmd
}
