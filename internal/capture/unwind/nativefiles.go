//go:build linux && (amd64 || arm64)

package unwind

import (
	"go.opentelemetry.io/ebpf-profiler/host"
	"go.opentelemetry.io/ebpf-profiler/libpf"
)

// nativeFiles records the file of each frame of machine code. The profiler searches for it among the mappings of the
// process, and does not find it if a part of the file is mapped twice. Node maps code built into V8 next to the code
// that V8 compiles. Without nativeFiles, all code after that in the file (OpenSSL, zlib, the HTTP parser) would
// belong to no file.
type nativeFiles struct {
	files []host.FileID // for the current stack, by its frames of machine code
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

// forTrace returns the files by the frames of a trace, 0 for frames that are not machine code; nil if they cannot be
// determined.
func (n *nativeFiles) forTrace(t *libpf.Trace) []host.FileID {
	return byFrame(t, libpf.NativeFrame, n.files)
}

// byFrame assigns the results for the frames of one kind, in their order, to the frames of a trace; nil if the
// profiler generated more or fewer such frames than expected.
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
