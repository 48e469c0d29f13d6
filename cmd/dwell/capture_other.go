//go:build !linux || !(amd64 || arm64)

package main

import (
	"os"

	"github.com/getdwell/dwell/internal/capture"
	"github.com/spf13/cobra"
)

// standBack has nothing to stand back from.
func standBack() {}

// recordingForbidden says why recording is not possible.
func recordingForbidden() error { return capture.ErrUnsupported }

// dropRights has nothing to give up.
func dropRights(keeping) error { return nil }

// dropLast has nothing to give up.
func dropLast() error { return nil }

// giveUpAll has nothing to give up.
func giveUpAll() error { return nil }

// startHelper starts none.
func startHelper() (*os.File, error) { return nil, capture.ErrUnsupported }

// helperCommand is of no use: there is no recorder to help.
func helperCommand() *cobra.Command { return &cobra.Command{Use: "__helper", Hidden: true} }

// descendants are none: nothing is started here.
func descendants(int) []int { return nil }

// openCapture is the openRecorder of a machine that cannot record.
func openCapture(*recordingFile, captureOptions) (recorder, func() pulse, error) {
	return nil, nil, capture.ErrUnsupported
}
