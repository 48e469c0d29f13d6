package target

import (
	"fmt"
)

// NodeProbes are the places where Node's loop thread starts callbacks that no socket
// caused, for uprobes.
type NodeProbes struct {
	File           CodeFile
	RunTimers      uint64 // file offset of node::Environment::RunTimers
	CheckImmediate uint64 // file offset of node::Environment::CheckImmediate
}

// NodeBoundaries finds the probe points of a running Node process. It fails with
// ErrUnsupported where they are not exported.
func NodeBoundaries(pid int) (NodeProbes, error) {
	image, err := loadedImage(pid, nodeKind())
	if err != nil {
		return NodeProbes{}, fmt.Errorf("find the loop functions of process %d: %w", pid, err)
	}
	probes := NodeProbes{File: image.file}
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

// NodeResolves finds, in the file, where a running Node process resolves promises: what calls
// the resolve function of a promise that was made with new, and what the runtime's own code
// calls. It fails with ErrUnsupported where the former's symbol was stripped.
func NodeResolves(pid int) (in CodeFile, offsets []uint64, err error) {
	const (
		byScript  = "Builtins_PromiseCapabilityDefaultResolve"
		byRuntime = "_ZN2v87Promise8Resolver7ResolveENS_5LocalINS_7ContextEEENS2_INS_5ValueEEE"
	)
	image, err := loadedImage(pid, nodeKind())
	if err != nil {
		return CodeFile{}, nil, fmt.Errorf("find where process %d resolves promises: %w", pid, err)
	}
	file, opened, err := image.file.openELF()
	if err != nil {
		return CodeFile{}, nil, fmt.Errorf("find where process %d resolves promises: %w", pid, err)
	}
	defer opened.Close()
	at, err := localSymbol(file, byScript)
	if err != nil {
		return CodeFile{}, nil, fmt.Errorf("find where process %d resolves promises: %w", pid, err)
	}
	for _, address := range []uint64{at, image.values[byRuntime]} {
		if offset, ok := image.fileOffset(address); ok && address != 0 {
			offsets = append(offsets, offset)
		}
	}
	if at == 0 || len(offsets) == 0 {
		return CodeFile{}, nil, fmt.Errorf("find where process %d resolves promises: %w: %s has no symbol %s (was it stripped?)",
			pid, ErrUnsupported, image.name, byScript)
	}
	return image.file, offsets, nil
}

// nodeKind is Node as a library, or as the executable.
func nodeKind() imageKind { return imageKind{"Node", nodeLibrary} }
