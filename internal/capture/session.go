//go:build linux && (amd64 || arm64)

package capture

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/ringbuf"
	"golang.org/x/sys/unix"

	"github.com/getdwell/dwell/internal/capture/procfs"
	"github.com/getdwell/dwell/internal/capture/target"
	"github.com/getdwell/dwell/internal/capture/unwind"
	"github.com/getdwell/dwell/recording"
)

// Session is one recording in progress. Open it, Watch the target, then Run.
type Session struct {
	opts     Options
	recorder *object
	exits    *object // nil: the recorder's own programs observe sockets
	objects  sharedObjects
	groups   map[string]*loaded // by name
	order    []*loaded
	loading  loading
	spaces   namespaces
	reader   *ringbuf.Reader
	closers  []io.Closer // links, and the switch for BPF statistics
	decoder  *decoder
	meter    *meter

	timers timers // of goroutine samples

	resolved chan resolution // runtimes found while running
	done     chan struct{}   // closed by Close: resolvers give up
	workers  sync.WaitGroup
	status   status
	files    target.Files // what was found in the files of the watched processes
	roots    []int        // pids given to Watch
	missing  []recording.Missing
	begun    recording.Time
	drained  recording.Time // when the ring was last emptied
	hooking  hooking

	joining   joining
	entrance  entrance
	unwinder  *unwind.Unwinder // nil: no stacks are taken
	stacksOff string           // why not, if they are wanted
	tls       *tlsProbes       // nil: calls over TLS are not named

	goFinder  goFinder
	goProcs   map[uint32]goProcsAt // by process
	hooked    chan goHooked        // probes attached to Go programs while running
	unhooked  map[uint32]struct{}  // processes to which they will be attached
	goLedgers goLedgers            // cost of the probes of these two
	goProbes  goProbes
	goParks   goParks
	storage   storageProbes
	python    budgetedProbe
	node      budgetedProbe
	queues    queueProbes

	rested      float64                                    // writes per second of watched processes in the last rest; 0: there was none
	resting     func(stretch) (rest, window time.Duration) // how long to pause after a stretch; nil: never
	before      usage                                      // when the last second of recording ended
	gaps        uint32                                     // as in common.h
	paused      recording.Time                             // start of the current pause; NoTime: it records
	throttled   int64                                      // as in the host's last fact
	neighbours  target.Neighbours
	besideSince recording.Time // when other processes were last examined
	besideNext  recording.Time // not before this time
	garbage     int            // percent allowed before recording
}

// garbagePercent is how much garbage a recorder accumulates, in percent of its live memory: half of the default of Go
// programs. That takes 6 MB less and 0.3 % of a core more.
const garbagePercent = 50

func newSession(opts Options) *Session {
	return &Session{
		opts: opts, done: make(chan struct{}), loading: loading{types: btf.NewCache()}, groups: map[string]*loaded{},
		resolved: make(chan resolution, 64), hooked: make(chan goHooked, 64), joining: joining{found: make(chan func() error)}, files: target.Files{Version: opts.Version},
		goLedgers: newGoLedgers(opts.Go.Share), python: pythonProbe(), node: nodeProbe(), garbage: debug.SetGCPercent(garbagePercent),
	}
}

// Open loads the programs and attaches them; nothing is recorded until Watch. The error is one of this package's if
// the system does not allow recording.
func Open(opts Options) (*Session, error) {
	s := newSession(opts)
	if !opts.Everything {
		s.resting = new(pacer).rest
	}
	var err error
	promptly(func() { err = s.load() })
	if err == nil {
		promptly(func() { err = s.start() })
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Session) start() error {
	reader, err := ringbuf.NewReader(s.objects.Events)
	if err != nil {
		return fmt.Errorf("open the event buffer: %w", err)
	}
	s.reader = reader
	s.decoder = newDecoder(s.describe)
	s.meter = newMeter(s.metered(), s.objects.Costs)
	if !s.opts.Soon {
		s.startTLS()
	}
	s.startStorage()
	s.meter.golang, s.meter.storage, s.meter.budgeted = &s.goLedgers, &s.storage, []*budgetedProbe{&s.python, &s.node}
	return nil
}

// Close detaches everything, and leaves the target unchanged.
func (s *Session) Close() (err error) {
	promptly(func() { err = s.close() })
	return err
}

func (s *Session) close() error {
	select {
	case <-s.done:
		return nil
	default:
		close(s.done)
	}
	debug.SetGCPercent(s.garbage)
	s.workers.Wait()
	s.goLedgers.close()
	var first error
	for _, c := range slices.Backward(s.closers) {
		if err := c.Close(); err != nil && first == nil {
			first = err
		}
	}
	if s.reader != nil {
		s.reader.Close()
	}
	s.spaces.Close()
	procfs.Stop()
	if s.recorder != nil {
		s.recorder.Close()
	}
	return first
}

func kernelRelease() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}

func cpus() int {
	n, err := ebpf.PossibleCPU()
	if err != nil {
		return 1
	}
	return n
}

// describe returns a description of a process that the kernel reported and that is not known yet.
func (s *Session) describe(pid int) (target.Process, error) {
	if pid == os.Getpid() {
		return target.Process{}, fmt.Errorf("watch process %d: it is dwell itself", pid)
	}
	return s.files.Info(pid)
}
