package target

import (
	"debug/buildinfo"
	"debug/elf"
	"fmt"

	"github.com/getdwell/dwell/internal/capture/elffile"
)

// GoLayout says where the Go runtime keeps the ids of goroutines. All offsets are in bytes.
//
// The g that runs on a thread is at *(thread pointer + TLS), or in a register on arm64. It may be the thread's
// scheduler stack (g0): then the goroutine is *(*(g+M)+CurG), zero if there is none.
type GoLayout struct {
	Version string // of Go, as in "go1.26.1"
	TLS     int64  // of g from the thread pointer; usually -8 on x86-64, 0 on arm64
	GoFields
	Source string // "dwarf" or "table": the source of GoFields
}

// GoFields are the offsets of fields in the runtime's structs g and m.
type GoFields struct {
	Goid       int64 // of g.goid, a uint64
	ParentGoid int64 // of g.parentGoid, a uint64; -1 before Go 1.21
	M          int64 // of g.m
	CurG       int64 // of m.curg
}

// placeOfG finds where a program keeps its g, relative to the thread pointer; 0 on arm64, where it is in a register.
func placeOfG(file *elf.File) (int64, error) {
	switch file.Machine {
	case elf.EM_X86_64:
		return goTLS(file)
	case elf.EM_AARCH64:
		// C code uses the register for other purposes, and Go keeps its g elsewhere meanwhile.
		if libraries, err := elffile.ImportedLibraries(file); err != nil || len(libraries) > 0 {
			return 0, fmt.Errorf("%w: goroutines of a program that uses cgo, on arm64 (built with CGO_ENABLED=0 they are seen)", ErrUnsupported)
		}
		return 0, nil
	}
	return 0, fmt.Errorf("%w: Go on %v (x86-64 and arm64 only)", ErrUnsupported, file.Machine)
}

// GoOffsets finds the layout of a running Go program from its executable. It fails with ErrUnsupported if the version
// is unknown or goroutines cannot be found.
func GoOffsets(pid int) (GoLayout, error) {
	layout, err := goOffsets(procPath(pid, "exe"))
	if err != nil {
		return GoLayout{}, fmt.Errorf("find the goroutine ids of process %d: %w", pid, procError(err))
	}
	return layout, nil
}

func goOffsets(exe string) (GoLayout, error) {
	file, err := elffile.Open(exe)
	if err != nil {
		return GoLayout{}, err
	}
	defer file.Close()
	info, err := buildinfo.Read(file.Content())
	if err != nil {
		return GoLayout{}, fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	layout := GoLayout{Version: info.GoVersion}
	if layout.TLS, err = placeOfG(file.File); err != nil {
		return GoLayout{}, err
	}
	if fields, ok := goFieldsFromDWARF(file.File); ok {
		layout.GoFields, layout.Source = fields, "dwarf"
		return layout, nil
	}
	fields, ok := goFieldsOf(info.GoVersion)
	if !ok {
		return GoLayout{}, fmt.Errorf("%w: %s without debug information (build without -ldflags=-w, or update dwell)",
			ErrUnsupported, info.GoVersion)
	}
	layout.GoFields, layout.Source = fields, "table"
	return layout, nil
}
