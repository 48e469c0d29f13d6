//go:build linux && (amd64 || arm64)

package capture

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/getdwell/dwell/internal/capture/target"
	"github.com/getdwell/dwell/recording"
)

// Watch adds a process, its threads and its living descendants; later children join automatically. It may take
// seconds if a runtime's ids must be searched for and programs loaded, unless Options.Soon is set. Call it before
// Run. It fails with ErrEnded if there is no such process.
func (s *Session) Watch(pid int) (err error) {
	promptly(func() { err = s.watch(pid) })
	if gone(err) {
		err = endedError{err}
	}
	return err
}

// endedError is an ErrEnded with the text of the error that it contains.
type endedError struct{ error }

func (e endedError) Is(other error) bool { return other == ErrEnded }

func (e endedError) Unwrap() error { return e.error }

func (s *Session) watch(pid int) error {
	if pid == os.Getpid() {
		return fmt.Errorf("watch process %d: it is dwell itself (give the pid of a service)", pid)
	}
	if !s.opts.Soon {
		s.startStacks(pid)
	}
	if err := s.watchTree(pid); err != nil {
		return err
	}
	s.roots = append(s.roots, pid)
	s.collectOrSay("open-connections")
	var threads []probesTaskRecord
	s.dumpTasks(func(r *probesTaskRecord) {
		s.decoder.adoptTask(r)
		threads = append(threads, *r)
	})
	if len(threads) == 0 && s.has("threads") {
		return fmt.Errorf("watch process %d: the kernel knows no such process (did it end? dwell must run in the PID namespace of the host)", pid)
	}
	if err := s.decode(); err != nil { // processes started since then are in the ring
		return err
	}
	for i := range threads {
		s.decoder.threadState(&threads[i])
	}
	return nil
}

// watchTree adds a process and its descendants to the watched set.
func (s *Session) watchTree(pid int) error {
	var look *target.Look
	whole, err := enterTree(pid, entering{
		family: func(pid int) ([]int, error) {
			look = s.files.Look()
			return target.Family(pid)
		},
		joined: s.watches,
		enter: func(pid int) error {
			p, err := look.Info(pid)
			if err != nil {
				return err
			}
			return s.watchOne(p, look)
		},
	})
	if !whole {
		s.decoder.note([]recording.Missing{missingFact("processes",
			"children were made faster than they could be watched while recording began: those that were left out are not recorded")})
	}
	return err
}

// watches reports whether a process is watched, or is dwell itself.
func (s *Session) watches(pid int) bool {
	var w probesWatch
	return pid == os.Getpid() || s.objects.Watched.Lookup(uint32(pid), &w) == nil
}

// entering holds the functions that enterTree needs.
type entering struct {
	family func(pid int) ([]int, error) // a process and its living descendants
	joined func(pid int) bool           // whether a process is watched already
	enter  func(pid int) error
}

// maxLooks bounds how often we look for children that were created meanwhile.
const maxLooks = 5

// enterTree adds a process and its descendants. A child of a process that was already added joins automatically. So
// enterTree looks again only for children that were created before their parent was added. The tree is not whole if
// the last look still found some.
func enterTree(pid int, e entering) (whole bool, err error) {
	tried := map[int]bool{}
	for range maxLooks {
		family, err := e.family(pid)
		if err != nil && !tried[pid] {
			return true, err
		}
		whole = true
		for _, p := range family {
			if tried[p] || e.joined(p) {
				continue
			}
			tried[p], whole = true, false
			if err := e.enter(p); err != nil && p == pid {
				return true, err
			}
		}
		if whole {
			break
		}
	}
	return whole, nil
}

