package target

import (
	"errors"
	"fmt"
	"math"
	"os/exec"
	"testing"
	"time"
)

// The ids found must be those that the program itself reports. 20 workers are more than glibc has arenas, so some
// of them share the main thread's heap.
func TestNodeAsync(t *testing.T) {
	for _, workers := range []string{"0", "20"} {
		t.Run(workers+" workers", func(t *testing.T) {
			pid, line := startNode(t, "testdata/ids.js", workers)
			var execution, last float64
			if _, err := fmt.Sscan(line, &execution, &last); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			finder, err := new(Files).NewNodeFinder(pid)
			if err != nil {
				t.Fatal(err)
			}
			defer finder.Close()
			found, err := finder.Find()
			if err != nil {
				t.Fatal(err)
			}
			value := func(i uint64) float64 {
				return math.Float64frombits(finder.memory.word(found.Address + 8*i))
			}
			if value(0) != execution || value(2) != last || execution == 0 {
				t.Errorf("memory says execution %v, last %v; the program %v, %v", value(0), value(2), execution, last)
			}
		})
	}
}

// A process that has just started is searched again until it is ready. The address found first must be the same as
// later.
func TestNodeAsyncFromTheStart(t *testing.T) {
	cmd := exec.Command(nodePath(t), "-e", "setInterval(() => {}, 1000)")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	finder, err := retry(t, func() (*NodeFinder, error) { return new(Files).NewNodeFinder(cmd.Process.Pid) })
	if err != nil {
		t.Fatal(err)
	}
	defer finder.Close()
	first, err := retry(t, finder.Find)
	if err != nil {
		t.Fatal(err)
	}
	later, err := finder.Find()
	if err != nil || later.Address != first.Address {
		t.Errorf("first %#x, later %#x, %v", first.Address, later.Address, err)
	}
}

// retry repeats a search until the answer is not "not yet".
func retry[T any](t *testing.T, ask func() (T, error)) (T, error) {
	t.Helper()
	for range 10_000 {
		v, err := ask()
		if !errors.Is(err, ErrNotReady) {
			return v, err
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("never ready")
	panic("unreachable")
}

func TestNodeAsyncOfAnotherProgram(t *testing.T) {
	pid, _ := start(t, "sh", "-c", "echo ready; kill -STOP $$")
	if _, err := new(Files).NewNodeFinder(pid); !errors.Is(err, ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}

// At the offsets found, the file contains the same first bytes of each function as the memory of the process.
func TestNodeBoundaries(t *testing.T) {
	pid, _ := startNode(t, "testdata/ids.js", "0")
	probes, err := new(Files).NodeBoundaries(pid)
	if err != nil {
		t.Fatal(err)
	}
	image, err := new(Files).loadedImage(pid, nodeKind())
	if err != nil {
		t.Fatal(err)
	}
	file, err := probes.File.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	memory, err := openMemory(pid)
	if err != nil {
		t.Fatal(err)
	}
	defer memory.close()
	for symbol, offset := range map[string]uint64{
		"_ZN4node11Environment9RunTimersEP10uv_timer_s":       probes.RunTimers,
		"_ZN4node11Environment14CheckImmediateEP10uv_check_s": probes.CheckImmediate,
	} {
		var onDisk [8]byte
		if _, err := file.ReadAt(onDisk[:], int64(offset)); err != nil {
			t.Fatal(err)
		}
		loaded := memory.word(image.values[symbol] + image.bias)
		var inMemory uint64
		for i, b := range onDisk {
			inMemory |= uint64(b) << (8 * i)
		}
		if loaded != inMemory || loaded == 0 {
			t.Errorf("%s: the file has %#x, the process %#x", symbol, inMemory, loaded)
		}
	}
}

// V8 exports how it distinguishes objects, and where it has moved them.
func TestTypesOfV8(t *testing.T) {
	pid, _ := startNode(t, "testdata/ids.js", "0")
	found, err := new(Files).NodeResolves(pid)
	if err != nil {
		t.Fatal(err)
	}
	v8 := found.Types
	seen := map[uint32]bool{0: true}
	for _, of := range []uint32{v8.Promise, v8.Async, v8.Generator, v8.Capability, v8.Oddball} {
		if seen[of] {
			t.Errorf("types of V8: %+v", v8)
		}
		seen[of] = true
	}
	if v8.Context != 32 && v8.Context != 40 || found.Moved == 0 {
		t.Errorf("a function's context is at %d, objects are moved at %#x", v8.Context, found.Moved)
	}
}

func startNode(t *testing.T, args ...string) (pid int, line string) {
	t.Helper()
	return start(t, nodePath(t), args...)
}

func nodePath(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	return path
}
