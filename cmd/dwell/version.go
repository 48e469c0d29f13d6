package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/getdwell/dwell/recording"
	"github.com/spf13/cobra"
)

func versionCommand(w world) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of dwell and of the recordings it reads",
		Args:  exactly(),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(w.out, versionLine())
			return err
		},
	}
}

func versionLine() string {
	return fmt.Sprintf("dwell %s, recording format %d, %s/%s", version(), recording.Version, runtime.GOOS, runtime.GOARCH)
}

// version is the version that the Go toolchain stamped into the binary.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}
