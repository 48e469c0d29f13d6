//go:build linux && (amd64 || arm64)

package unwind

import (
	"bufio"
	"encoding/json"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"go.opentelemetry.io/ebpf-profiler/libpf"

	"github.com/getdwell/dwell/recording"
)

// named is a Python program that prints where functions with unusual names are, and their names.
const named = `
import json, sys
def make(name):
    f = lambda: None
    more = {"co_qualname": "Shop." + name} if hasattr(f.__code__, "co_qualname") else {}
    return f.__code__.replace(co_name=name, co_filename="/srv/" + name + ".py", **more)
codes = [make(n) for n in ["total", "to\x1b[2Jtal", "caf\u00e9", "\u4fa1\u683c", "\U00020000x", "x" * 600]]
for c in codes:
    print(id(c), json.dumps(getattr(c, "co_qualname", c.co_name)), flush=True)
sys.stdin.read()
`

// Names that the profiler does not know are read from a live process: an unusual name does not cost the stack.
func TestOddNamesOfPython(t *testing.T) {
	cmd := exec.Command("python3", "-c", named)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal("make test installs python3: ", err)
	}
	defer cmd.Wait()
	defer in.Close()
	lines, read := bufio.NewScanner(out), 0
	for ; read < 6 && lines.Scan(); read++ {
		at, quoted, _ := strings.Cut(lines.Text(), " ")
		address, err := strconv.ParseUint(at, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		var want string
		if err := json.Unmarshal([]byte(quoted), &want); err != nil {
			t.Fatal(err)
		}
		got := stackOfPython(t, cmd.Process.Pid, address)
		if got.Function != want[:min(len(want), maxPythonName)] || !strings.HasPrefix(got.File, "/srv/") {
			t.Errorf("%q of %q, want %q", got.Function, got.File, want)
		}
		if shown := recording.Printable(got.Function); strings.ContainsRune(shown, '\x1b') {
			t.Errorf("shown as %q", shown)
		}
	}
	if read != 6 {
		t.Errorf("%d names were read", read)
	}
}

// stackOfPython returns the frame of a stack with one frame, whose code object is at an address and whose name the
// profiler does not know.
func stackOfPython(t *testing.T, pid int, code uint64) (found recording.Frame) {
	t.Helper()
	f := libpf.NewEbpfFrame(libpf.PythonFrame, 0, 3, 0)
	f[1] = code
	s := newStacks()
	_, p := s.of(&libpf.EbpfTrace{PID: libpf.PID(pid), FrameData: f}, func(*libpf.EbpfTrace) {
		s.ReportTraceEvent(&libpf.Trace{Frames: frames(libpf.Frame{Type: libpf.PythonFrame})}, nil)
	})
	if p != problemNone || s.unnamed {
		t.Errorf("%s; unnamed %v", p.why(), s.unnamed)
	}
	for _, fact := range s.fresh {
		if f, ok := fact.(*recording.Frame); ok {
			found = *f
		}
	}
	return found
}

// Data that is not a code object yields no name, whatever it contains.
func TestWhatIsNoCodeOfPython(t *testing.T) {
	for name, read := range map[string]func(uint64, []byte) bool{
		"nothing":       func(uint64, []byte) bool { return false },
		"zeros":         func(uint64, []byte) bool { return true },
		"itself":        func(_ uint64, into []byte) bool { fill(into, 0x1000); return true },
		"high ones":     func(_ uint64, into []byte) bool { fill(into, 1<<63); return true },
		"str only":      func(_ uint64, into []byte) bool { copy(into, "str\x00"); return true },
		"all ones, too": func(_ uint64, into []byte) bool { fill(into, 1<<64-1); return true },
	} {
		if got := readPythonCode(read, 0x1000); got != (pythonCode{}) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func fill(into []byte, word uint64) {
	for i := range into {
		into[i] = byte(word >> (8 * (i % 8)))
	}
}
