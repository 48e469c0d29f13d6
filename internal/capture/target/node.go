package target

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/getdwell/dwell/internal/capture/procfs"
)

// NodeAsync says where a Node process keeps the async ids of its main thread: four doubles at Address. They are the
// execution id, the trigger id, the last id given out and the default trigger. The address is fixed for the life of
// the process.
type NodeAsync struct {
	Address uint64
	// Others counts the tables of worker threads that the search passed over. The search ends at the main thread's
	// table.
	Others int
}

// maxNodeScan bounds one search.
const maxNodeScan = time.Second

// nodeStartup is the age up to which a process without async ids is assumed to be still starting.
const nodeStartup = 30 * time.Second

// NodeFinder looks for the async ids of one process. Making one reads the symbols of the executable once. Each Find
// is then only a scan, so a process that has just started can be searched again. The process keeps running
// meanwhile. After an exec a new finder is needed.
type NodeFinder struct {
	pid    int
	memory memory
	vtable nodeVtables
}

// nodeVtables are the vtable pointers with which objects of Node's classes begin.
type nodeVtables struct{ asyncHooks, environment, doubles, words uint64 }

// NewNodeFinder prepares to search a process. It fails with ErrUnsupported if the executable does not export the
// symbols that are needed.
func (known *Files) NewNodeFinder(pid int) (*NodeFinder, error) {
	f := &NodeFinder{pid: pid}
	symbols, err := known.loadedImage(pid, nodeKind())
	if err == nil {
		f.vtable, err = vtables(symbols)
	}
	if err == nil {
		f.memory, err = openMemory(pid)
	}
	if err != nil {
		return nil, fmt.Errorf("prepare to find the async ids of process %d: %w", pid, err)
	}
	return f, nil
}

// vtables takes the addresses of virtual tables from their symbols. An object points past the two words that
// precede the first entry.
func vtables(symbols image) (nodeVtables, error) {
	var v nodeVtables
	for name, to := range map[string]*uint64{
		"_ZTVN4node10AsyncHooksE":                              &v.asyncHooks,
		"_ZTVN4node11EnvironmentE":                             &v.environment,
		"_ZTVN4node17AliasedBufferBaseIdN2v812Float64ArrayEEE": &v.doubles,
		"_ZTVN4node17AliasedBufferBaseIjN2v811Uint32ArrayEEE":  &v.words,
	} {
		at, ok := symbols.values[name]
		if !ok {
			return v, fmt.Errorf("%w: %s does not export %s (Node 18 to 24 of nodejs.org or NodeSource are known to)", ErrUnsupported, symbols.name, name)
		}
		*to = at + symbols.bias + 16
	}
	return v, nil
}

// Close frees what the finder holds open.
func (f *NodeFinder) Close() error {
	f.memory.close()
	return nil
}

// Find scans the memory of the process, for a second at most. It fails with ErrNotReady while Node is starting, and
// with ErrUnsupported if no table belongs to the main thread.
func (f *NodeFinder) Find() (NodeAsync, error) {
	found, err := f.find()
	if err != nil {
		return NodeAsync{}, fmt.Errorf("find the async ids of process %d: %w", f.pid, err)
	}
	return found, nil
}

