//go:build !linux || !(amd64 || arm64)

package main

import (
	"os"

	"github.com/getdwell/dwell/internal/capture"
	"github.com/spf13/cobra"
)

// standBack does nothing here.
func standBack() {}

// recordingForbidden says why recording is not possible.
func recordingForbidden() error { return capture.ErrUnsupported }

// dropRights has nothing to give up.
func dropRights(keeping) error { return nil }

// dropLast has nothing to give up.
func dropLast() error { return nil }

// giveUpAll has nothing to give up.
func giveUpAll() error { return nil }

// startHelper starts no helper here.
func startHelper() (*os.File, error) { return nil, capture.ErrUnsupported }

// helperCommand does nothing here: there is no recorder to help.
func helperCommand() *cobra.Command { return &cobra.Command{Use: "__helper", Hidden: true} }

// descendants returns none: nothing is started here.
func descendants(int) []int { return nil }

// openCapture is the openRecorder on a machine that cannot record.
func openCapture(*recordingFile, captureOptions) (recorder, func() pulse, error) {
	return nil, nil, capture.ErrUnsupported
}
