//go:build linux && (amd64 || arm64)

package unwind

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"go.opentelemetry.io/ebpf-profiler/reporter/samples"
	"go.opentelemetry.io/ebpf-profiler/tracer"
	"golang.org/x/sys/unix"
)

// moments are the programs of unwind.bpf.c, which choose when a stack is taken, and the events that run them. moments
// implements the profiler's interface of a probe.
type moments struct {
	opts    Options
	objects momentObjects
	events  []io.Closer // the events that run the programs
	entry   *ebpf.Collection
	enabled bool

	profiler profilerMaps
	ruby     *rubyThreads
}

// momentObjects are the maps and programs that are used; the headers declare more.
type momentObjects struct {
	Blocked *ebpf.Program  `ebpf:"stack_blocked"`
	OnCPU   *ebpf.Program  `ebpf:"stack_on_cpu"`
	Marks   *ebpf.Map      `ebpf:"marks"`
	LeftOut *ebpf.Map      `ebpf:"stacks_left_out"`
	Costs   *ebpf.Map      `ebpf:"stack_costs"`
	Walker  *ebpf.Map      `ebpf:"walker"`
	Gaps    *ebpf.Variable `ebpf:"gaps"`
}

// allowance is what walking the stacks of waits may cost a CPU per 50 ms.
const (
	allowancePercent = 2
	allowance        = 50 * time.Millisecond * allowancePercent / 100
)

// Load implements tracer.Probe: it loads the profiler's entry program once more, with an origin of our own, and makes
// our program call it.
func (m *moments) Load(_ context.Context, reg tracer.ProbeRegistrar, pc *tracer.ProbeContext) (link.Link, error) {
	entry, err := m.loadEntry(reg, pc)
	if err != nil {
		return nil, fmt.Errorf("load the profiler's entry program: %w", err)
	}
	if m.ruby, err = findRubyThreads(pc); err != nil {
		return nil, fmt.Errorf("find what the profiler knows of Ruby: %w", err)
	}
	spec, err := loadMoments()
	if err != nil {
		return nil, fmt.Errorf("read the built-in programs for stacks: %w", err)
	}
	if err := spec.Variables[momentsVarGap].Set(uint64(m.opts.Gap)); err != nil {
		return nil, fmt.Errorf("set the time between stacks: %w", err)
	}
	if err := spec.Variables[momentsVarAllowance].Set(uint64(allowance)); err != nil {
		return nil, fmt.Errorf("set what stacks may cost: %w", err)
	}
	err = spec.LoadAndAssign(&m.objects, &ebpf.CollectionOptions{MapReplacements: map[string]*ebpf.Map{
		momentsMapWatched: m.opts.Watched, momentsMapWatchedHints: m.opts.Hints, momentsMapSpans: m.opts.Threads,
	}})
	if err != nil {
		return nil, fmt.Errorf("load the programs that choose stacks: %w", err)
	}
	if err := m.objects.Walker.Put(uint32(0), uint32(entry.FD())); err != nil {
		return nil, fmt.Errorf("connect with the profiler's entry program: %w", err)
	}
	return nil, nil
}

func (m *moments) loadEntry(reg tracer.ProbeRegistrar, pc *tracer.ProbeContext) (*ebpf.Program, error) {
	const program, origin, idle = "native_tracer_entry", "origin_id_sampling", "filter_idle_frames"
	id, err := reg.Register(&samples.TypeMetadata{SampleType: "stack", SampleUnit: "count"})
	if err != nil {
		return nil, err
	}
	spec, err := pc.CollectionSpecWith(nil, []string{program}, []string{origin, idle})
	if err != nil {
		return nil, err
	}
	err = errors.Join(spec.Variables[origin].Set(id), spec.Variables[idle].Set(true))
	if err != nil {
		return nil, err
	}
	err = m.profiler.find(spec.Programs[program].Instructions, func() error { return pc.RewriteMaps(spec, nil) })
	if err != nil {
		return nil, err
	}
	m.entry, err = ebpf.NewCollection(spec)
	if err != nil {
		return nil, err
	}
	return m.entry.Programs[program], nil
}

