//go:build linux && (amd64 || arm64)

package unwind

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/ringbuf"
	"go.opentelemetry.io/ebpf-profiler/interpreter/interpreterconfig"
	"go.opentelemetry.io/ebpf-profiler/interpreter/ruby"
	"go.opentelemetry.io/ebpf-profiler/libpf"
	profilerlog "go.opentelemetry.io/ebpf-profiler/log"
	"go.opentelemetry.io/ebpf-profiler/support"
	"go.opentelemetry.io/ebpf-profiler/times"
	"go.opentelemetry.io/ebpf-profiler/tracer"

	"github.com/getdwell/dwell/recording"
)

// Options of an Unwinder.
type Options struct {
	Watched *ebpf.Map     // processes to take stacks of: the recorder's map
	Hints   *ebpf.Map     // the recorder's map of hints, which is checked before Watched
	Threads *ebpf.Map     // the recorder's map of the state of threads
	Gap     time.Duration // minimum time between two stacks of a thread that waits for the same class of things
	Period  time.Duration // of the timer that takes stacks of running threads; 0: none
	Python  bool          // walk stacks of Python: loading that takes the kernel's verifier seconds
}

// Taken is one stack that was taken. The thread is identified by the kernel's ids.
type Taken struct {
	Time      recording.Time
	TID, TGID uint32
	Start     uint64 // of the thread, ns since boot
	Origin    recording.StackOrigin
	Goroutine recording.GoroutineID
	Stack     recording.StackID
}

// Batch is what came in since the last one. The caller owns its slices.
type Batch struct {
	Declared []recording.Fact // Frames and Stacks that Taken uses for the first time
	Taken    []Taken
	Lost     []Lost
	Missing  []recording.Missing
}

// Lost are stacks that were walked but did not arrive, because a buffer was full.
type Lost struct {
	CPU, Count  int64
	First, Last recording.Time
}

// Unwinder takes stacks from Begin to Stop.
type Unwinder struct {
	tracer  *tracer.Tracer
	moments moments
	cancel  context.CancelFunc
	traces  chan *libpf.EbpfTrace
	workers sync.WaitGroup
	begun   func() error // enables the moments, once

	mu     sync.Mutex // guards the following fields
	marks  *marks
	stacks *stacks
	batch  Batch
}

const (
	// ringBytes is the space for stacks on their way out of the kernel: some thousand stacks.
	ringBytes = 8 << 20
	// pollEvery is how often the profiler empties it, at most 4096 stacks each time.
	pollEvery = 50 * time.Millisecond
	// lookEvery is how often it looks for processes to be examined.
	lookEvery = 250 * time.Millisecond
	// cleanEvery is how often data of ended processes is dropped.
	cleanEvery = 10 * time.Second
	// frameCache is how many symbolised frames it keeps.
	frameCache = 8192
	// mapScale makes its maps, which are sized for all processes of a host, 2^4 times smaller.
	mapScale = -4
)

// Start loads the profiler; Begin then takes stacks. It needs rights that may be dropped afterwards; for those that
// are needed to examine new processes, see DropRights in package capture.
func Start(o Options) (*Unwinder, error) {
	if err := RaiseMemlock(); err != nil {
		return nil, err
	}
	profilerlog.SetLogger(*slog.New(slog.DiscardHandler)) // only the command prints
	ctx, cancel := context.WithCancel(context.Background())
	u := &Unwinder{cancel: cancel, traces: make(chan *libpf.EbpfTrace, 16), marks: newMarks(), stacks: newStacks()}
	u.moments.opts = o
	u.begun = sync.OnceValue(u.moments.enable)
	if err := u.start(ctx); err != nil {
		u.Close()
		return nil, err
	}
	return u, nil
}

