//go:build linux && (amd64 || arm64)

package capture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync"
	"time"

	"github.com/cilium/ebpf/ringbuf"

	"github.com/getdwell/dwell/internal/capture/target"
	"github.com/getdwell/dwell/recording"
)

const (
	// drainEvery is how often the ring is emptied. The programs never wake the recorder, because a wake-up per event
	// would cost more than the event. Emptying costs about 0.2 ms of CPU, however much there is to do: Go's own
	// monitor thread wakes with it, many times.
	drainEvery = 25 * time.Millisecond
	// tickEvery is the period of clock, cost, host and loss facts, and of flushing.
	tickEvery = time.Second
	// early is how long facts are flushed each time the ring is emptied, so that a recorder that is killed in its
	// first second leaves a recording too.
	early = time.Second
)

// status is the snapshot behind Stats.
type status struct {
	mu      sync.Mutex
	stats   Stats
	started time.Time
	cpu     int64
}

// Stats returns the latest snapshot, which changes once a second. It may be called from any goroutine.
func (s *Session) Stats() Stats {
	s.status.mu.Lock()
	defer s.status.mu.Unlock()
	stats := s.status.stats
	stats.NoStacks = s.stacksOff
	return stats
}

// Run records until ctx is done or every watched process has ended, and writes the facts to sink. It returns the
// first error of sink. Call it once.
func (s *Session) Run(ctx context.Context, sink Sink) (err error) {
	promptly(func() { err = s.run(ctx, sink) })
	return err
}

func (s *Session) run(ctx context.Context, sink Sink) error {
	s.begin()
	s.status.started = time.Now()
	m := s.manifest()
	s.hooking.told = m.Hooks
	if err := sink.Write(recording.Event{Time: s.begun, Fact: m}); err != nil {
		return err
	}
	if err := s.tick(sink); err != nil {
		return err
	}
	s.before = s.measure()
	if s.opts.Begun != nil && probesHaveLinks() { // other kernels need CAP_SYS_ADMIN
		s.opts.Begun()
	}
	s.startJoining()
	reason, err := s.loop(ctx, sink)
	if err != nil {
		return err
	}
	return s.finish(sink, reason)
}

func (s *Session) loop(ctx context.Context, sink Sink) (reason string, err error) {
	drain := time.NewTicker(drainEvery)
	defer drain.Stop()
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	resume := time.NewTimer(tickEvery)
	defer resume.Stop()
	resume.Stop()
	window := tickEvery // length of the next window
	for {
		select {
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return "time", nil
			}
			if errors.Is(context.Cause(ctx), ErrFull) {
				return "size", nil
			}
			return "interrupt", nil
		case r := <-s.resolved:
			err = s.apply(r)
		case use := <-s.joining.found:
			err = use()
		case h := <-s.hooked:
			s.goIsHooked(h)
		case <-tick.C:
			if err = s.tick(sink); err != nil {
				break
			}
			tick.Reset(tickEvery)
			var rest, next time.Duration
			if rest, next, err = s.pace(sink); rest > 0 {
				window = next
				drain.Reset(restDrain)
				resume.Reset(rest)
			}
		case <-resume.C:
			var rests bool
			if rests, err = s.goOn(sink); rests {
				resume.Reset(tickEvery)
				break
			}
			drain.Reset(drainEvery)
			tick.Reset(window) // it ends at the next tick
		case <-drain.C:
			err = s.drain(sink)
			if err == nil && len(s.roots) > 0 && !s.decoder.alive() {
				return "target-exit", nil
			}
		}
		if err != nil {
			return "", err
		}
	}
}

// apply uses what was found out about a process that started a program.
func (s *Session) apply(r resolution) error {
	s.decoder.described(r.process)
	if r.early {
		return nil
	}
	s.enter(r.process.PID)
	s.examineStacks(r.process)
	s.startedTLS(r.process.PID)
	s.decoder.note(r.missing())
	s.hookQueuesLater(r.process)
	if r.err != nil {
		return nil
	}
	s.knowGo(&r.golang)
	s.hookGoLater(&r.golang)
	s.hookPythonLater(r.process.PID, r.python)
	s.hookNodeLater(r.node)
	return s.use(r.process.PID, &r.watch, useExisting)
}

// drain decodes the content of the ring and writes it.
func (s *Session) drain(sink Sink) error {
	began := clock()
	stacks := s.collectStacks()
	if err := s.decode(); err != nil {
		return err
	}
	s.stacks(stacks)
	s.keepGoWithin(time.Now())
	s.followGoParks()
	s.drained = began
	ended := s.decoder.takeEnded()
	s.followTLS(ended)
	s.decoder.noteOnce(s.queues.takeNotes())
	s.forgetGo(ended)
	s.followPython(ended)
	s.followNode(ended)
	for _, pid := range s.decoder.takeExecs() {
		s.resolveLater(int(pid))
	}
	s.followEntered()
	first := len(s.decoder.out) > 0 && time.Since(s.status.started) < early
	if err := s.write(sink); err != nil || !first {
		return err
	}
	return sink.Flush()
}