// attach prepares to take stacks on every CPU: one event counts context switches, the other is a timer.
func (m *moments) attach() error {
	switches := unix.PerfEventAttr{
		Config: unix.PERF_COUNT_SW_CONTEXT_SWITCHES, Sample: 1, Bits: unix.PerfBitDisabled,
	}
	timer := unix.PerfEventAttr{
		Config: unix.PERF_COUNT_SW_CPU_CLOCK, Sample: uint64(m.opts.Period),
		Bits: unix.PerfBitDisabled | unix.PerfBitExcludeIdle,
	}
	for cpu := range ebpf.MustPossibleCPU() {
		if err := m.attachCPU(cpu, switches, m.objects.Blocked); err != nil {
			return fmt.Errorf("watch the context switches of CPU %d: %w", cpu, err)
		}
		if m.opts.Period < time.Microsecond {
			continue
		}
		if err := m.attachCPU(cpu, timer, m.objects.OnCPU); err != nil {
			return fmt.Errorf("open the stack timer of CPU %d: %w", cpu, err)
		}
	}
	return nil
}

func (m *moments) attachCPU(cpu int, attr unix.PerfEventAttr, program *ebpf.Program) error {
	attr.Type = unix.PERF_TYPE_SOFTWARE
	attr.Size = uint32(unsafe.Sizeof(attr))
	fd, err := unix.PerfEventOpen(&attr, -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if errors.Is(err, unix.ENODEV) {
		return nil // the CPU is not online
	}
	if err != nil {
		return fmt.Errorf("%w (kernel.perf_event_paranoid may forbid it)", err)
	}
	m.events = append(m.events, descriptor(fd))
	l, err := link.AttachRawLink(link.RawLinkOptions{Target: fd, Program: program, Attach: ebpf.AttachPerfEvent})
	if err != nil {
		return err
	}
	m.events = append(m.events, l)
	return nil
}

// enable starts taking stacks.
func (m *moments) enable() error {
	m.enabled = true
	return m.set(unix.PERF_EVENT_IOC_ENABLE)
}

// rest pauses taking stacks, or continues.
func (m *moments) rest(rests bool) error {
	switch {
	case !m.enabled:
		return nil
	case rests:
		return m.set(unix.PERF_EVENT_IOC_DISABLE)
	}
	return m.set(unix.PERF_EVENT_IOC_ENABLE)
}

func (m *moments) set(request uint) error {
	for _, c := range m.events {
		fd, ok := c.(descriptor)
		if !ok {
			continue
		}
		if err := unix.IoctlSetInt(int(fd), request, 0); err != nil {
			return fmt.Errorf("start or stop taking stacks: %w", err)
		}
	}
	return nil
}

// detach stops taking stacks.
func (m *moments) detach() {
	for _, c := range slices.Backward(m.events) {
		c.Close()
	}
	m.events = nil
}

func (m *moments) close() {
	m.detach()
	o := &m.objects
	for _, p := range []*ebpf.Program{o.Blocked, o.OnCPU} {
		p.Close()
	}
	for _, table := range []*ebpf.Map{o.Marks, o.LeftOut, o.Costs, o.Walker} {
		table.Close()
	}
	if m.entry != nil {
		m.entry.Close()
	}
}

// cost returns what choosing and walking have cost so far.
func (m *moments) cost() (total Cost) {
	for occasion := range uint32(momentsOccasionOCCASIONS) {
		var perCPU []momentsCost
		if m.objects.Costs.Lookup(occasion, &perCPU) != nil {
			continue
		}
		for _, c := range perCPU {
			if c.Timed > 0 {
				runs := float64(c.Runs) / float64(c.Timed)
				total.NS += int64(float64(c.Ns) * runs)
				total.Inside += int64(float64(c.Inside) * runs)
			}
			if momentsOccasion(occasion) == momentsOccasionSTACK_WALK {
				total.Walks += int64(c.Runs)
			}
		}
	}
	return total
}

// leftOut counts the stacks that were wanted and not taken.
func (m *moments) leftOut() map[problem]int64 {
	out := make(map[problem]int64)
	for why, p := range map[momentsLeftOut]problem{
		momentsLeftOutLEFT_NO_ROOM: problemRoom, momentsLeftOutLEFT_ALLOWANCE: problemCost,
	} {
		var perCPU []uint64
		if m.objects.LeftOut.Lookup(uint32(why), &perCPU) != nil {
			continue
		}
		for _, n := range perCPU {
			out[p] += int64(n)
		}
	}
	return out
}

// descriptor is a plain open file descriptor.
type descriptor int

// Close implements io.Closer.
func (fd descriptor) Close() error { return unix.Close(int(fd)) }
