package target

import "fmt"

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
	image, err := loadedImage(pid, nodeKind())
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

// nodeKind is Node as a library, or as the executable.
func nodeKind() imageKind { return imageKind{"Node", nodeLibrary} }
