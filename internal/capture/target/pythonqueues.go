package target

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/capture/procfs"
)

// PythonQueues says where a Python process puts items into a queue.SimpleQueue and takes
// them out, for probes. Executors keep their work in such queues.
type PythonQueues struct {
	File    CodeFile
	Puts    []uint64 // in the file: the entries of the functions that put an item in; the second argument points at the item
	Returns []uint64 // in the file: the instructions that return the item taken, or nothing
}

// FindPythonQueues finds these places in the queue module, or in Python itself if the module is built in. It fails
// with ErrNotReady while the process has not loaded the module, which may be for ever.
func (f *Files) FindPythonQueues(pid int) (PythonQueues, error) {
	q, err := f.findPythonQueues(pid)
	if err != nil {
		return q, fmt.Errorf("find the queues of process %d: %w", pid, err)
	}
	return q, nil
}

func (f *Files) findPythonQueues(pid int) (q PythonQueues, err error) {
	text, err := procfs.ReadFile(procPath(pid, "maps"))
	if err != nil {
		return q, procError(err)
	}
	library, within := pythonLibrary, true
	if strings.Contains(string(text), queueModule) {
		within = false
		library = func(name string) bool { return strings.Contains(name, queueModule) }
	}
	found, err := f.loadedImage(pid, imageKind{"Python", library})
	if err != nil {
		return q, err
	}
	if _, built := found.values["PyInit__queue"]; within && !built { // else all of Python would be searched again and again
		return q, fmt.Errorf("%w (it has not loaded the module _queue)", ErrNotReady)
	}
	m, err := openMemory(pid)
	if err != nil {
		return q, err
	}
	defer m.close()
	q.File = found.file
	methods, ok := queueMethods(m, found)
	if !ok {
		return q, fmt.Errorf("%w (it has not loaded the module _queue)", ErrNotReady)
	}
	for _, name := range []string{"put", "put_nowait"} {
		if offset, ok := found.fileOffset(methods[name] - found.bias); ok {
			q.Puts = append(q.Puts, offset)
		}
	}
	if q.Returns, err = takenAt(found, methods["get"]-found.bias, methods["get_nowait"]-found.bias); err != nil {
		return q, err
	}
	if len(q.Puts) == 0 || len(q.Returns) == 0 {
		return q, fmt.Errorf("%w: the code of %s is not where its methods point", ErrUnsupported, found.name)
	}
	return q, nil
}

// takenAt lists where two functions return that both take an item, so that each item is seen once: if the first
// function calls code that the second one runs through, the returns of the second one are enough.
func takenAt(in image, get, now uint64) ([]uint64, error) {
	waits, err := waysOf(in, get)
	if err != nil {
		return nil, err
	}
	does, err := waysOf(in, now)
	if err != nil {
		return nil, err
	}
	for at := range waits.calls {
		if does.seen[at] {
			return does.returns, nil
		}
	}
	return slices.Concat(waits.returns, does.returns), nil
}

// queueModule is part of the module's name if the module is a file of its own.
const queueModule = "/_queue."

// methodEntry is the size of an entry in a table of C methods: name, function, flags, documentation.
const methodEntry = 32

// maxData bounds how much of a data segment is read, in bytes: Python's own segment is a tenth of that.
const maxData = 64 << 20

// takesArguments are the flags of a method that gets its arguments as an array, as the methods that put do.
const takesArguments = 0x82

// queueMethods finds, in the memory of a process, the functions behind the methods of SimpleQueue. It looks for the
// table that names them one after another, in this order.
func queueMethods(m memory, in image) (map[string]uint64, bool) {
	order := []string{"get", "get_nowait", "put", "put_nowait"}
	for _, load := range in.loads {
		if load.Flags&elf.PF_X != 0 {
			continue // code
		}
		data := make([]byte, min(load.Memsz, maxData))
		n, _ := m.mem.ReadAt(data, int64(in.bias+load.Vaddr))
		for i := 0; i+len(order)*methodEntry <= n; i += 8 {
			found := map[string]uint64{}
			for k, name := range order {
				if at, ok := m.method(in, data[i+k*methodEntry:], name); ok {
					found[name] = at
				} else {
					break
				}
			}
			if len(found) == len(order) {
				return found, true
			}
		}
	}
	return nil, false
}

// method returns the function of a table's entry, if that may be the entry of the named method.
func (m memory) method(in image, entry []byte, name string) (function uint64, ok bool) {
	named, function := binary.LittleEndian.Uint64(entry), binary.LittleEndian.Uint64(entry[8:])
	switch flags := binary.LittleEndian.Uint32(entry[16:]); {
	case !in.holds(named) || !in.holds(function) || !m.hasName(named, name):
		return 0, false
	case strings.HasPrefix(name, "put") && flags != takesArguments:
		return 0, false
	}
	return function, true
}

// holds reports whether an address in the process lies within the image.
func (i image) holds(at uint64) bool {
	for _, p := range i.loads {
		if from := i.bias + p.Vaddr; at >= from && at < from+p.Memsz {
			return true
		}
	}
	return false
}

// hasName reports whether a C string with this name is at an address.
func (m memory) hasName(at uint64, name string) bool {
	b := make([]byte, len(name)+1)
	n, _ := m.mem.ReadAt(b, int64(at))
	return n == len(b) && string(b) == name+"\x00"
}
