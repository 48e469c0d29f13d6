//go:build linux && (amd64 || arm64)

package unwind

import (
	"strings"

	"go.opentelemetry.io/ebpf-profiler/libpf"
	"go.opentelemetry.io/ebpf-profiler/support"
)

// rubyNames finds better names for the frames of Ruby than the profiler has. It finds them before the profiler
// reports a stack, and they are used in the order of its frames.
type rubyNames struct {
	processes map[libpf.PID]*rubyVM // nil: its names cannot be read
	names     []string              // for the current stack, by its frames of Ruby; "": none
}

// maxRubies bounds for how many processes names are kept.
const maxRubies = 256

func newRubyNames() *rubyNames { return &rubyNames{processes: map[libpf.PID]*rubyVM{}} }

// forget is called when a process is new, or runs another program.
func (r *rubyNames) forget(pid libpf.PID) { delete(r.processes, pid) }

// gather finds the names of a stack's frames.
func (r *rubyNames) gather(t *libpf.EbpfTrace) {
	r.names = r.names[:0]
	for rest := libpf.EbpfFrame(t.FrameData); len(rest) > 0; rest = rest[rest.Length():] {
		f := rest[:rest.Length()]
		if f.Flags().Error() || !f.Type().IsInterpType(libpf.Ruby) {
			continue
		}
		switch f.Variable(0) {
		case support.RubyFrameTypeGc:
			r.names = append(r.names, "", "") // it becomes two frames
		case support.RubyFrameTypeCmeCfunc, support.RubyFrameTypeCmeIseq:
			r.names = append(r.names, r.method(t.PID, f.Data()))
		default:
			r.names = append(r.names, "")
		}
	}
}

func (r *rubyNames) method(pid libpf.PID, entry uint64) string {
	v, ok := r.processes[pid]
	if !ok {
		if len(r.processes) >= maxRubies {
			clear(r.processes)
		}
		v, _ = openRubyVM(int(pid))
		r.processes[pid] = v
	}
	if v == nil {
		return ""
	}
	return v.method(entry)
}

// forTrace returns the names by the frames of a trace; nil if there are none.
func (r *rubyNames) forTrace(t *libpf.Trace) []string {
	if len(r.names) == 0 {
		return nil
	}
	return byFrame(t, libpf.RubyFrame, r.names)
}

// withClass inserts the class into the label of a frame, which may contain more than the method's name: "block in
// fetch" becomes "block in Shop#fetch".
func withClass(label, method string) string {
	if method == "" {
		return label
	}
	name := method[strings.LastIndexAny(method, "#.")+1:]
	if before, ok := strings.CutSuffix(label, name); ok {
		return before + method
	}
	if strings.HasPrefix(label, "<") || strings.HasSuffix(label, "<unknown cfunc>") {
		return method
	}
	return label
}