func (u *Unwinder) start(ctx context.Context) error {
	var err error
	u.tracer, err = undisturbed(func() (*tracer.Tracer, error) { return tracer.NewTracer(ctx, u.config()) })
	if err != nil {
		return fmt.Errorf("start the stack profiler: %w", err)
	}
	examiner, err := newExaminer(u.tracer, u.note)
	if err != nil {
		return err
	}
	u.workers.Go(func() { examiner.run(ctx) })
	// Without it, data of an ended process is dropped a little later.
	_ = u.tracer.AttachSchedMonitor()
	if err := u.tracer.StartMapMonitors(ctx, u.traces); err != nil {
		return fmt.Errorf("start the stack profiler: %w", err)
	}
	if err := u.tracer.Enable(ctx, &u.moments); err != nil {
		return err
	}
	reader, err := ringbuf.NewReader(u.moments.objects.Marks)
	if err != nil {
		return fmt.Errorf("open the buffer of stack marks: %w", err)
	}
	u.marks.open(reader)
	u.workers.Go(func() { u.receive(ctx) })
	return u.moments.attach()
}

func (u *Unwinder) config() *tracer.Config {
	c := &tracer.Config{
		TraceReporter: u.stacks, ExecutableReporter: u.stacks.symbols,
		InterpretersConfig: u.interpreters(),
		SamplesPerSecond:   max(1, ringBytes/(runtime.NumCPU()*support.Sizeof_Trace)),
		MapScaleFactor:     mapScale, FrameCacheSize: frameCache,
		FilterIdleFrames:      true,
		ProbabilisticInterval: time.Minute, ProbabilisticThreshold: tracer.ProbabilisticThresholdMax,
		IncludeEnvVars: libpf.Set[string]{},
	}
	c.Intervals = intervals{times.New(time.Minute, lookEvery, time.Minute), c}
	return c
}

// interpreters disables the runtimes that dwell does not watch.
func (u *Unwinder) interpreters() interpreterconfig.Config {
	c := interpreterconfig.NoInterpreters()
	c.Hotspot.Disabled, c.V8.Disabled, c.Go.Disabled = false, false, false
	c.Python.Disabled = !u.moments.opts.Python
	c.Go.Labels.Disabled = true
	c.Ruby = ruby.Config{SkipNativeResume: true}
	return c
}

// Begin starts taking stacks of the watched processes.
func (u *Unwinder) Begin() error { return u.begun() }

// SetGaps tells the programs how many times recording has paused or resumed. While the number is odd they take no
// stacks, and the events that run them are disabled.
func (u *Unwinder) SetGaps(n uint32) error {
	return errors.Join(u.moments.objects.Gaps.Set(n), u.moments.rest(n%2 == 1))
}

// Examine lets the profiler examine a process before its first stack is requested, or after it has begun to run
// another program: earlier data about it is dropped.
func (u *Unwinder) Examine(pid int) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.marks.forget(uint32(pid))
	u.stacks.ruby.forget(libpf.PID(pid))
	delete(u.stacks.golang, libpf.PID(pid))
	clear(u.stacks.raw)
	return u.examine(pid)
}

func (u *Unwinder) examine(pid int) error {
	err := u.moments.profiler.pids.Put(uint64(pid)<<32|uint64(pid), true)
	if err != nil {
		return fmt.Errorf("ask the stack profiler to examine process %d: %w", pid, err)
	}
	return nil
}

// Python reports whether it can name frames of Python.
func (u *Unwinder) Python() bool { return u.moments.opts.Python }

// intervals are the profiler's, with a shorter time between polls.
type intervals struct {
	*times.Times
	config *tracer.Config
}

// MonitorInterval implements tracer.Intervals. The profiler calls it first when the programs have been loaded. If
// LoadProbe were set earlier, each program would be loaded a second time, to be called by kernel probes, which takes
// the verifier seconds. Our moments call the first ones; Enable only checks that the others were requested.
func (i intervals) MonitorInterval() time.Duration {
	i.config.LoadProbe = true
	return i.Times.MonitorInterval()
}

// TracePollInterval implements tracer.Intervals.
func (intervals) TracePollInterval() time.Duration { return pollEvery }

// receive turns data from the kernel into stacks.
func (u *Unwinder) receive(ctx context.Context) {
	again := time.NewTicker(pollEvery)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-again.C:
			u.correctRuby()
		case trace := <-u.traces:
			if trace != nil {
				survive(u.note, func() { u.handle(trace) })
			}
		}
	}
}

