//go:build linux && (amd64 || arm64)

package unwind

import (
	"errors"
	"fmt"
	"sync"

	"github.com/ianlancetaylor/demangle"
	"go.opentelemetry.io/ebpf-profiler/host"
	"go.opentelemetry.io/ebpf-profiler/libpf"
	"go.opentelemetry.io/ebpf-profiler/reporter"
)

// maxExecutables bounds how many files are kept open for their symbols.
const maxExecutables = 512

// symbols names native code. Executables are registered when the profiler examines them, and read when one of their
// frames is named for the first time.
type symbols struct {
	mu    sync.Mutex
	files map[libpf.FileID]*executable
	known map[host.FileID]libpf.FrameMappingFileData // the same, by the kernel's id
}

// executable is a file with code; table is nil until it is needed.
type executable struct {
	file  source
	table *symbolTable
}

func newSymbols() *symbols {
	return &symbols{files: map[libpf.FileID]*executable{}, known: map[host.FileID]libpf.FrameMappingFileData{}}
}

// ReportExecutable implements reporter.ExecutableReporter. It opens the file while the process is alive.
func (s *symbols) ReportExecutable(e *reporter.ExecutableMetadata) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := e.MappingFile.Value()
	id := of.FileID
	if s.files[id] != nil || len(s.files) >= maxExecutables {
		return
	}
	file, err := e.Process.OpenMappingFile(e.Mapping)
	if err != nil {
		return // the vDSO, or the process has ended
	}
	s.files[id] = &executable{file: file}
	s.known[host.FileIDFromLibpf(id)] = of
}

// file returns what is known of a file, given the id that the kernel sends; nothing if it was not registered.
func (s *symbols) file(id host.FileID) libpf.FrameMappingFileData {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[id]
}

// name returns the function that contains the address, which is an address in the file. If no symbol covers it, the
// name is made of the file and the beginning of the function.
func (s *symbols) name(id libpf.FileID, module string, address uint64) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.files[id]
	if e == nil {
		return place(module, address)
	}
	if e.table == nil {
		e.table = readSymbols(e.file)
		if rubyLibrary.MatchString(module) {
			e.table.nameRubyLock(e.file)
		}
	}
	if name := e.table.name(address); name != "" {
		return demangle.Filter(name, demangle.NoParams, demangle.NoTemplateParams)
	}
	start := e.table.start(address)
	if name := e.table.given[start]; name != "" {
		return name
	}
	return place(module, start)
}

func place(module string, address uint64) string { return fmt.Sprintf("%s+0x%x", module, address) }

func (s *symbols) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, e := range s.files {
		errs = append(errs, e.file.Close())
	}
	clear(s.files)
	return errors.Join(errs...)
}
