//go:build linux && (amd64 || arm64)

package unwind

import (
	"strings"
	"testing"

	"go.opentelemetry.io/ebpf-profiler/libpf"

	"github.com/getdwell/dwell/recording"
)

// strings.Split is inlined into main.find: the profiler knows its line, but the name of the function into which it is
// inlined.
func TestInlinedFunctionsOfGoAreFramesOfTheirOwn(t *testing.T) {
	s := newStacks()
	s.golang[7] = func(address uint64) []recording.Frame {
		if address != 0x451010 {
			return nil
		}
		return []recording.Frame{
			{Type: recording.FrameGo, Function: "strings.Split", File: "/go/src/strings/strings.go", Line: 361},
			{Type: recording.FrameGo, Function: "main.find", File: "/srv/find.go", Line: 20},
		}
	}
	for pid, want := range map[libpf.PID]string{7: "strings.Split, main.find", 8: "main.find"} {
		var trace libpf.Trace
		trace.Frames.Append(&libpf.Frame{
			Type: libpf.GoFrame, AddressOrLineno: 0x451010, FunctionName: libpf.Intern("main.find"), SourceFile: libpf.Intern("/go/src/strings/strings.go"), SourceLine: 361,
		})
		s.pid = pid
		clear(s.inlined)
		if err := s.ReportTraceEvent(&trace, nil); err != nil || s.problem != problemNone {
			t.Fatal(err, s.problem)
		}
		if got := strings.Join(s.functions(s.found), ", "); got != want {
			t.Errorf("process %d: %s, want %s", pid, got, want)
		}
	}
}

// functions returns the functions of a stack, the innermost first.
func (s *stacks) functions(id recording.StackID) (names []string) {
	for id != recording.NoStack {
		for n, at := range s.nodes {
			if at != id {
				continue
			}
			for f, frame := range s.frames {
				if frame == n.frame {
					names = append(names, f.Function)
				}
			}
			id = n.caller
			break
		}
	}
	return names
}
