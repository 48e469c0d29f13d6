package target

import (
	"debug/elf"
	"fmt"
	"os"
	"path"
	"slices"
)

// NodeProbes are the places where Node's loop thread starts callbacks that no socket
// caused, for uprobes.
type NodeProbes struct {
	Path           string // of the file to attach to, valid while the process lives
	RunTimers      uint64 // file offset of node::Environment::RunTimers
	CheckImmediate uint64 // file offset of node::Environment::CheckImmediate
}

// NodeBoundaries finds the probe points of a running Node process. It fails with
// ErrUnsupported where they are not exported.
func NodeBoundaries(pid int) (NodeProbes, error) {
	image, err := nodeSymbols(pid)
	if err != nil {
		return NodeProbes{}, fmt.Errorf("find the loop functions of process %d: %w", pid, err)
	}
	probes := NodeProbes{Path: image.path}
	for name, to := range map[string]*uint64{
		"_ZN4node11Environment9RunTimersEP10uv_timer_s":       &probes.RunTimers,
		"_ZN4node11Environment14CheckImmediateEP10uv_check_s": &probes.CheckImmediate,
	} {
		offset, ok := image.fileOffset(image.values[name])
		if !ok {
			return NodeProbes{}, fmt.Errorf("find the loop functions of process %d: %w: %s does not export %s",
				pid, ErrUnsupported, image.name, name)
		}
		*to = offset
	}
	return probes, nil
}

// nodeImage is the file that holds Node's code: the executable, or libnode.
type nodeImage struct {
	path, name string
	bias       uint64            // from addresses in the file to those in the process
	values     map[string]uint64 // addresses of its own symbols
	loads      []elf.ProgHeader
}

// nodeSymbols reads the symbols of a process's libnode, or of its executable.
func nodeSymbols(pid int) (nodeImage, error) {
	text, err := os.ReadFile(procPath(pid, "maps"))
	if err != nil {
		return nodeImage{}, procError(err)
	}
	mapped, err := os.Readlink(procPath(pid, "exe"))
	if err != nil {
		return nodeImage{}, procError(err)
	}
	file := procPath(pid, "exe")
	maps := parseMaps(string(text))
	for _, m := range maps {
		if nodeLibrary(m.name) {
			mapped, file = m.name, procPath(pid, "root"+m.name)
			break
		}
	}
	image, relocated, err := readImage(file)
	if err != nil {
		return nodeImage{}, err
	}
	image.name = path.Base(mapped)
	if !relocated {
		return image, nil
	}
	for _, m := range maps {
		if m.name == mapped && m.offset == 0 {
			image.bias = m.from
			return image, nil
		}
	}
	return nodeImage{}, fmt.Errorf("%w: cannot tell where %s is loaded", ErrUnsupported, image.name)
}

// readImage reads one file; relocated says that it may be loaded anywhere.
func readImage(file string) (image nodeImage, relocated bool, err error) {
	f, err := elf.Open(file)
	if err != nil {
		return nodeImage{}, false, err
	}
	defer f.Close()
	if f.Machine != elf.EM_X86_64 {
		return nodeImage{}, false, fmt.Errorf("%w: Node on %v (x86-64 only)", ErrUnsupported, f.Machine)
	}
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return nodeImage{}, false, fmt.Errorf("%w: no exported symbols: %w", ErrUnsupported, err)
	}
	needed, _ := f.ImportedLibraries()
	if !nodeLibrary("/"+path.Base(file)) && slices.ContainsFunc(needed, func(l string) bool { return nodeLibrary("/" + l) }) {
		return nodeImage{}, false, fmt.Errorf("%w: its library is not loaded yet (try again)", ErrNotReady)
	}
	image = nodeImage{path: file, values: map[string]uint64{}}
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF {
			image.values[s.Name] = s.Value
		}
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			image.loads = append(image.loads, p.ProgHeader)
		}
	}
	return image, f.Type == elf.ET_DYN, nil
}

// fileOffset is where in the file the byte loaded at an address is.
func (i nodeImage) fileOffset(address uint64) (uint64, bool) {
	for _, p := range i.loads {
		if address >= p.Vaddr && address < p.Vaddr+p.Filesz {
			return address - p.Vaddr + p.Off, true
		}
	}
	return 0, false
}
