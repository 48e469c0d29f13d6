//go:build linux && (amd64 || arm64)

package main

import (
	"context"
	"runtime"

	"github.com/getdwell/dwell/internal/capture"
)

// liveRecorder is a capture session with the place its facts go to.
type liveRecorder struct {
	*capture.Session
	sink *recordingFile
}

// Run implements recorder. It keeps to one processor at a time: with more, Go wakes others
// at every turn to look for work that there is none of, in the place of the service.
func (r liveRecorder) Run(ctx context.Context) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	return r.Session.Run(ctx, r.sink)
}

// standBack lets the service go first while its recording is analysed.
func standBack() { capture.StandBack() }

// dropRights is world.dropRights where dwell can record.
func dropRights() error { return capture.DropRights() }

// openCapture is the openRecorder of live recordings.
func openCapture(sink *recordingFile, how captureOptions) (recorder, func() pulse, error) {
	session, err := capture.Open(capture.Options{
		Tool: version(), Target: how.target, Stacks: how.stacks, TLSHeads: how.probes.tls, NoGoProbes: how.probes.noGo, Everything: how.probes.all,
		Launched: how.gate, Refuse: how.refuse,
	})
	if err != nil {
		if why := recordingForbidden(); why != nil {
			err = why // says more, and what to do
		}
		return nil, nil, err
	}
	read := func() pulse {
		s := session.Stats()
		return pulse{requests: s.Requests, rate: s.Rate, p50: s.P50, p99: s.P99, lost: s.Lost, cpu: int64(s.CPU * 1000), noStacks: s.NoStacks, resting: s.Resting}
	}
	return liveRecorder{session, sink}, read, nil
}
