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

// NodePromises is where in Node's code those go on who wait, by offsets in the file.
type NodePromises struct {
	File     CodeFile
	Resolves []uint64 // what calls the resolve function of a promise that was made with new; and what the runtime's own code calls
	FileDone uint64   // node::fs::FSReqAfterScope(FSReqBase *, uv_fs_t *), before each callback that waits for something to be done with a file; 0: not exported
}

// NodeResolves finds where a running Node process resolves promises. It fails with ErrUnsupported
// where the symbol of what a promise made with new calls was stripped.
func NodeResolves(pid int) (NodePromises, error) {
	const (
		byScript  = "Builtins_PromiseCapabilityDefaultResolve"
		byRuntime = "_ZN2v87Promise8Resolver7ResolveENS_5LocalINS_7ContextEEENS2_INS_5ValueEEE"
		fileDone  = "_ZN4node2fs15FSReqAfterScopeC1EPNS0_9FSReqBaseEP7uv_fs_s"
	)
	image, err := loadedImage(pid, nodeKind())
	if err != nil {
		return NodePromises{}, fmt.Errorf("find where process %d resolves promises: %w", pid, err)
	}
	file, opened, err := image.file.openELF()
	if err != nil {
		return NodePromises{}, fmt.Errorf("find where process %d resolves promises: %w", pid, err)
	}
	defer opened.Close()
	at, err := localSymbol(file, byScript)
	if err != nil {
		return NodePromises{}, fmt.Errorf("find where process %d resolves promises: %w", pid, err)
	}
	found := NodePromises{File: image.file}
	for _, address := range []uint64{at, image.values[byRuntime]} {
		if offset, ok := image.fileOffset(address); ok && address != 0 {
			found.Resolves = append(found.Resolves, offset)
		}
	}
	if offset, ok := image.fileOffset(image.values[fileDone]); ok && image.values[fileDone] != 0 {
		found.FileDone = offset
	}
	if at == 0 || len(found.Resolves) == 0 {
		return NodePromises{}, fmt.Errorf("find where process %d resolves promises: %w: %s has no symbol %s (was it stripped?)",
			pid, ErrUnsupported, image.name, byScript)
	}
	return found, nil
}

// nodeKind is Node as a library, or as the executable.
func nodeKind() imageKind { return imageKind{"Node", nodeLibrary} }
