//go:build linux && (amd64 || arm64)

package capture

import (
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The cost of a stack: in the kernel while it is walked, and in the recorder, where all work counts. Run it with
// -benchtime=1x: it takes five seconds for each runtime, whatever the count.
func BenchmarkStacks(b *testing.B) {
	for own, argv := range map[string][]string{
		"Stacks.java": {"java", "testdata/stacks/Stacks.java", "crowd"},
		"stacks.py":   {python(b), "testdata/stacks/stacks.py", "crowd"},
	} {
		b.Run(own, func(b *testing.B) {
			if _, err := exec.LookPath(argv[0]); err != nil {
				b.Skip(err)
			}
			service := start(b, 0, argv...)
			log, stop := recordStacks(b, service.Process.Pid, own,
				Stacks{On: true, Gap: 500 * time.Microsecond, Period: 5 * time.Millisecond})
			log.await(b, "blocked")
			time.Sleep(time.Second) // most stacks are known by then
			began, before, walked := ownCPU(b), log.taken(), log.session.unwinder.Cost()
			time.Sleep(4 * time.Second)
			cost := log.session.unwinder.Cost()
			if n := log.taken() - before; n > 0 && cost.Walks > walked.Walks {
				b.ReportMetric(float64(n)/4, "stacks/s")
				b.ReportMetric(float64(cost.NS-walked.NS)/float64(cost.Walks-walked.Walks), "kernel-ns/stack")
				b.ReportMetric(float64(ownCPU(b)-began)/float64(n), "recorder-ns/stack")
			}
			b.ReportMetric(0, "ns/op")
			stop()
		})
	}
}

// taken returns how many stacks were written so far.
func (s *stackLog) taken() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total
}

// ownCPU returns the CPU time of this process, in ns.
func ownCPU(b *testing.B) int64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
