package main

import (
	"fmt"
	"strings"
	"time"
)

// costs is the part of the page that says what one event and one stack cost.
func costs(rows []row) string {
	var b strings.Builder
	b.WriteString(`
## What one event costs

What dwell's programs take in the kernel, by their own clocks (one run in 64 is timed):
ns a run, and runs a request. Most runs of switch, waking and state meet a thread that is not
watched and end there. "stack-moment" is the decision whether a moment is worth a
stack, "stack-walk" the walk itself. Without the interrupt of the timer or the trap of the
tracepoint, which the ratios above hold too.

| | program | ns a run | runs a request |
|---|---|---|---|
`)
	for _, r := range rows {
		if !r.own {
			continue
		}
		last := r.with[len(r.with)-1]
		for _, p := range last.recorder.programs {
			if p.Runs > 0 {
				fmt.Fprintf(&b, "| %s | %s | %d | %.3f |\n", r.name, p.Program, int64(p.Time)/p.Runs, float64(p.Runs)/float64(last.Answered))
			}
		}
	}
	b.WriteString(`
In user space, of the recorder: CPU for each event it read, ring to file, stacks included.

| | events a request | stacks a request | us an event |
|---|---|---|---|
`)
	for _, r := range rows {
		last := r.with[len(r.with)-1]
		if r.own && last.recorder.events > 0 {
			perRequest := last.recorder.user * float64(time.Second/time.Microsecond) / last.Rate
			fmt.Fprintf(&b, "| %s | %.1f | %.3f | %.2f |\n", r.name, last.recorder.events, last.recorder.stacks, perRequest/last.recorder.events)
		}
	}
	return b.String()
}
