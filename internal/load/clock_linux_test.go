package load

import (
	"testing"

	"golang.org/x/sys/unix"
)

// The log's times are compared with the kernel's: reading the clocks in turn must give
// ascending times, give or take what reading takes.
func TestClockIsTheKernels(t *testing.T) {
	const slack = 1000 // ns
	kernel := func() int64 {
		var ts unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
			t.Fatal(err)
		}
		return ts.Nano()
	}
	for range 100 {
		c := newClock()
		before, now, after := kernel(), c.now(), kernel()
		if now < before-slack || now > after+slack {
			t.Fatalf("%d does not lie between %d and %d", now, before, after)
		}
	}
}
