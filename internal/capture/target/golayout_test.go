package target

import (
	"bufio"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// Programs built in every usual way: the ids read from a live thread at the offsets found must equal those that the
// program prints, and debug information must agree with the table.
func TestGoOffsets(t *testing.T) {
	builds := []struct {
		name, cgo string
		flags     []string
		source    string
	}{
		{"static", "0", nil, "dwarf"},
		{"stripped", "0", []string{"-ldflags=-s -w"}, "table"},
		{"pie", "0", []string{"-buildmode=pie"}, "dwarf"},
		{"cgo", "1", nil, "dwarf"},
		{"cgo stripped", "1", []string{"-ldflags=-s -w"}, "table"},
		{"cgo pie stripped", "1", []string{"-buildmode=pie", "-ldflags=-s -w"}, "table"},
	}
	for _, b := range builds {
		t.Run(b.name, func(t *testing.T) {
			if _, err := exec.LookPath("gcc"); err != nil && b.cgo == "1" {
				t.Skip("no C compiler")
			}
			exe := filepath.Join(t.TempDir(), "goids")
			build := exec.Command("go", append(append([]string{"build", "-o", exe}, b.flags...), "./testdata/goids")...)
			build.Env = append(os.Environ(), "CGO_ENABLED="+b.cgo)
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("build: %v\n%s", err, out)
			}
			t.Setenv("GOMAXPROCS", "3")
			pid, line := start(t, exe)
			wantProcs(t, pid, 3)
			var tid int
			var goid, parent uint64
			if _, err := fmt.Sscan(line, &tid, &goid, &parent); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			layout, err := GoOffsets(pid)
			if err != nil {
				t.Fatal(err)
			}
			if layout.Version != runtime.Version() || layout.Source != b.source {
				t.Errorf("found %s by %s, want %s by %s", layout.Version, layout.Source, runtime.Version(), b.source)
			}
			if fields, ok := goFieldsOf(layout.Version); !ok || fields != layout.GoFields {
				t.Errorf("%s says %+v, the table %+v", layout.Source, layout.GoFields, fields)
			}
			mem, err := openMemory(pid)
			if err != nil {
				t.Fatal(err)
			}
			defer mem.close()
			at := func(base uint64, offset int64) uint64 { return mem.word(base + uint64(offset)) }
			g := storedG(stopped(t, tid), func(base uint64) uint64 { return at(base, layout.TLS) })
			if got := at(g, layout.Goid); got != goid {
				t.Errorf("goid %d, the program says %d", got, goid)
			}
			if got := at(g, layout.ParentGoid); got != parent {
				t.Errorf("parent goid %d, the program says %d", got, parent)
			}
			if got := at(at(g, layout.M), layout.CurG); got != g || g == 0 {
				t.Errorf("g.m.curg is %#x, g is %#x", got, g)
			}
		})
	}
}

func wantProcs(t *testing.T, pid int, want int64) {
	t.Helper()
	program, err := GoFunctions(pid, GoResize)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := GoProcs(pid, program.File, program.ProcsAddress()); n != want || err != nil {
		t.Errorf("GOMAXPROCS is %d (%v), want %d", n, err, want)
	}
}

func TestGoOffsetsOfAnotherProgram(t *testing.T) {
	pid, _ := start(t, "sh", "-c", "echo ready; kill -STOP $$")
	if _, err := GoOffsets(pid); err == nil || !strings.Contains(err.Error(), ErrUnsupported.Error()) {
		t.Errorf("got %v", err)
	}
}

func TestGoVersionsByName(t *testing.T) {
	for version, known := range map[string]bool{
		"go1.17": true, "go1.22.3": true, "go1.26.1 X:nosynchashtriemap": true, "go1.23rc2": true, "go1.24.1-fork": true,
		"go1.16.15": false, "go1.99": false, "devel go1.25-3f8a2": false, "go1.220": false,
	} {
		if _, ok := goFieldsOf(version); ok != known {
			t.Errorf("%q known: %v", version, ok)
		}
	}
}

// Loads of g in the two forms that linkers produce; positive offsets and single coincidences are not such loads.
func TestTLSFromCode(t *testing.T) {
	direct := "\x64\x4c\x8b\x34\x25\x60\xfe\xff\xff"
	pie := "\x49\xc7\xc6\xf8\xff\xff\xff\x64\x4d\x8b\x36"
	for _, c := range []struct {
		code string
		want int64
		ok   bool
	}{
		{strings.Repeat(direct+"\x90", 8), -416, true},
		{strings.Repeat("\x90"+pie, 8), -8, true},
		{direct + strings.Repeat(pie, 8), -8, true},
		{strings.Repeat(direct, 7), 0, false},
		{strings.Repeat("\x64\x4c\x8b\x34\x25\x28\x00\x00\x00", 8), 0, false},
		{direct[:7], 0, false},
	} {
		if got, ok := tlsFromCode([]byte(c.code)); got != c.want || ok != c.ok {
			t.Errorf("%x: %d %v, want %d %v", c.code, got, ok, c.want, c.ok)
		}
	}
}

func TestGoDWARFWithoutGo(t *testing.T) {
	file, err := elf.Open("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if fields, ok := goFieldsFromDWARF(file); ok {
		t.Errorf("found %+v", fields)
	}
}

// start runs a program until the test ends, and returns its first line of output.
func start(t *testing.T, name string, args ...string) (pid int, line string) {
	t.Helper()
	return startCmd(t, exec.Command(name, args...))
}

func startCmd(t *testing.T, cmd *exec.Cmd) (pid int, line string) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	line, err = bufio.NewReader(out).ReadString('\n')
	if err != nil && err != io.EOF {
		t.Fatal(err)
	}
	return cmd.Process.Pid, strings.TrimSpace(line)
}

// stopped reads the registers of a thread; only this test stops a thread.
func stopped(t *testing.T, tid int) syscall.PtraceRegs {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := syscall.PtraceAttach(tid); err != nil {
		t.Skipf("no rights to stop the test program: %v", err)
	}
	defer syscall.PtraceDetach(tid)
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(tid, &status, syscall.WALL, nil); err != nil {
		t.Fatal(err)
	}
	var regs syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(tid, &regs); err != nil {
		t.Fatal(err)
	}
	return regs
}
