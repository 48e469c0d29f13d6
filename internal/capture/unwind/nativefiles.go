//go:build linux && (amd64 || arm64)

package unwind

import (
	"go.opentelemetry.io/ebpf-profiler/host"
	"go.opentelemetry.io/ebpf-profiler/libpf"
)

// nativeFiles knows of which file each frame of machine code is. The profiler looks for
// it among the mappings of the process, and does not find it where a part of the file is
// mapped twice: Node maps what V8 was built with next to the code that V8 compiles, and
// all that lies behind that in the file (OpenSSL, zlib, the parser of HTTP) was of none.
type nativeFiles struct {
	files []host.FileID // of the stack at hand, by its frames of machine code
}

// gather is called before the profiler reports a stack.
func (n *nativeFiles) gather(t *libpf.EbpfTrace) {
	n.files = n.files[:0]
	for rest := libpf.EbpfFrame(t.FrameData); len(rest) > 0; rest = rest[rest.Length():] {
		if f := rest[:rest.Length()]; !f.Flags().Error() && f.Type() == libpf.NativeFrame {
			n.files = append(n.files, host.FileID(f.Variable(0)))
		}
	}
}

// forTrace returns the files by the frames of a trace, 0 for those of no machine code;
// nil if they cannot be told.
func (n *nativeFiles) forTrace(t *libpf.Trace) []host.FileID {
	return byFrame(t, libpf.NativeFrame, n.files)
}

// byFrame puts what was found of the frames of one kind, in their order, to the frames of a
// trace; nil if the profiler made more of them, or fewer, than were foreseen.
func byFrame[T any](t *libpf.Trace, kind libpf.FrameType, found []T) []T {
	out, next := make([]T, len(t.Frames)), 0
	for i := range t.Frames {
		if t.Frames[i].Value().Type != kind {
			continue
		}
		if next == len(found) {
			return nil
		}
		out[i] = found[next]
		next++
	}
	if next != len(found) {
		return nil
	}
	return out
}
