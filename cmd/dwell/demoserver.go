package main

import (
	"os"
	"os/exec"

	"github.com/getdwell/dwell/internal/demo"
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

// demoServer starts this very program as a demo server.
func demoServer(dir, store string, mode demo.Mode) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", "__demo-server", "--dir", dir, "--store", store, "--mode", string(mode))
	cmd.Args[0] = "dwell-demo"
	cmd.Stderr = os.Stderr
	return cmd
}
