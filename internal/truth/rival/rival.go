// Package rival competes for the processors, in turns of computing and sleeping.
package rival

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// turn is how long a competitor computes, and then sleeps.
type turn struct{ busy, idle time.Duration }

// modes are how a competitor may compete.
func modes() map[string]turn {
	return map[string]turn{
		"half":   {5 * time.Millisecond, 5 * time.Millisecond},
		"bursts": {300 * time.Millisecond, 700 * time.Millisecond},
	}
}

// Compete computes on each processor in turns until the context ends: half of the time, or in
// bursts; "" does nothing.
func Compete(ctx context.Context, mode string) error {
	t, known := modes()[mode]
	if mode == "" {
		return nil
	}
	if !known {
		return fmt.Errorf("a competitor for %s: it is half (of each processor) or bursts (0.3 s of each second)", mode)
	}
	cpus := runtime.NumCPU()
	before := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(before + cpus) // the program goes on
	context.AfterFunc(ctx, func() { runtime.GOMAXPROCS(before) })
	for cpu := range cpus {
		go func() {
			runtime.LockOSThread() // without an unlock: the thread, which is bound to a processor, ends
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
