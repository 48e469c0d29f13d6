package target

import (
	"encoding/binary"
	"fmt"
	"io"
	"strings"
)

// NodeProbes are the places where Node's loop thread starts callbacks that no socket
// caused, for uprobes.
type NodeProbes struct {
	File           CodeFile
	RunTimers      uint64 // file offset of node::Environment::RunTimers
	CheckImmediate uint64 // file offset of node::Environment::CheckImmediate
}

// NodeBoundaries finds the probe points of a running Node process. It fails with ErrUnsupported if they are not
// exported.
func (f *Files) NodeBoundaries(pid int) (NodeProbes, error) {
	image, err := f.loadedImage(pid, nodeKind())
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

// NodePromises says where in Node's code waiting tasks continue, as offsets in the file.
type NodePromises struct {
	File     CodeFile
	Resolves []uint64 // the code behind the resolve function of a promise made with new, and the function that the runtime's own code calls
	FileDone []uint64 // the functions node::fs::After...(uv_fs_t *), which call back after a file operation, as far as they are exported
	WorkDone uint64   // the function that ends other work of the thread pool (a uv_work_t), before its callback; 0: not exported
	Ports    NodePorts
	Types    V8Types
	Moved    uint64 // where V8 has just moved new objects; 0: not exported
}

// V8Types are the numbers of types by which V8 distinguishes objects. V8 itself exports them for debuggers. All are
// zero if it does not.
type V8Types struct {
	Promise    uint32
	Async      uint32 // an async function that waits
	Generator  uint32 // an async generator
	Capability uint32 // of a promise: the object given to the code that is to resolve it
	Oddball    uint32 // undefined and similar values
	Context    uint32 // offset of the context in a function, in bytes
}

// NodePorts says where in Node's code messages go to other threads and come from them; 0: not exported.
type NodePorts struct {
	Posts uint64 // node::worker::MessagePort::PostMessage, of the port that sends a message
	Wakes uint64 // OnMessage, of a port that is notified of messages
	Takes uint64 // ReceiveMessage, of a port that is asked for the next message, if there is one
}

// NodeResolves finds where a running Node process resolves promises. It fails with ErrUnsupported if the code
// behind the resolve function of a promise made with new is found neither by a symbol nor in V8's own tables.
func (f *Files) NodeResolves(pid int) (NodePromises, error) {
	const (
		byScript  = "PromiseCapabilityDefaultResolve"
		byRuntime = "_ZN2v87Promise8Resolver7ResolveENS_5LocalINS_7ContextEEENS2_INS_5ValueEEE"
		port      = "_ZN4node6worker11MessagePort"
		collected = "_ZN2v88internal11Relocatable31PostGarbageCollectionProcessingEPNS0_7IsolateE"
		workDone  = "_ZZN4node14ThreadPoolWork12ScheduleWorkEvENUlP9uv_work_siE0_4_FUNES2_i"
	)
	image, err := f.loadedImage(pid, nodeKind())
	if err != nil {
		return NodePromises{}, fmt.Errorf("find where process %d resolves promises: %w", pid, err)
	}
	if err := image.onlyX86(); err != nil {
		return NodePromises{}, fmt.Errorf("find where process %d resolves promises: %w", pid, err)
	}
	file, opened, err := image.file.openELF()
	if err != nil {
		return NodePromises{}, fmt.Errorf("find where process %d resolves promises: %w", pid, err)
	}
	defer opened.Close()
	at, err := localSymbol(file, "Builtins_"+byScript)
	if err == nil && at == 0 {
		at, err = builtins{image, file, opened}.address(byScript)
	}
	if err != nil {
		return NodePromises{}, fmt.Errorf("find where process %d resolves promises: %w", pid, err)
	}
	found := NodePromises{File: image.file, Types: v8Types(image, opened)}
	for _, address := range []uint64{at, image.values[byRuntime]} {
		if offset, ok := image.fileOffset(address); ok && address != 0 {
			found.Resolves = append(found.Resolves, offset)
		}
	}
	moved := image.values[collected]
	if moved == 0 { // newer versions do not export it
		if moved, err = localSymbol(file, collected); err != nil {
			return NodePromises{}, fmt.Errorf("find where process %d moves objects: %w", pid, err)
		}
	}
	found.Moved, _ = image.fileOffset(moved)
	for name, address := range image.values {
		offset, ok := image.fileOffset(address)
		switch {
		case !ok:
		case name == workDone:
			found.WorkDone = offset
		case strings.HasPrefix(name, port+"11PostMessageEPNS_11Environment"):
			found.Ports.Posts = offset
		case strings.HasPrefix(name, port+"9OnMessageE"):
			found.Ports.Wakes = offset
		case strings.HasPrefix(name, port+"14ReceiveMessageEN2v8"):
			found.Ports.Takes = offset
		case strings.HasPrefix(name, "_ZN4node2fs") && strings.Contains(name, "After") && strings.HasSuffix(name, "EP7uv_fs_s"):
			found.FileDone = append(found.FileDone, offset)
		}
	}
	return found, nil
}

// v8Types reads the numbers by which V8 distinguishes objects.
func v8Types(i image, file io.ReaderAt) V8Types {
	var types V8Types
	for name, to := range map[string]*uint32{
		"v8dbg_type_JSPromise__JS_PROMISE_TYPE":                             &types.Promise,
		"v8dbg_type_JSAsyncFunctionObject__JS_ASYNC_FUNCTION_OBJECT_TYPE":   &types.Async,
		"v8dbg_type_JSAsyncGeneratorObject__JS_ASYNC_GENERATOR_OBJECT_TYPE": &types.Generator,
		"v8dbg_type_PromiseCapability__PROMISE_CAPABILITY_TYPE":             &types.Capability,
		"v8dbg_type_Oddball__ODDBALL_TYPE":                                  &types.Oddball,
		"v8dbg_class_JSFunction__context__Context":                          &types.Context,
	} {
		var word [4]byte
		offset, ok := i.fileOffset(i.values[name])
		if !ok {
			return V8Types{}
		}
		if _, err := file.ReadAt(word[:], int64(offset)); err != nil {
			return V8Types{}
		}
		*to = binary.LittleEndian.Uint32(word[:])
	}
	return types
}

// nodeKind is Node as a library, or as the executable.
func nodeKind() imageKind { return imageKind{"Node", nodeLibrary} }
