//go:build linux && (amd64 || arm64)

package capture

import (
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/getdwell/dwell/internal/capture/unwind"
	"github.com/getdwell/dwell/recording"
)

// meteredProgram is a program, with the hook whose facts are lost when it is skipped.
type meteredProgram struct {
	hook    string
	program *ebpf.Program
}

// meter measures what the recorder costs and what it lost.
type meter struct {
	programs []meteredProgram
	costs    *ebpf.Map
	unwinder *unwind.Unwinder // or nil
	tls      *tlsProbes       // or nil
	golang   *goLedgers       // or nil
	storage  *storageProbes   // or nil
	budgeted []*budgetedProbe
	base     recording.Overhead
	misses   map[*ebpf.Program]uint64
	reported map[uint32]uint64 // losses already reported, by cpu*HOOKS+hook
	lost     int64
	since    recording.Time // time of the last reading
}

func newMeter(programs []meteredProgram, costs *ebpf.Map) *meter {
	m := &meter{programs: programs, costs: costs, misses: map[*ebpf.Program]uint64{}, reported: map[uint32]uint64{}}
	m.rebase()
	return m
}

// rebase excludes the cost so far.
func (m *meter) rebase() {
	m.base = m.read()
	m.since = clock()
}

// clock reads CLOCK_MONOTONIC, the clock of all facts.
func clock() recording.Time {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
		return recording.NoTime
	}
	return recording.Time(ts.Nano())
}

// computed returns the processor time that a function uses, without the time that it waits for a processor.
func computed(do func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	now := func() int64 {
		var ts unix.Timespec
		if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts) != nil {
			return 0
		}
		return ts.Nano()
	}
	from := now()
	do()
	return time.Duration(now() - from)
}

func (m *meter) read() recording.Overhead {
	var o recording.Overhead
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) == nil {
		o.UserCPU = u.Utime.Nano() + u.Stime.Nano()
	}
	o.RSS = residentBytes()
	for program := range uint32(probesProgramPROGRAMS) {
		var perCPU []probesCost
		if m.costs.Lookup(program, &perCPU) != nil {
			continue
		}
		for _, c := range perCPU {
			o.BPF += c.estimate()
			o.Inside += c.inside()
		}
	}
	if m.unwinder != nil {
		cost := m.unwinder.Cost()
		o.BPF += cost.NS
		o.Inside += cost.Inside
	}
	if m.storage != nil {
		all, inside := m.storage.cost()
		o.BPF += all
		o.Inside += inside
	}
	probes := m.probes()
	o.BPF += probes
	o.Inside += probes
	return o
}

// probes returns the cost of the probes in the code of watched processes.
func (m *meter) probes() (ns int64) {
	if m.tls != nil {
		ns += m.tls.cost()
	}
	if m.golang != nil {
		ns += m.golang.cost()
	}
	for _, p := range m.budgeted {
		ns += p.cost()
	}
	return ns
}

// spent returns the cost since an earlier reading. Both readings are estimates from samples, so the later one may be
// lower: then almost nothing was spent.
func spent(now, before int64) int64 { return max(0, now-before) }

// writes returns how often watched processes wrote to sockets, including while recording paused.
func (m *meter) writes() (n int64) {
	var perCPU []probesCost
	if m.costs.Lookup(uint32(probesProgramPROGRAM_WRITE), &perCPU) != nil {
		return 0
	}
	for _, c := range perCPU {
		n += int64(c.Watched)
	}
	return n
}

// estimate returns the time of all runs, in ns, from the timed runs: the programs time one run in METER_EVERY.
func (c probesCost) estimate() int64 { return c.scaled(c.Ns) }

// inside is the part of that on threads of watched processes.
func (c probesCost) inside() int64 { return c.scaled(c.Inside) }

func (c probesCost) scaled(ns uint64) int64 {
	if c.Timed == 0 {
		return 0
	}
	return int64(float64(ns) / float64(c.Timed) * float64(c.Runs))
}

// residentBytes returns dwell's current resident memory; 0 if it cannot be read.
func residentBytes() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, resident int64
	if _, err := fmt.Sscan(string(text), &size, &resident); err != nil {
		return 0
	}
	return resident * int64(os.Getpagesize())
}

// overhead returns the cost since the recording began.
func (m *meter) overhead(events int64) *recording.Overhead {
	o := m.read()
	o.UserCPU -= m.base.UserCPU
	o.BPF, o.Inside = spent(o.BPF, m.base.BPF), spent(o.Inside, m.base.Inside)
	o.Events = events
	return &o
}

// hookNames maps enum hook of abi.h to names.
func hookNames() [probesHookHOOKS]string {
	return [...]string{
		probesHookHOOK_SCHED: recording.HookSched, probesHookHOOK_PROCESSES: recording.HookProcesses,
		probesHookHOOK_SOCKETS: recording.HookSockets, probesHookHOOK_IO: recording.HookIO,
		probesHookHOOK_DNS: recording.HookDNS, probesHookHOOK_BOUNDARIES: recording.HookBoundaries,
		probesHookHOOK_SAMPLES: recording.HookSamples,
	}
}

// losses returns the events lost since the last call.
func (m *meter) losses(o *sharedObjects) (events []recording.Event, err error) {
	now := clock()
	for hook, name := range hookNames() {
		var perCPU []probesLoss
		if failed := o.Losses.Lookup(uint32(hook), &perCPU); failed != nil {
			err = fmt.Errorf("read losses: %w", failed)
			continue
		}
		for cpu, l := range perCPU {
			index := uint32(cpu*int(probesHookHOOKS) + hook)
			n := l.Count - m.reported[index]
			if n == 0 {
				continue
			}
			m.reported[index] = l.Count
			if failed := o.Reported.Put(index, l.Count); failed != nil { // the next loss is reported to begin at this one
				err = fmt.Errorf("acknowledge losses: %w", failed)
			}
			m.lost += int64(n)
			events = append(events, lossEvent(name, int64(cpu), probesLoss{Count: n, First: l.First, Last: l.Last}))
		}
	}
	events = append(events, m.recursion(now)...)
	m.since = now
	return events, err
}

func lossEvent(hook string, cpu int64, l probesLoss) recording.Event {
	return recording.Event{Time: recording.Time(l.Last), Fact: &recording.Loss{
		Hook: hook, CPU: cpu, Count: int64(l.Count), From: recording.Time(l.First)}}
}

// recursion counts runs that the kernel skipped because another program was running on that CPU. It does not report
// which CPU: -1.
func (m *meter) recursion(now recording.Time) []recording.Event {
	var events []recording.Event
	for _, p := range m.programs {
		stats, err := p.program.Stats()
		if err != nil {
			continue
		}
		n := stats.RecursionMisses - m.misses[p.program]
		if n == 0 {
			continue
		}
		m.misses[p.program] = stats.RecursionMisses
		m.lost += int64(n)
		events = append(events, lossEvent(p.hook, -1,
			probesLoss{Count: n, First: uint64(m.since), Last: uint64(now)}))
	}
	return events
}

// wallClock pairs the clocks. The kernel reports the start times of tasks on a clock that continues while the host is
// suspended.
func wallClock() recording.Event {
	fact := &recording.Clock{Wall: time.Now().UnixNano()}
	now := clock()
	var boot unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot) == nil {
		if d := boot.Nano() - int64(now); d >= suspendedAtLeast {
			fact.Suspended = d
		}
	}
	return recording.Event{Time: now, Fact: fact}
}

// suspendedAtLeast distinguishes a suspension from the time between two readings of clocks.
const suspendedAtLeast = int64(time.Second)
