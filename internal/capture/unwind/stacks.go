//go:build linux && (amd64 || arm64)

package unwind

import (
	"hash/maphash"
	"slices"
	"unique"
	"unsafe"

	"go.opentelemetry.io/ebpf-profiler/host"
	"go.opentelemetry.io/ebpf-profiler/libpf"
	"go.opentelemetry.io/ebpf-profiler/reporter/samples"

	"github.com/getdwell/dwell/recording"
)

// Limits of what is kept: a recording with more distinct stacks than this lacks the rarest, and says so.
const (
	maxNodes  = 1 << 17
	maxFrames = 1 << 16
	maxRaw    = 1 << 15
)

// node is a stack, as its innermost frame and its caller.
type node struct {
	caller recording.StackID
	frame  recording.FrameID
}

// handle is the profiler's data of a frame, a name that is better than the profiler's, and the file of machine code.
type handle struct {
	frame  unique.Handle[libpf.Frame]
	name   string
	file   host.FileID
	python pythonCode // its name if the profiler does not provide one
}

// stacks turns the profiler's traces into stacks of a recording. Most stacks have been seen before: they are
// recognised by a hash of what the kernel sent, before anything is looked up.
type stacks struct {
	seed    maphash.Seed
	raw     map[uint64]recording.StackID
	handles map[handle]recording.FrameID
	frames  map[recording.Frame]recording.FrameID
	nodes   map[node]recording.StackID
	fresh   []recording.Fact // not passed on yet
	symbols *symbols
	ruby    *rubyNames
	python  pythonNames
	golang  map[libpf.PID]GoCode
	inlined map[unique.Handle[libpf.Frame]][]recording.FrameID // see goFrames
	native  nativeFiles

	pid     libpf.PID         // whose trace the profiler is processing
	found   recording.StackID // the result of ReportTraceEvent
	problem problem
	unnamed bool // one of its functions may have a name when it is seen again
}

func newStacks() *stacks {
	return &stacks{
		seed: maphash.MakeSeed(), raw: map[uint64]recording.StackID{},
		handles: map[handle]recording.FrameID{},
		frames:  map[recording.Frame]recording.FrameID{}, nodes: map[node]recording.StackID{},
		symbols: newSymbols(), ruby: newRubyNames(),
		golang: map[libpf.PID]GoCode{}, inlined: map[unique.Handle[libpf.Frame]][]recording.FrameID{},
	}
}

// of finds the stack of a trace. It returns the trace to the profiler by calling handle, which calls
// ReportTraceEvent.
func (s *stacks) of(t *libpf.EbpfTrace, handle func(*libpf.EbpfTrace)) (recording.StackID, problem) {
	t.FrameData = t.FrameData[min(int(t.NumKernelFrames), len(t.FrameData)):]
	t.NumKernelFrames = 0
	key := s.hash(t)
	if id, ok := s.raw[key]; ok {
		t.FrameData, t.NumFrames = nil, 0 // nothing to look up
		handle(t)
		return id, problemNone
	}
	s.pid, s.found, s.problem, s.unnamed = t.PID, recording.NoStack, problemEmpty, false
	s.ruby.gather(t)
	s.native.gather(t)
	s.python.gather(t)
	handle(t)
	if s.problem == problemNone && !s.unnamed {
		if len(s.raw) >= maxRaw {
			clear(s.raw)
		}
		s.raw[key] = s.found
	}
	return s.found, s.problem
}

func (s *stacks) hash(t *libpf.EbpfTrace) uint64 {
	var h maphash.Hash
	h.SetSeed(s.seed)
	h.Write(unsafe.Slice((*byte)(unsafe.Pointer(&t.PID)), unsafe.Sizeof(t.PID)))
	h.Write(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(t.FrameData))), 8*len(t.FrameData)))
	return h.Sum64()
}

// ReportTraceEvent implements reporter.TraceReporter: handle calls it.
func (s *stacks) ReportTraceEvent(t *libpf.Trace, _ *samples.TraceEventMeta) error {
	if len(t.Frames) == 0 {
		return nil
	}
	caller, names, files, code := recording.NoStack, s.ruby.forTrace(t), s.native.forTrace(t), s.python.forTrace(t)
	for i := len(t.Frames) - 1; i >= 0; i-- { // the profiler's first frame is the innermost
		frames := s.goFrames(s.pid, t.Frames[i])
		if frames == nil {
			frame, p := s.frame(handle{t.Frames[i], at(names, i), at(files, i), s.pythonCode(t.Frames[i], at(code, i))})
			if p != problemNone {
				s.problem = p
				return nil
			}
			frames = []recording.FrameID{frame}
		}
		for _, frame := range slices.Backward(frames) {
			if caller = s.node(node{caller, frame}); caller == recording.NoStack {
				s.problem = problemTooBig
				return nil
			}
		}
	}
	s.found, s.problem = caller, problemNone
	return nil
}