// correctRuby completes the profiler's data about processes of Ruby.
func (u *Unwinder) correctRuby() {
	if err := u.moments.ruby.correct(); err != nil {
		u.note(problem(err.Error()))
	}
}

func (u *Unwinder) handle(trace *libpf.EbpfTrace) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.marks.read()
	m, ok := u.marks.take(trace.PID, trace.TID, trace.KTime)
	stack, problem := u.stacks.of(trace, u.tracer.HandleTrace)
	if !ok {
		return // its mark was dropped
	}
	if problem == problemCode {
		problem = u.unexamined(m.Tgid)
	}
	if problem != problemNone {
		u.miss(problem)
		return
	}
	u.marks.ready(m.Tgid)
	u.batch.Taken = append(u.batch.Taken, Taken{
		Time: recording.Time(m.Ts), TID: m.Tid, TGID: m.Tgid, Start: m.Start, Origin: originOf(m),
		Goroutine: recording.GoroutineID(m.Goid), Stack: stack,
	})
}

// tryAgain is how many stacks in a row may lead through unknown code before the process is examined once more.
const tryAgain = 32

// unexamined counts a stack that led through code that the profiler does not know. The profiler notices that by
// itself, but after a failure it waits long.
func (u *Unwinder) unexamined(tgid uint32) problem {
	u.marks.failed[tgid]++
	if u.marks.failed[tgid]%tryAgain == 0 {
		if err := u.examine(int(tgid)); err != nil {
			return problem(err.Error())
		}
	}
	if !u.marks.known[tgid] {
		return problemEarly
	}
	return problemCode
}

func originOf(m momentsStackMark) recording.StackOrigin {
	if momentsOccasion(m.Occasion) == momentsOccasionSTACK_ON_CPU {
		return recording.StackOnCPU
	}
	return recording.StackBlocked
}

// Collect returns what came in since the last call.
func (u *Unwinder) Collect() Batch {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.marks.read()
	u.expire(unanswered)
	return u.handOver()
}

func (u *Unwinder) handOver() Batch {
	b := u.batch
	b.Declared = u.stacks.declared()
	u.batch = Batch{}
	return b
}

// expire gives up marks that no stack has followed for this long.
func (u *Unwinder) expire(after time.Duration) {
	lost, early := u.marks.expire(after)
	u.batch.Lost = append(u.batch.Lost, lost...)
	for range early {
		u.miss(problemEarly)
	}
}

// note is miss for callers that do not hold the lock.
func (u *Unwinder) note(p problem) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.miss(p)
}

func (u *Unwinder) miss(p problem) {
	for i := range u.batch.Missing {
		if u.batch.Missing[i].Why == p.why() {
			u.batch.Missing[i].Count++
			return
		}
	}
	u.batch.Missing = append(u.batch.Missing, recording.Missing{What: "stacks", Why: p.why(), Count: 1})
}

// Cost is what choosing and walking stacks has cost in the kernel.
type Cost struct {
	NS     int64
	Inside int64 // the part of that on threads of watched processes
	Walks  int64
}

// Cost returns the cost so far.
func (u *Unwinder) Cost() Cost { return u.moments.cost() }

// Stop stops taking stacks and returns those that were still outstanding.
func (u *Unwinder) Stop() Batch {
	u.moments.detach()
	deadline := time.Now().Add(5 * pollEvery)
	for u.waiting() && time.Now().Before(deadline) {
		time.Sleep(pollEvery / 4)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.expire(0)
	for _, p := range []problem{problemRoom, problemCost} {
		if n := u.moments.leftOut()[p]; n > 0 {
			u.batch.Missing = append(u.batch.Missing, recording.Missing{What: "stacks", Why: p.why(), Count: n})
		}
	}
	return u.handOver()
}

// waiting reports whether any stack is outstanding.
func (u *Unwinder) waiting() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.marks.read()
	return u.marks.any()
}

// Close ends everything. It may be called at any time, also after a failed Start.
func (u *Unwinder) Close() error {
	u.moments.detach()
	u.cancel()
	u.workers.Wait()
	if u.tracer != nil {
		u.tracer.Close()
	}
	err := errors.Join(u.marks.close(), u.stacks.symbols.close())
	u.moments.close()
	return err
}
