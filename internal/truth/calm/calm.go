// Package calm says how much of a virtual machine's processors its host gives to others,
// and waits until that is little. What is measured meanwhile is the host's, not the
// program's: a thread whose processor is away is woken late, and no clock inside the
// machine says so.
package calm

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Limit is the share of the processors' time from which on the machine is not calm. On a
// calm one it is below a hundredth.
const Limit = 0.02

const (
	probed = 3 * time.Second  // it comes in bursts
	turn   = time.Millisecond // what a probe works for, then sleeps
	pause  = 5 * time.Second  // between probes
)

// Times are the ticks that the processors have spent, all of them together.
type Times struct {
	stolen uint64 // given to others while something here was to run
	all    uint64
}

// Now reads the times; they stay 0 where the kernel does not tell them.
func Now() Times {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return Times{}
	}
	first, _, _ := bytes.Cut(stat, []byte("\n"))
	t, err := parse(string(first))
	if err != nil {
		return Times{}
	}
	return t
}

// parse reads the line of all processors: user, nice, system, idle, iowait, irq, softirq
// and steal; guest times, which follow, are part of user's (proc_stat(5)).
func parse(line string) (t Times, err error) {
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return Times{}, fmt.Errorf("not the line of all processors: %q", line)
	}
	for i, f := range fields[1:9] {
		n, err := strconv.ParseUint(f, 10, 64)
		if err != nil {
			return Times{}, fmt.Errorf("processor times %q: %w", line, err)
		}
		t.all += n
		if i == 7 {
			t.stolen = n
		}
	}
	return t, nil
}

// Stolen is the share of the processors' time between two readings that the host gave to
// others, 0 to 1.
func Stolen(from, to Times) float64 {
	if to.all <= from.all {
		return 0
	}
	return float64(to.stolen-from.stolen) / float64(to.all-from.all)
}

// Wait waits until the machine is calm, at most so long, and returns how long it waited.
// Time is only stolen from who wants to run, and most from who has just woken up, as
// services do all the time: so it works and sleeps in turn on all processors to see.
func Wait(ctx context.Context, most time.Duration) time.Duration {
	begin := time.Now()
	for ctx.Err() == nil {
		from := Now()
		work(probed)
		if Stolen(from, Now()) < Limit || time.Since(begin)+pause > most {
			return time.Since(begin)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	return time.Since(begin)
}

// work does so for some time.
func work(span time.Duration) {
	until := time.Now().Add(span)
	var all sync.WaitGroup
	for range runtime.NumCPU() {
		all.Go(func() {
			for time.Now().Before(until) {
				for end := time.Now().Add(turn); time.Now().Before(end); {
				}
				time.Sleep(turn)
			}
		})
	}
	all.Wait()
}