func (s *stacks) node(n node) recording.StackID {
	if id, ok := s.nodes[n]; ok {
		return id
	}
	if len(s.nodes) >= maxNodes {
		return recording.NoStack
	}
	id := recording.StackID(len(s.nodes) + 1)
	s.nodes[n] = id
	s.fresh = append(s.fresh, &recording.Stack{ID: id, Caller: n.caller, Frame: n.frame})
	return id
}

// at returns what is known of a frame besides the profiler's data; nothing if list is nil.
func at[T any](list []T, i int) (known T) {
	if list == nil {
		return known
	}
	return list[i]
}

// unnamedV8 is the profiler's name for frames of V8 of an unknown kind. We also use it for frames whose function the
// profiler could not read: functions built into V8 (Array.prototype.map, RegExp.prototype.exec) have no table of
// source positions. The functions around them have names, so such a stack is useful.
const unnamedV8 = "V8::UnknownFrame"

// unnamed is the name given to functions of other runtimes whose names cannot be read, so that one of them does not
// make the whole stack unusable.
const unnamed = "<unnamed>"

func (s *stacks) frame(key handle) (recording.FrameID, problem) {
	if id, ok := s.handles[key]; ok {
		return id, problemNone
	}
	f := key.frame.Value()
	if f.Type.IsError() {
		return 0, aborted(uint64(f.AddressOrLineno))
	}
	fact := s.describe(&f, key.file)
	fact.Function = withClass(fact.Function, key.name)
	if fact.Function == "" && key.python.function != "" {
		fact.Function, fact.File = key.python.function, key.python.file
	}
	if fact.Function == "" && fact.Type != recording.FrameNative { // it is requested once more
		fact.Function, s.unnamed = unnamed, true
		if fact.Type == recording.FrameV8 {
			fact.Function = unnamedV8
		}
	}
	id, p := s.declare(fact)
	if p != problemNone {
		return 0, p
	}
	if len(s.handles) >= maxFrames {
		clear(s.handles)
	}
	s.handles[key] = id
	return id, problemNone
}

// declare assigns an id to a frame.
func (s *stacks) declare(fact recording.Frame) (recording.FrameID, problem) {
	id, ok := s.frames[fact]
	if !ok {
		if len(s.frames) >= maxFrames {
			return 0, problemTooBig
		}
		id = recording.FrameID(len(s.frames) + 1)
		s.frames[fact] = id
		fact.ID = id
		s.fresh = append(s.fresh, &fact)
	}
	return id, problemNone
}

// declared returns the facts that were not passed on before.
func (s *stacks) declared() []recording.Fact {
	out := s.fresh
	s.fresh = nil
	return out
}

// describe turns the profiler's frame into a recording's, without its ID. Machine code belongs to the given file if
// the profiler does not know the file.
func (s *stacks) describe(f *libpf.Frame, of host.FileID) recording.Frame {
	out := recording.Frame{
		Type: typeOf(f.Type), Function: f.FunctionName.String(),
		File: f.SourceFile.String(), Line: int64(f.SourceLine),
	}
	if out.Type != recording.FrameNative {
		return out
	}
	file := s.symbols.file(of)
	if f.Mapping.Valid() {
		file = f.Mapping.Value().File.Value()
	}
	out.Module = file.FileName.String()
	if out.Function == "" && out.Module != "" {
		out.Function = s.symbols.name(file.FileID, out.Module, uint64(f.AddressOrLineno))
	}
	return out
}

func typeOf(t libpf.FrameType) recording.FrameType {
	switch t {
	case libpf.NativeFrame:
		return recording.FrameNative
	case libpf.KernelFrame:
		return recording.FrameKernel
	case libpf.GoFrame:
		return recording.FrameGo
	case libpf.HotSpotFrame:
		return recording.FrameJVM
	case libpf.PythonFrame:
		return recording.FramePython
	case libpf.RubyFrame:
		return recording.FrameRuby
	case libpf.V8Frame:
		return recording.FrameV8
	}
	return recording.FrameOther
}
