//go:build linux && amd64

package unwind

import (
	"debug/elf"
	"errors"
	"fmt"
	"regexp"
	"unsafe"

	"github.com/cilium/ebpf"
	"go.opentelemetry.io/ebpf-profiler/support"
	"go.opentelemetry.io/ebpf-profiler/tracer"
)

// rubyThreads corrects what the profiler knows of processes of Ruby. Which execution
// context a thread is in, Ruby keeps in thread-local storage. Where it is there, the
// profiler reads from the symbol table alone; distributions strip that, and it then
// takes the variable for the first one and finds no frame of Ruby. Up to Ruby 3.2 the
// variable is exported, so the dynamic symbols tell.
type rubyThreads struct {
	processes *ebpf.Map // the profiler's: by process, where its Ruby keeps what
	hopeless  map[uint32]bool
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
	r := &rubyThreads{hopeless: map[uint32]bool{}}
	found := map[string]**ebpf.Map{rubyProcessesMap: &r.processes}
	code := spec.Programs[rubyProgram].Instructions
	if err := takeMaps(code, found, func() error { return pc.RewriteMaps(spec, nil) }); err != nil {
		return nil, err
	}
	return r, nil
}

// correct completes the entries that need it. It is called again and again: the profiler
// makes entries when it examines a process, and makes them anew when it learns more.
func (r *rubyThreads) correct() error {
	var (
		pid     uint32
		raw     = make([]byte, unsafe.Sizeof(support.RubyProcInfo{}))
		entries = map[uint32]support.RubyProcInfo{}
	)
	for all := r.processes.Iterate(); all.Next(&pid, &raw); {
		entry := *(*support.RubyProcInfo)(unsafe.Pointer(unsafe.SliceData(raw)))
		if entry.Tls_module_id != 0 && entry.Current_ec_tls_offset == 0 && entry.Current_ec_tpbase_tls_offset == 0 {
			entries[pid] = entry
		}
	}
	for pid := range r.hopeless {
		if _, there := entries[pid]; !there {
			delete(r.hopeless, pid) // it has ended: its number is free for others
		}
	}
	var errs []error
	for pid, entry := range entries {
		if !r.hopeless[pid] {
			errs = append(errs, r.complete(pid, entry))
		}
	}
	return errors.Join(errs...)
}

func (r *rubyThreads) complete(pid uint32, entry support.RubyProcInfo) error {
	offset, err := rubyContextOffset(int(pid))
	if err != nil || offset == 0 {
		r.hopeless[pid] = true
		return nil // a Ruby whose symbols are hidden: its frames stay unknown
	}
	entry.Current_ec_tls_offset = offset
	err = r.processes.Update(&pid, unsafe.Slice((*byte)(unsafe.Pointer(&entry)), unsafe.Sizeof(entry)), ebpf.UpdateExist)
	if err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
		return fmt.Errorf("tell the stack profiler about the Ruby of process %d: %w", pid, err)
	}
	return nil
}

// rubyLibrary matches the files in which Ruby's interpreter is.
var rubyLibrary = regexp.MustCompile(`(^|/)(libruby[^/]*\.so[0-9.]*|ruby[0-9.]*)$`)

// rubyContextOffset is where in its module's thread-local storage a process's Ruby keeps
// the execution context.
func rubyContextOffset(pid int) (uint64, error) {
	image, err := openImage(pid, rubyLibrary)
	if err != nil {
		return 0, err
	}
	defer image.Close()
	symbols, err := image.file.DynamicSymbols()
	if err != nil {
		return 0, fmt.Errorf("read the symbols of Ruby: %w", err)
	}
	for _, s := range symbols {
		if s.Name == rubyContext && elf.ST_TYPE(s.Info) == elf.STT_TLS {
			return s.Value, nil
		}
	}
	return 0, errors.New("this Ruby does not export " + rubyContext)
}
