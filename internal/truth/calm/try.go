package calm

import (
	"context"
	"os"
	"strings"
	"time"
)

// How often something is tried: on a calm machine, and at most.
const (
	Attempts     = 3
	MostAttempts = 8
)

// calmWithin is how long a calm machine is waited for after an attempt that failed.
const calmWithin = time.Minute

// once is set in the environment while others use the machine: what fails so is played again without them.
const once = "DWELL_TRY_ONCE"

// Tester is what is needed of a test.
type Tester interface {
	Context() context.Context
	Error(args ...any)
	Logf(format string, args ...any)
}

// Try plays something live up to Attempts times, until it returns no problem. What else
// happens on a machine makes agreement worse and never better: agreement seen once
// is agreement, and disagreement seen every time is a fault. Attempts while the host
// gave the processors to others do not count, as long as there are not too many.
func Try(t Tester, play func() []string) { TryLater(t, func() {}, play) }

// TryLater is Try of something that others need not wait for while the host is busy: after a first attempt
// that failed it calls later, which returns when they are over.
func TryLater(t Tester, later func(), play func() []string) {
	for i, counted := 1, 0; ; i++ {
		from := Now()
		problems := play()
		if len(problems) == 0 {
			return
		}
		stolen := Stolen(from, Now())
		if stolen < Limit {
			counted++
		}
		if counted == Attempts || i == MostAttempts || os.Getenv(once) != "" {
			for _, p := range problems {
				t.Error(p)
			}
			return
		}
		if i == 1 {
			later()
		}
		waited := Wait(t.Context(), calmWithin)
		t.Logf("attempt %d of %d: %s (the host had %.1f %% of the processors; then %.0f s until they were free)",
			i, MostAttempts, strings.Join(problems, "; "), 100*stolen, waited.Seconds())
	}
}
