//go:build linux && (amd64 || arm64)

package capture

import (
	"fmt"
	"time"
	"unsafe"

	"github.com/getdwell/dwell/internal/capture/target"
	"github.com/getdwell/dwell/recording"
)

const (
	// pythonRetry is how often a process is examined again if it has run nothing in a context so far.
	pythonRetry = 5 * time.Second
	// maxBases bounds how many threads of one process are examined.
	maxBases = 32
)

// pythonProbe numbers Python's contexts as they are copied. So it is known which task made which, and a context at
// a reused address is not mistaken for the earlier one.
func pythonProbe() budgetedProbe {
	return budgetedProbe{what: "Python", group: "python-copies", name: "context_copied", spec: loadPython, loops: 2 * inService} // a return instruction is single-stepped: two traps
}

// resolvePython finds where a process keeps the contexts of its threads, and prepares to number them.
// r.python.copies is where contexts are copied, nil if that is not known.
func (s *Session) resolvePython(pid int, r *resolution) error {
	bases, err := s.threadBases(pid)
	if err != nil {
		return err
	}
	l, err := s.files.FindPython(pid, bases)
	if err != nil {
		return err
	}
	r.watch.PyState, r.watch.PyContext = int32(l.State), int32(l.Context)
	copies, err := s.files.FindPythonCopies(pid)
	if err != nil {
		r.python.missing = []recording.Missing{missingContexts(err.Error())}
		return nil
	}
	r.watch.PyCopies, r.watch.PyType = 1, copies.Type
	r.watch.Credit, r.watch.Credited = uint64(budgetSaved), uint64(clock())
	r.python.copies = &copies
	return nil
}

// pythonFound is where a Python process copies contexts, or why that is not known.
type pythonFound struct {
	copies  *target.PythonCopies
	missing []recording.Missing
}

// threadBases lists the thread pointers of a process.
func (s *Session) threadBases(pid int) (bases []uint64, err error) {
	if !s.has("python-contexts") {
		return nil, fmt.Errorf("list the threads of process %d: %w", pid, target.ErrUnsupported)
	}
	data, err := s.collect("python-contexts")
	if err != nil {
		return nil, fmt.Errorf("list the threads of process %d: %w", pid, err)
	}
	size := int(unsafe.Sizeof(probesBaseRecord{}))
	for ; len(data) >= size && len(bases) < maxBases; data = data[size:] {
		if r := view[probesBaseRecord](data); int(r.Tgid) == pid {
			bases = append(bases, r.Base)
		}
	}
	return bases, nil
}

// hookPython numbers the contexts of a process from now on. It returns what prevents that.
func (s *Session) hookPython(pid int, f *pythonFound) []recording.Missing {
	if f.copies == nil {
		return f.missing
	}
	site := probeSite{pid: pid, file: f.copies.File}
	if err := s.python.hook(s, site, map[string][]uint64{s.python.name: f.copies.Returns}); err != nil {
		return []recording.Missing{missingContexts(err.Error())}
	}
	return nil
}

// hookPythonLater does the same beside the recording, because the kernel takes time.
func (s *Session) hookPythonLater(pid int, f pythonFound) {
	if f.copies == nil && f.missing == nil {
		return
	}
	s.workers.Go(func() { s.python.note(s.hookPython(pid, &f)...) })
}

// followPython examines Python processes that were forked. It ends the numbering in processes that have ended, and
// in those that it costs too much.
func (s *Session) followPython(ended []uint32) {
	d := &s.decoder.python
	for _, pid := range d.forks {
		s.resolveLater(int(pid))
	}
	for _, pid := range d.spent {
		s.decoder.note([]recording.Missing{missingContexts(fmt.Sprintf(
			"which task made which was seen at first only: a process makes so many that seeing it would have cost it more than %d %% of a CPU", budgetPerMille/10))})
		s.workers.Go(func() { s.python.drop(int(pid)) })
	}
	for _, pid := range ended {
		s.workers.Go(func() { s.python.drop(int(pid)) })
	}
	s.decoder.noteOnce(s.python.noted())
	d.forks, d.spent = d.forks[:0], d.spent[:0]
}

// missingContexts says what is not known about Python's tasks.
func missingContexts(why string) recording.Missing { return missingFact("contexts", why) }
