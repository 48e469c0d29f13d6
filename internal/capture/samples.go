//go:build linux && (amd64 || arm64)

package capture

import (
	"fmt"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"
)

// samplePeriod, in ns, is about 5 ms, and not a multiple of usual timer periods. The cost of a sample is the timer's
// interrupt: in a virtual machine, 1 kHz cost a saturated server a tenth of its throughput, and the program itself
// almost nothing.
const samplePeriod = 4_973_000

// startSampling opens the timer of goroutine samples on every CPU, once: only processes that run Go need it.
func (s *Session) startSampling() error {
	if s.timers != nil || !s.has("goroutine-samples") {
		return nil
	}
	for cpu := range cpus() {
		if err := s.sampleCPU(cpu); err != nil {
			return err
		}
	}
	return nil
}

func (s *Session) sampleCPU(cpu int) error {
	attr := unix.PerfEventAttr{
		Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CPU_CLOCK,
		Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})), Sample: samplePeriod,
		Bits: unix.PerfBitExcludeIdle,
	}
	fd, err := unix.PerfEventOpen(&attr, -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return fmt.Errorf("open the sampling timer of CPU %d: %w (kernel.perf_event_paranoid may forbid it)", cpu, err)
	}
	s.timers = append(s.timers, fileDescriptor(fd))
	s.keep(fileDescriptor(fd))
	l, err := link.AttachRawLink(link.RawLinkOptions{Target: fd, Program: s.groups["goroutine-samples"].programs[0], Attach: ebpf.AttachPerfEvent})
	if err != nil {
		return fmt.Errorf("attach to the sampling timer of CPU %d: %w", cpu, err)
	}
	s.keep(l)
	return nil
}

// timers are the timers of all CPUs.
type timers []fileDescriptor

// enable starts them.
func (t timers) enable() error { return t.set(unix.PERF_EVENT_IOC_ENABLE) }

// disable stops them, so that the CPUs are no longer interrupted.
func (t timers) disable() error { return t.set(unix.PERF_EVENT_IOC_DISABLE) }

func (t timers) set(request uint) error {
	for _, fd := range t {
		if err := unix.IoctlSetInt(int(fd), request, 0); err != nil {
			return fmt.Errorf("start or stop the timer of goroutine samples: %w", err)
		}
	}
	return nil
}

// fileDescriptor is a plain open file descriptor.
type fileDescriptor int

// Close implements io.Closer.
func (fd fileDescriptor) Close() error { return unix.Close(int(fd)) }