func (f *NodeFinder) find() (NodeAsync, error) {
	text, err := procfs.ReadFile(procPath(f.pid, "maps"))
	if err != nil {
		return NodeAsync{}, procError(err)
	}
	maps := parseMaps(string(text))
	// The main thread's objects are mostly in the classic heap, workers' elsewhere.
	slices.SortStableFunc(maps, func(a, b mapping) int { return heapFirst(a) - heapFirst(b) })
	deadline := time.Now().Add(maxNodeScan)
	late := func() bool { return time.Now().After(deadline) }
	onStack := f.stackWords(maps)
	var result NodeAsync
	var maybe uint64 // found on the stack, but less than surelyOnStack times
	var most int
	var scanned int64
	for _, m := range maps {
		if !m.private() {
			continue
		}
		done := func() bool { return result.Address != 0 || late() }
		scanned += f.memory.search(extent{m.from, m.to}, f.vtable.asyncHooks, func(at uint64) {
			address, environment, ok := f.asyncIDs(at)
			if !ok || result.Address != 0 {
				return
			}
			n := onStack(environment)
			if n >= surelyOnStack {
				result.Address = address
				return
			}
			if result.Others++; n > most {
				most, maybe = n, address
			}
		}, done)
		if done() {
			break
		}
	}
	result.Address = cmp.Or(result.Address, maybe)
	switch {
	case result.Address != 0:
		return result, nil
	case late():
		return result, fmt.Errorf("%w: not found in the first %d MiB, all that a second allows", ErrUnsupported, scanned>>20)
	case f.young():
		return result, fmt.Errorf("%w (try again)", ErrNotReady)
	}
	return result, fmt.Errorf("%w: not found in %d MiB (%d tables of other threads)", ErrUnsupported, scanned>>20, result.Others)
}

func heapFirst(m mapping) int {
	if m.name == "[heap]" {
		return 0
	}
	return 1
}

// surelyOnStack is how often the address of its own Environment is at least on the main thread's stack: with Node
// 20 it is there 13 times in a callback and 15 times at rest. The address of a worker's Environment may have been
// left there when the main thread made the worker.
const surelyOnStack = 4

// stackWords counts how often a word is on the main thread's stack, up to surelyOnStack. Every function of Node's
// loop is called with the address of its Environment, and workers have their own stacks. The place of an object in
// memory says less, because workers may share the heap.
func (f *NodeFinder) stackWords(maps []mapping) func(word uint64) int {
	return func(word uint64) (n int) {
		for _, m := range maps {
			if m.name == "[stack]" && word != 0 {
				f.memory.search(extent{m.from, m.to}, word, func(uint64) { n++ }, func() bool { return n >= surelyOnStack })
			}
		}
		return n
	}
}

// asyncIDs checks whether a node::AsyncHooks is at an address. Its first members are buffers: a stack of ids
// (doubles), counters (words), and the async ids (doubles). Each buffer consists of vtable, isolate, count, offset,
// address.
func (f *NodeFinder) asyncIDs(at uint64) (address, environment uint64, ok bool) {
	const members, word = 50, 8
	var kinds string
	var ids uint64
	for o := uint64(word); o < members*word && len(kinds) < 3; o += word {
		switch f.memory.word(at + o) {
		case f.vtable.doubles:
			kinds += "d"
			ids = at + o
		case f.vtable.words:
			kinds += "w"
		}
	}
	if kinds != "dwd" || f.memory.word(ids+2*word) != 4 {
		return 0, 0, false
	}
	address = f.memory.word(ids + 4*word)
	// AsyncHooks is itself a member of its Environment.
	const furthest = 16 << 10
	for back := uint64(word); back < furthest && environment == 0; back += word {
		if f.memory.word(at-back) == f.vtable.environment {
			environment = at - back
		}
	}
	return address, environment, address != 0 && environment != 0 && f.plausible(address)
}

// plausible checks the four doubles: they are whole numbers, and at least one id has been given out.
func (f *NodeFinder) plausible(address uint64) bool {
	const execution, trigger, last, preset = 0, 1, 2, 3
	var v [4]float64
	for i := range v {
		v[i] = math.Float64frombits(f.memory.word(address + uint64(i)*8))
		if v[i] != math.Trunc(v[i]) || math.Abs(v[i]) > 1<<53 {
			return false
		}
	}
	return v[last] >= 1 && v[execution] >= 0 && v[execution] <= v[last] &&
		v[trigger] >= 0 && v[trigger] <= v[last] && v[preset] >= -1
}

// young reports whether the process may still be starting.
func (f *NodeFinder) young() bool {
	p, err := Info(f.pid)
	var now unix.Timespec
	if err != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return false
	}
	return time.Duration(now.Nano()-p.Start) < nodeStartup
}

// nodeLibrary reports whether a mapped file is Node built as a library.
func nodeLibrary(name string) bool { return strings.Contains(name, "/libnode.so") }
