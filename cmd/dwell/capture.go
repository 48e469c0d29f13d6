//go:build linux && (amd64 || arm64)

package main

import (
	"cmp"
	"context"
	"runtime"
	"strings"

	"github.com/getdwell/dwell/internal/capture"
	"github.com/getdwell/dwell/internal/capture/target"
)

// liveRecorder is a capture session and the sink for its facts.
type liveRecorder struct {
	*capture.Session
	sink *recordingFile
}

// Run implements recorder. When all hooks are active it uses one processor at a time. With more, Go wakes other
// threads again and again to look for work that does not exist, and these take processor time from the service.
func (r liveRecorder) Run(ctx context.Context) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	return r.Session.Run(ctx, r.sink)
}

// standBack lowers dwell's priority so that the service goes first while its recording is analysed.
func standBack() { capture.StandBack() }

// dropRights is world.dropRights on machines that can record.
func dropRights(k keeping) error {
	return capture.DropRights(capture.Keeping{Runs: k.runs, Places: k.places, Started: k.starts, Helper: k.helper, PIDs: k.pids, Groups: k.groups})
}

// dropLast is world.dropLast on machines that can record.
func dropLast() error { return capture.DropLast() }

// descendants returns the living descendants of a process, as far as they can be listed.
func descendants(pid int) []int {
	family, err := target.Family(pid)
	if err != nil {
		return nil
	}
	return family[1:]
}

// openCapture is the openRecorder of live recordings.
func openCapture(sink *recordingFile, how captureOptions) (recorder, func() pulse, error) {
	session, err := capture.Open(capture.Options{
		Tool: version(), Target: how.target, Stacks: how.stacks, TLSHeads: how.probes.tls, Go: how.probes.golang, Version: how.probes.version, Entered: how.entered, Everything: how.probes.all,
		Launched: how.gate, Refuse: how.refuse, Soon: how.soon, Begun: how.begun, Joined: func() {
			runtime.GOMAXPROCS(1)
			how.joined()
		},
	})
	if err != nil {
		if why := machineForbids(); why != nil {
			err = why // it says more, including what to do
		}
		return nil, nil, err
	}
	read := func() pulse {
		s := session.Stats()
		return pulse{requests: s.Requests, rate: s.Rate, p50: s.P50, p99: s.P99, lost: s.Lost, cpu: int64(s.CPU * 1000), noStacks: s.NoStacks, resting: s.Resting}
	}
	return liveRecorder{session, sink}, read, nil
}

// recordingForbidden tries to record. It says why this machine or these rights do not allow it; nil if they do.
func recordingForbidden() error {
	session, err := capture.Open(capture.Options{})
	if err != nil {
		return cmp.Or(machineForbids(), err)
	}
	return session.Close()
}

// tryPrograms briefly loads each group of programs into the kernel.
func tryPrograms(refuse []string) (checks []target.Check, refused []refusedProgram) {
	features, err := capture.Features(refuse)
	if err != nil {
		return []target.Check{{Name: "programs", Required: true, Detail: err.Error()}}, nil
	}
	for _, f := range features {
		check := target.Check{Name: f.Name, OK: f.OK, Required: f.Needed, Detail: cmp.Or(strings.Join(f.By, " "), "loads")}
		if !f.OK {
			check.Detail = "not seen: " + f.Lacks
		}
		var why []string
		for _, r := range f.Refusals {
			why = append(why, r.Error())
			refused = append(refused, refusedProgram{r, r.Log})
		}
		if check.Remedy = strings.Join(why, "; "); f.OK && check.Remedy != "" {
			check.Detail, check.Remedy = check.Detail+", instead of "+check.Remedy, ""
		}
		if f.OK && f.Less != "" {
			check.Detail += "; not seen: " + f.Less
		}
		checks = append(checks, check)
	}
	return checks, refused
}
