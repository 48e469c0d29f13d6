package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/getdwell/dwell/internal/capture"
)

// stackFlags say which stacks to take, as typed.
type stackFlags struct {
	when string // "on", "off", or the minimum time between two stacks of a waiting thread
	rate int    // stacks of running code per second and CPU
}

const defaultStackRate = 97 // Hz; not a divisor of usual timer frequencies

func addStackFlags(c *cobra.Command, f *stackFlags) {
	c.Flags().StringVar(&f.when, "stacks", "on",
		"on, off, or the shortest interval between stacks of a waiting thread, such as 5ms")
	c.Flags().IntVar(&f.rate, "stack-rate", defaultStackRate, "stacks of running threads per second and CPU; 0 for none")
}

// options validates the flags.
func (f stackFlags) options() (capture.Stacks, error) {
	s := capture.DefaultStacks()
	switch f.when {
	case "on":
	case "off":
		return capture.Stacks{}, nil
	default:
		gap, err := time.ParseDuration(f.when)
		if err != nil || gap < 0 {
			return s, fmt.Errorf("--stacks %q is neither on, off nor a time such as 5ms", f.when)
		}
		s.Gap = gap
	}
	if f.rate < 0 || f.rate > 1000 {
		return s, fmt.Errorf("--stack-rate %d is not between 0 and 1000 (the timer's interrupts slow the service down)", f.rate)
	}
	if f.rate != defaultStackRate {
		s.Period = 0
		if f.rate > 0 {
			s.Period = time.Second / time.Duration(f.rate)
		}
	}
	return s, nil
}
