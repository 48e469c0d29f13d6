//go:build linux && (amd64 || arm64)

package unwind

import (
	"debug/elf"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"unsafe"

	"github.com/cilium/ebpf"
	"go.opentelemetry.io/ebpf-profiler/support"
	"go.opentelemetry.io/ebpf-profiler/tracer"

	"github.com/getdwell/dwell/internal/capture/elffile"
)

// rubyThreads corrects the profiler's data about processes of Ruby. Ruby keeps the execution context of a thread in
// thread-local storage. The profiler reads its position there only from the symbol table, which distributions strip.
// Then it takes the variable for the first one and finds no Ruby frames. Up to Ruby 3.2 the variable is exported, so
// the dynamic symbols contain it. See also rubyHeap.
type rubyThreads struct {
	processes *ebpf.Map // the profiler's: by process, the positions of its Ruby's data
	known     map[uint32]rubyPlaces
}

// rubyPlaces is what was read of a Ruby. 0 means not known: if a Ruby's symbols are hidden, its frames stay unknown.
type rubyPlaces struct {
	version uint32 // as the profiler reports it
	context uint64 // in the module's thread-local storage
	heap    rubyHeap
}

const (
	rubyProgram      = "perf_unwind_ruby"
	rubyProcessesMap = "ruby_procs"
	rubyContext      = "ruby_current_ec"
)

// findRubyThreads takes the profiler's table of Ruby processes from its program.
func findRubyThreads(pc *tracer.ProbeContext) (*rubyThreads, error) {
	spec, err := pc.CollectionSpecWith(nil, []string{rubyProgram}, nil)
	if err != nil {
		return nil, err
	}
	r := &rubyThreads{known: map[uint32]rubyPlaces{}}
	found := map[string]**ebpf.Map{rubyProcessesMap: &r.processes}
	code := spec.Programs[rubyProgram].Instructions
	if err := takeMaps(code, found, func() error { return pc.RewriteMaps(spec, nil) }); err != nil {
		return nil, err
	}
	return r, nil
}

// correct completes the entries that need it. It is called repeatedly, because the profiler creates entries when it
// examines a process, and creates them again when it learns more.
func (r *rubyThreads) correct() error {
	var (
		pid     uint32
		raw     = make([]byte, unsafe.Sizeof(support.RubyProcInfo{}))
		entries = map[uint32]support.RubyProcInfo{}
	)
	for all := r.processes.Iterate(); all.Next(&pid, &raw); {
		entries[pid] = *(*support.RubyProcInfo)(unsafe.Pointer(unsafe.SliceData(raw)))
	}
	maps.DeleteFunc(r.known, func(pid uint32, _ rubyPlaces) bool {
		_, there := entries[pid]
		return !there // it has ended, and its number may be reused
	})
	var errs []error
	for pid, entry := range entries {
		errs = append(errs, r.complete(pid, entry))
	}
	return errors.Join(errs...)
}

func (r *rubyThreads) complete(pid uint32, entry support.RubyProcInfo) error {
	places, known := r.known[pid]
	if !known || places.version != entry.Version {
		places = rubyPlacesOf(int(pid))
		places.version = entry.Version
		r.known[pid] = places
	}
	right := entry
	if entry.Tls_module_id != 0 && entry.Current_ec_tls_offset == 0 && entry.Current_ec_tpbase_tls_offset == 0 {
		right.Current_ec_tls_offset = places.context
	}
	if entry.Has_objspace && places.heap != (rubyHeap{}) {
		right.Vm_objspace, right.Objspace_flags = places.heap.space, places.heap.flags
	}
	if right == entry {
		return nil
	}
	err := r.processes.Update(&pid, unsafe.Slice((*byte)(unsafe.Pointer(&right)), unsafe.Sizeof(right)), ebpf.UpdateExist)
	if err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
		return fmt.Errorf("tell the stack profiler about the Ruby of process %d: %w", pid, err)
	}
	return nil
}

// rubyLibrary matches the files that contain Ruby's interpreter.
var rubyLibrary = regexp.MustCompile(`(^|/)(libruby[^/]*\.so[0-9.]*|ruby[0-9.]*)$`)

// rubyPlacesOf reads the Ruby of a process. What cannot be read stays unknown, as does all of it on processors other
// than x86-64.
func rubyPlacesOf(pid int) (p rubyPlaces) {
	image, err := openImage(pid, rubyLibrary)
	if err != nil {
		return p
	}
	defer image.Close()
	symbols, err := elffile.DynamicSymbols(image.file.File)
	if err != nil || image.file.Machine != elf.EM_X86_64 {
		return p
	}
	for _, s := range symbols {
		if s.Name == rubyContext && elf.ST_TYPE(s.Info) == elf.STT_TLS {
			p.context = s.Value
		}
	}
	p.heap = heapIn(image.file.File, symbols)
	return p
}
