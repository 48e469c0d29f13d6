package target

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"

	"github.com/getdwell/dwell/internal/capture/procfs"
)

// PythonLayout says where threads of a Python process keep the context that their code runs in. The offsets are the
// same in the processes that it forks.
type PythonLayout struct {
	State   int // from a thread's pointer (segment register FS) to the pointer to its state
	Context int // of the current context in that state
}

// The words that are examined. Below the thread pointer are the thread-local variables of what was loaded with the
// program. Above it is glibc's own descriptor, which contains the values of the first pthread keys.
const (
	pythonLocals   = 16 << 10
	pthreadKeys    = 0x310 // in glibc's struct pthread: a sequence number and the value, by key
	pthreadKeySize = 16
	pthreadKeysIn  = 32
	stateWords     = 96 // of a thread's state: the words that identify it, and its context, are among these
)

// pythonFinder looks for the states of the threads of one process.
type pythonFinder struct {
	memory memory
	states map[int]int         // by place: for how many threads it leads to the state
	within map[int]map[int]int // by place and offset: in how many of these states there is a context
}

// FindPython looks for the layout of a Python process in its memory, given the thread pointers of some of its
// threads. What it finds can be verified: a state contains the pointer of its thread, and an object in it has the
// type of contexts. FindPython fails with ErrNotReady while no thread has run anything in a context, which may be
// for ever.
func (f *Files) FindPython(pid int, bases []uint64) (PythonLayout, error) {
	m, err := openMemory(pid)
	if err != nil {
		return PythonLayout{}, fmt.Errorf("find the contexts of process %d: %w", pid, err)
	}
	defer m.close()
	if !f.usesAsyncio(pid) {
		return PythonLayout{}, fmt.Errorf("find the contexts of process %d: %w (it has not loaded asyncio)", pid, ErrNotReady)
	}
	if runtime.GOARCH != "amd64" { // thread-local variables lie elsewhere
		return PythonLayout{}, fmt.Errorf("find the contexts of process %d: %w: on x86-64 only", pid, ErrUnsupported)
	}
	find := pythonFinder{memory: m, states: map[int]int{}, within: map[int]map[int]int{}}
	for _, base := range bases {
		find.thread(base)
	}
	l, ok := find.layout()
	if !ok {
		return l, fmt.Errorf("find the contexts of process %d: %w (no thread has run anything in one)", pid, ErrNotReady)
	}
	return l, nil
}

// usesAsyncio reports whether a process has loaded asyncio, or may have it built in. Other processes need not be
// searched.
func (f *Files) usesAsyncio(pid int) bool {
	text, err := procfs.ReadFile(procPath(pid, "maps"))
	if err != nil || strings.Contains(string(text), "/_asyncio.") {
		return true
	}
	found, err := f.loadedImage(pid, imageKind{"Python", pythonLibrary})
	return err == nil && found.values[builtInAsyncio] != 0
}

// builtInAsyncio is exported by a Python with asyncio built in.
const builtInAsyncio = "PyInit__asyncio"

// thread looks for the places where one thread keeps its state.
func (f *pythonFinder) thread(base uint64) {
	see := func(place int, state uint64) {
		words, ok := f.state(state, base)
		if !ok {
			return
		}
		f.states[place]++
		for i, w := range words {
			if f.isContext(w) {
				if f.within[place] == nil {
					f.within[place] = map[int]int{}
				}
				f.within[place][8*i]++
				break // what follows may not belong to the state
			}
		}
	}
	for key := range pthreadKeysIn {
		place := pthreadKeys + key*pthreadKeySize + 8
		see(place, f.memory.word(base+uint64(place)))
	}
	page := make([]byte, pageSize)
	for from := base - pythonLocals; from < base; from += pageSize {
		n, _ := f.memory.mem.ReadAt(page[:min(pageSize, base-from)], int64(from))
		for i := 0; i+8 <= n; i += 8 {
			see(int(from-base)+i, binary.LittleEndian.Uint64(page[i:]))
		}
	}
}

// state reads what may be the state of a thread: it contains the thread's pointer, by which Python identifies
// threads. The memory around the place that this pointer points to also contains it, but is no state. A state that
// is part of a library may lie only a few pages off.
func (f *pythonFinder) state(at, base uint64) ([]uint64, bool) {
	const lowest, highest = 1 << 16, 1 << 47
	if at%8 != 0 || at < lowest || at >= highest || at+8*stateWords > base && at < base+pageSize {
		return nil, false
	}
	var b [8 * stateWords]byte
	n, _ := f.memory.mem.ReadAt(b[:], int64(at))
	words, holds := make([]uint64, 0, stateWords), false
	for i := 0; i+8 <= n; i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		words, holds = append(words, w), holds || w == base
	}
	return words, holds
}

// isContext reports whether an object is a context, by the name of its type.
func (f *pythonFinder) isContext(at uint64) bool {
	return f.typeName(at, pythonType, pythonTypeName) || f.typeName(at, pythonFreeType, pythonFreeTypeName)
}

// Offsets of the type in an object, and of the name in a type: in builds with the interpreter's lock, and in builds
// without it.
const (
	pythonType, pythonTypeName         = 8, 24
	pythonFreeType, pythonFreeTypeName = 24, 40
)

func (f *pythonFinder) typeName(at uint64, typeAt, nameAt uint64) bool {
	if at == 0 || at%8 != 0 || at>>47 != 0 {
		return false
	}
	var name [24]byte
	n, _ := f.memory.mem.ReadAt(name[:], int64(f.memory.word(f.memory.word(at+typeAt)+nameAt)))
	for _, want := range []string{"Context\x00", "_contextvars.Context\x00"} {
		if n >= len(want) && string(name[:len(want)]) == want {
			return true
		}
	}
	return false
}

// layout chooses the place that most threads agree on, among those that lead to a context: others may lead by
// chance to something that contains the thread's pointer. The value of a pthread key is preferred: a thread-local
// variable may be the one that says which thread has the interpreter, and that is empty while a thread waits.
func (f *pythonFinder) layout() (l PythonLayout, ok bool) {
	for place := range f.within {
		key, most := place > 0, l.State > 0
		switch n, best := f.states[place], f.states[l.State]; {
		case l.State == 0, key && !most, key == most && (n > best || n == best && place < l.State):
			l.State = place
		}
	}
	for offset, n := range f.within[l.State] {
		if best := f.within[l.State][l.Context]; n > best || n == best && offset < l.Context {
			l.Context = offset
		}
	}
	return l, l.State != 0
}
