package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// turn is how long a competitor computes, and then sleeps.
type turn struct{ busy, idle time.Duration }

// competitors are what a case can be played beside.
func competitors() map[string]turn {
	return map[string]turn{
		"half":   {5 * time.Millisecond, 5 * time.Millisecond},
		"bursts": {300 * time.Millisecond, 700 * time.Millisecond},
	}
}

// compete computes on each processor in turns until the context ends; "" does nothing.
// The cause of a case has to stay first beside it; that the fixed variant has no finding
// cannot be asked.
func compete(ctx context.Context, mode string) error {
	t, known := competitors()[mode]
	if mode == "" {
		return nil
	}
	if !known {
		return fmt.Errorf("-beside %s: it is half (of each processor) or bursts (0.3 s of each second)", mode)
	}
	cpus := runtime.NumCPU()
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + cpus) // the runner goes on
	for cpu := range cpus {
		go func() {
			runtime.LockOSThread()
			var set unix.CPUSet
			set.Set(cpu)
			_ = unix.SchedSetaffinity(0, &set) // without, it competes wherever it runs
			for ctx.Err() == nil {
				for end := time.Now().Add(t.busy); time.Now().Before(end); {
				}
				time.Sleep(t.idle)
			}
		}()
	}
	return nil
}
