//go:build linux && (amd64 || arm64)

package capture

import (
	"slices"
	"sync"

	"github.com/cilium/ebpf"

	"github.com/getdwell/dwell/internal/capture/target"
	"github.com/getdwell/dwell/recording"
)

// maxGoExecutables bounds how many executables are remembered.
const maxGoExecutables = 64

// goProbe is a program at a place in the file of an executable.
type goProbe struct {
	program *ebpf.Program
	offset  uint64
}

// goExecutable is what was found about a Go program in its executable.
type goExecutable struct {
	layout  target.GoLayout
	noIDs   error // why the layout is not known; then nothing else is known either
	calls   [golangGoProgramGO_PROGRAMS][]goProbe
	parks   [parkSets][]goProbe
	procs   uint64              // the address of GOMAXPROCS, as linked; 0: not known
	missing []recording.Missing // what cannot be probed, and why
}

// goFound is what was found about a process that runs Go.
type goFound struct {
	*goExecutable
	pid   int
	file  target.CodeFile // the executable
	table *target.GoTable // nil: functions in stacks cannot be named
}

// goFinder examines Go programs. Reading a large executable takes a tenth of a second, and the event buffer may not
// be left unread for that long. So it is done beside the recording. Results are kept, because a build runs one
// compiler hundreds of times.
type goFinder struct {
	mu     sync.Mutex // held while a program is examined, and while BPF programs are loaded
	tables target.GoTables
	known  map[target.FileID]*goExecutable
}

// findGo finds out about a process that runs Go.
func (s *Session) findGo(pid int) (goFound, error) {
	f := &s.goFinder
	f.mu.Lock()
	defer f.mu.Unlock()
	file, err := target.ExecutableOf(pid)
	if err != nil {
		return goFound{}, err
	}
	found := goFound{goExecutable: f.known[file.ID], pid: pid, file: file}
	if found.goExecutable == nil {
		if found.goExecutable, err = s.readGo(file, pid); err != nil {
			return goFound{}, err
		}
		f.keep(file.ID, found.goExecutable)
	}
	if found.noIDs != nil {
		return found, found.noIDs
	}
	if slices.ContainsFunc(found.parks[:], func(p []goProbe) bool { return len(p) > 0 }) {
		found.table, _ = f.tables.Open(pid) // without it, functions in stacks have no names
	}
	return found, nil
}

// keep remembers what was found about an executable.
func (f *goFinder) keep(key target.FileID, found *goExecutable) {
	if f.known == nil || len(f.known) >= maxGoExecutables {
		f.known = map[target.FileID]*goExecutable{}
	}
	f.known[key] = found
}

// readGo reads what is needed from an executable. It fails if the process has ended.
func (s *Session) readGo(file target.CodeFile, pid int) (*goExecutable, error) {
	e := &goExecutable{}
	if e.layout, e.noIDs = target.GoOffsets(pid); e.noIDs != nil {
		return goneOnly(e, e.noIDs)
	}
	if s.opts.Go.Off {
		return e, nil
	}
	noCalls, noParks := s.goProbes.load(s), s.goParks.load(s)
	names := append(append(namesOf(s.goParks.places()), goCallNames()...), target.GoResize)
	exe, err := target.GoFunctions(pid, names...)
	if gone(err) {
		return nil, err
	}
	if err == nil && exe.File.ID != file.ID {
		return nil, target.ErrReplaced
	}
	if err == nil {
		e.procs = exe.ProcsAddress()
	}
	var lost error // only places within functions, such as those of yields, are looked for in code
	if noCalls == nil && err == nil {
		e.calls, lost = s.goProbes.find(&exe)
	}
	if noParks == nil && err == nil {
		e.parks, noParks = s.goParks.find(pid, &exe)
	}
	e.lack(missingGoCalls, err, noCalls)
	e.lack(missingGoRuns, lost)
	e.lack(missingParks, err, noParks)
	if noParks == nil {
		e.missing = append(e.missing, s.goParks.lacks()...)
	}
	return goneOnly(e, noParks)
}

// goneOnly returns what was found unless the process ended meanwhile.
func goneOnly(e *goExecutable, err error) (*goExecutable, error) {
	if gone(err) {
		return nil, err
	}
	return e, nil
}

// lack notes the first reason why something cannot be probed, if there is one.
func (e *goExecutable) lack(what string, reasons ...error) {
	for _, err := range reasons {
		if err != nil {
			e.missing = append(e.missing, missingFact(what, err.Error()))
			return
		}
	}
}

// in returns the probes as they are placed in this process.
func (f *goFound) in(probes []goProbe) (list []probe) {
	for _, p := range probes {
		list = append(list, probe{probeSite{f.pid, f.file, p.offset}, p.program})
	}
	return list
}
