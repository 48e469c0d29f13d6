//go:build !linux || !(amd64 || arm64)

package main

import "github.com/getdwell/dwell/internal/capture"

// standBack has nothing to stand back from.
func standBack() {}

// recordingForbidden says why recording is not possible.
func recordingForbidden() error { return capture.ErrUnsupported }

// dropRights has nothing to give up.
func dropRights(bool) error { return nil }

// descendants are none: nothing is started here.
func descendants(int) []int { return nil }

// openCapture is the openRecorder of a machine that cannot record.
func openCapture(*recordingFile, captureOptions) (recorder, func() pulse, error) {
	return nil, nil, capture.ErrUnsupported
}
