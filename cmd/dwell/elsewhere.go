//go:build !linux

package main

import (
	"fmt"

	"github.com/getdwell/dwell/internal/capture"
	"github.com/spf13/cobra"
)

// The commands that need Linux also exist elsewhere, to say so.

func attachCommand(world, *globals) *cobra.Command {
	return unsupported("attach", "Record a service that runs already (Linux)")
}

func doctorCommand(world, *globals) *cobra.Command {
	return unsupported("doctor", "Say what this machine allows (Linux)")
}

func unsupported(name, short string) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short, DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error { return fmt.Errorf("dwell %s: %w", name, capture.ErrUnsupported) },
	}
}
