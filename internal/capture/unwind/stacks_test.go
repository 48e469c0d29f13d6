//go:build linux && (amd64 || arm64)

package unwind

import (
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/ebpf-profiler/host"
	"go.opentelemetry.io/ebpf-profiler/libpf"

	"github.com/getdwell/dwell/recording"
)

// stackOf returns how a trace is recorded: its functions, the innermost first.
func (s *stacks) stackOf(t *testing.T, raw []uint64, trace *libpf.Trace) []string {
	t.Helper()
	_, p := s.of(&libpf.EbpfTrace{PID: 1, FrameData: raw}, func(*libpf.EbpfTrace) {
		if err := s.ReportTraceEvent(trace, nil); err != nil {
			t.Fatal(err)
		}
	})
	if p != problemNone {
		return []string{"no stack: " + p.why()}
	}
	frames, callers := map[recording.FrameID]string{}, map[recording.StackID]*recording.Stack{}
	for _, f := range s.fresh {
		switch f := f.(type) {
		case *recording.Frame:
			frames[f.ID] = strings.TrimPrefix(f.Module+"!"+f.Function, "!")
		case *recording.Stack:
			callers[f.ID] = f
		}
	}
	var out []string
	for at := callers[s.found]; at != nil; at = callers[at.Caller] {
		out = append(out, frames[at.Frame])
	}
	return out
}

func frames(list ...libpf.Frame) (out libpf.Frames) {
	for i := range list {
		out.Append(&list[i])
	}
	return out
}

// The profiler has no names for the functions built into V8. Their callees and callers are recorded.
func TestFramesOfV8WithoutName(t *testing.T) {
	v8 := func(name string) libpf.Frame {
		return libpf.Frame{Type: libpf.V8Frame, FunctionName: libpf.Intern(name)}
	}
	got := newStacks().stackOf(t, nil, &libpf.Trace{Frames: frames(v8("price"), v8(""), v8("total"))})
	if want := []string{"price", "V8::UnknownFrame", "total"}; !slices.Equal(got, want) {
		t.Errorf("the stack is %q, want %q", got, want)
	}
	for _, kind := range []libpf.FrameType{libpf.HotSpotFrame, libpf.PythonFrame, libpf.RubyFrame} {
		s := newStacks()
		got := s.stackOf(t, nil, &libpf.Trace{Frames: frames(v8("price"), libpf.Frame{Type: kind}, v8("total"))})
		if want := []string{"price", "<unnamed>", "total"}; !slices.Equal(got, want) || len(s.raw) > 0 {
			t.Errorf("%v: the stack is %q, want %q; it is asked for the name again: %v", kind, got, want, len(s.raw) == 0)
		}
	}
}

// The profiler does not find the mapping of some code of Node: the file is recorded nevertheless.
func TestFramesOfMachineCodeWithoutMapping(t *testing.T) {
	s, id := newStacks(), libpf.NewFileID(7, 1)
	s.symbols.files[id] = &executable{table: table()}
	s.symbols.known[host.FileIDFromLibpf(id)] = libpf.FrameMappingFileData{FileID: id, FileName: libpf.Intern("node")}
	native := func(file, address uint64) []uint64 {
		f := libpf.NewEbpfFrame(libpf.NativeFrame, 0, 2, address)
		f[1] = file
		return f
	}
	raw := slices.Concat(native(7, 0x110), native(8, 0x110), native(7, 0x205))
	got := s.stackOf(t, raw, &libpf.Trace{Frames: frames(
		libpf.Frame{Type: libpf.NativeFrame, AddressOrLineno: 0x110},
		libpf.Frame{Type: libpf.NativeFrame, AddressOrLineno: 0x110},
		libpf.Frame{Type: libpf.NativeFrame, AddressOrLineno: 0x205},
	)})
	if want := []string{"node!mutex_lock", "", "node!inner"}; !slices.Equal(got, want) {
		t.Errorf("the stack is %q, want %q", got, want)
	}
}