// watchOne adds one process to the watched set. Its ports come first, because they show which of its connections are
// inbound. Ids of runtimes that need a search follow when they are found.
func (s *Session) watchOne(p target.Process, look *target.Look) error {
	if s.opts.Soon {
		s.joining.await(p)
		return s.admit(p, look, new(probesWatch))
	}
	s.examineStacks(p) // while its ids are searched for
	if s.tls != nil {
		s.lookTLS(p.PID, false)
	}
	r := s.resolve(p, nil)
	if s.readyGo(p); !s.isGate(p) { // it will soon run another program
		s.knowGo(&r.golang)
		s.decoder.noteOnce(s.hookGo(&r.golang))
	}
	if err := s.admit(p, look, &r.watch); err != nil {
		return err
	}
	s.decoder.note(r.missing())
	s.decoder.note(s.hookPython(p.PID, &r.python))
	s.decoder.note(s.hookNode(&r.node))
	if p.Runtime == recording.RuntimePython {
		s.hookQueues(p.PID)
	}
	if errors.Is(r.err, target.ErrNotReady) {
		s.resolveLater(p.PID)
	}
	return nil
}

// admit starts watching a process and its ports.
func (s *Session) admit(p target.Process, look *target.Look, w *probesWatch) error {
	listeners, err := look.Listeners(p.PID)
	if err == nil {
		err = s.openPorts(p.PID, listeners)
	}
	if err != nil {
		return err
	}
	s.begin()
	s.declare(p, listeners)
	return s.use(p.PID, w, ebpf.UpdateAny)
}

// declare declares a process and its listeners.
func (s *Session) declare(p target.Process, listeners []target.Listener) {
	s.decoder.described(p)
	for _, l := range listeners {
		s.decoder.listens(p.PID, int64(l.Address.Port()), l.Limit)
	}
}

// begin sets the start time of the recording: when the first process is about to be watched.
func (s *Session) begin() {
	if s.begun == recording.NoTime {
		s.begun = clock()
		s.meter.rebase() // the cost of preparation does not count as cost of recording
		s.decoder.at, s.decoder.now = s.begun, s.begun
	}
}

// openPorts makes a process's network namespace visible, and passes its listening ports to the programs.
func (s *Session) openPorts(pid int, listeners []target.Listener) error {
	s.enter(pid)
	netns, err := target.NetNS(pid)
	if err != nil {
		return err
	}
	for _, l := range listeners {
		key := probesPortKey{Netns: netns, Port: l.Address.Port()}
		err := errors.Join(hint(s.objects.PortHints, uint32(key.Port)), s.objects.Ports.Put(&key, uint32(pid)))
		if err != nil {
			return fmt.Errorf("watch port %d: %w", l.Address.Port(), err)
		}
	}
	return nil
}

// dumpTasks calls do for each watched thread.
func (s *Session) dumpTasks(do func(*probesTaskRecord)) {
	data := s.collectOrSay("threads")
	size := int(unsafe.Sizeof(probesTaskRecord{}))
	for ; len(data) >= size; data = data[size:] {
		do(view[probesTaskRecord](data))
	}
}

// flushFlows makes the programs emit the merged transfers that they still hold.
func (s *Session) flushFlows() { s.collectOrSay("merged-transfers") }

// useExisting updates data of a process only if the process is still watched.
const useExisting = ebpf.UpdateExist

// use passes what is known about a process's runtime to the programs. Unless it adds the process, it ignores one that
// is gone.
func (s *Session) use(pid int, w *probesWatch, how ebpf.MapUpdateFlags) error {
	if err := hint(s.objects.WatchedHints, uint32(pid)); err != nil {
		return fmt.Errorf("watch process %d: %w", pid, err)
	}
	err := s.objects.Watched.Update(uint32(pid), w, how)
	if err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
		return fmt.Errorf("watch process %d: %w", pid, err)
	}
	if w.GoGoid == 0 {
		return nil
	}
	if err := s.startSampling(); err != nil {
		s.decoder.note([]recording.Missing{missingFact("samples", err.Error())})
	}
	return nil
}

// hint tells the programs that a key may be in the map that these hints precede.
func hint(hints *ebpf.Map, key uint32) error {
	return hints.Put(key%hints.MaxEntries(), uint32(1))
}

// gone reports whether something failed because a process has ended, or runs another program.
func gone(err error) bool {
	return errors.Is(err, target.ErrNoProcess) || errors.Is(err, target.ErrReplaced) || errors.Is(err, target.ErrZombie) || errors.Is(err, unix.ESRCH)
}

// missingFact returns a reason as a fact that can be counted.
func missingFact(what, why string) recording.Missing {
	return recording.Missing{What: what, Why: why, Count: 1}
}