// decode empties the ring.
func (s *Session) decode() error {
	s.reader.SetDeadline(time.Unix(1, 0))
	var rec ringbuf.Record
	for {
		err := s.reader.ReadInto(&rec)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the event buffer: %w", err)
		}
		s.decoder.sample(rec.RawSample)
	}
}

func (s *Session) write(sink Sink) error {
	for _, e := range s.decoder.out {
		if err := sink.Write(e); err != nil {
			return err
		}
	}
	s.decoder.out = s.decoder.out[:0]
	return nil
}

// tick writes the facts of each second. It reports a rest last: if the recorder is then killed, no window without
// recorded facts remains.
func (s *Session) tick(sink Sink) error {
	losses, err := s.meter.losses(&s.objects)
	if err != nil {
		s.decoder.noteOnce([]recording.Missing{missingFact("losses", fmt.Sprintf("how much the kernel could not pass on: %v", err))})
	}
	cost := s.meter.overhead(s.decoder.count)
	events := append(losses, wallClock(), recording.Event{Time: clock(), Fact: cost})
	events = append(append(events, s.tellHooks()...), s.host()...)
	events = append(append(events, s.storageTick()...), s.memory()...)
	for _, e := range events {
		if err := sink.Write(e); err != nil {
			return err
		}
	}
	s.snapshot(cost)
	if err := s.followUnix(sink); err != nil {
		return err
	}
	s.decoder.forget()
	if err := s.tellGap(sink); err != nil {
		return err
	}
	return sink.Flush()
}

// host samples the machine as seen by the first watched process that is alive.
func (s *Session) host() []recording.Event {
	pid := s.livingRoot()
	if pid == 0 {
		return nil
	}
	h, missing := target.Host(pid)
	s.decoder.noteOnce(missing)
	s.throttled = h.Throttled
	return append([]recording.Event{{Time: clock(), Fact: &h}}, s.beside()...)
}

// besideShare bounds the cost of examining the host's other processes: one part in this many of a processor.
const besideShare = 200

// beside reports which programs that are not watched used the processors since the last call: every second, or less
// often if the cost would exceed its bound on a host with many processes.
func (s *Session) beside() (events []recording.Event) {
	now := clock()
	if now < s.besideNext {
		return nil
	}
	since := s.besideSince
	s.besideSince = now
	cost := computed(func() {
		for _, n := range s.neighbours.Sample(func(pid int) bool { return s.decoder.processes[uint32(pid)] != nil }) {
			n.Since = since
			events = append(events, recording.Event{Time: now, Fact: &n})
		}
	})
	s.besideNext = now + recording.Time(besideShare*cost)
	return events
}

// livingRoot returns the first watched process that is alive; 0: none.
func (s *Session) livingRoot() int {
	for _, pid := range s.roots {
		if p := s.decoder.processes[uint32(pid)]; p != nil && p.ended == recording.NoTime {
			return pid
		}
	}
	return 0
}

func (s *Session) snapshot(cost *recording.Overhead) {
	s.status.mu.Lock()
	defer s.status.mu.Unlock()
	live := &s.decoder.live
	elapsed := time.Since(s.status.started)
	cpu, took := cost.UserCPU+cost.BPF, max(elapsed-s.status.stats.Elapsed, shortWindow) // the first value is not a meaningful time
	rate := int64(math.Round(float64(live.requests-s.status.stats.Requests) / took.Seconds()))
	if s.paused != recording.NoTime {
		rate = s.status.stats.Rate // the last known value
	}
	s.status.stats = Stats{
		Resting: s.paused != recording.NoTime,
		Elapsed: elapsed, Events: s.decoder.count,
		Requests: live.requests, Rate: rate,
		P50: live.quantile(50), P99: live.quantile(99),
		Lost: s.meter.lost, CPU: float64(cpu-s.status.cpu) / float64(took),
	}
	s.status.cpu = cpu
}

// finish writes what is known only at the end: merged data that the programs still hold, the state of every thread,
// and the last counters.
func (s *Session) finish(sink Sink, reason string) error {
	steps := []func() error{
		s.finishStacks,
		func() error { return s.finishWindow(sink) },
		func() error { return s.drain(sink) },
		s.finishDecoder,
		func() error { return s.write(sink) },
		func() error { return s.tick(sink) },
		func() error {
			at := clock()
			if s.paused != recording.NoTime {
				at = s.paused // the gap ends with the recording
			}
			return sink.Write(recording.Event{Time: at, Fact: &recording.End{Reason: reason}})
		},
		sink.Flush,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (s *Session) finishDecoder() error {
	s.decoder.note(s.missing)
	s.finishGo()
	s.finishJoining()
	s.decoder.finish()
	return nil
}

// keep registers what was opened while running, to be closed when the session ends.
func (s *Session) keep(c ...io.Closer) {
	s.status.mu.Lock()
	defer s.status.mu.Unlock()
	s.closers = append(s.closers, c...)
}
