package target

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"
)

// In a loop that has run a task, the context is found through a word of the thread's state. The function that
// copies contexts is found in every Python that is installed here.
func TestPythonContexts(t *testing.T) {
	const program = `import asyncio, threading
async def main():
    print(threading.get_ident(), flush=True)
    await asyncio.sleep(60)
asyncio.run(main())`
	home, _ := os.UserHomeDir()
	pythons, _ := filepath.Glob(filepath.Join(home, ".pyenv/versions/3.*/bin/python3"))
	for _, python := range append(pythons, "/usr/bin/python3") {
		t.Run(strings.TrimPrefix(python, home), func(t *testing.T) {
			if exec.Command(python, "-c", "import asyncio, contextvars").Run() != nil {
				t.Skip("there is none, or it is too old for contexts")
			}
			pid, line := start(t, python, "-c", program)
			var base uint64
			if _, err := fmt.Sscan(line, &base); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			found, err := retry(t, func() (PythonLayout, error) { return new(Files).FindPython(pid, []uint64{base}) })
			if err != nil || found.State <= 0 {
				t.Fatalf("found %+v, %v: the state of a thread is the value of a key of glibc's", found, err)
			}
			copies, err := new(Files).FindPythonCopies(pid)
			if err != nil || len(copies.Returns) == 0 || len(copies.Returns) > 8 {
				t.Errorf("found %+v, %v", copies, err)
			}
			t.Logf("%+v %+v", found, copies)
		})
	}
}

// For a program that has run nothing in a context, the search is to be repeated later.
func TestPythonWithoutContexts(t *testing.T) {
	pid, line := start(t, "python3", "-c", "import threading, time; print(threading.get_ident(), flush=True); time.sleep(60)")
	var base uint64
	if _, err := fmt.Sscan(line, &base); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	if found, err := new(Files).FindPython(pid, []uint64{base}); !errors.Is(err, ErrNotReady) {
		t.Errorf("found %+v, %v", found, err)
	}
}

// The state of the main thread is part of the library, which may be mapped next to the thread's own variables. The
// thread's descriptor also contains the thread's pointer, but is no state.
func TestPythonStateBesideItsThread(t *testing.T) {
	m, err := openMemory(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	words := make([]uint64, 2000)
	at := func(i int) uint64 { return uint64(uintptr(unsafe.Pointer(&words[i]))) }
	base := at(1500) // like a descriptor, it begins with its own address
	words[1500], words[320] = base, base
	f := pythonFinder{memory: m}
	for i, want := range map[int]bool{300: true, 1500 - stateWords: false, 1490: false, 1500: false, 1600: false} {
		if _, ok := f.state(at(i), base); ok != want {
			t.Errorf("%d bytes from the descriptor: taken for a state: %v, want %v", 8*(i-1500), ok, want)
		}
	}
}

// The places where items are put into a SimpleQueue and taken out are found in every Python that is installed here,
// once the module is loaded.
func TestPythonQueues(t *testing.T) {
	home, _ := os.UserHomeDir()
	pythons, _ := filepath.Glob(filepath.Join(home, ".pyenv/versions/3.*/bin/python3"))
	for _, python := range append(pythons, "/usr/bin/python3") {
		t.Run(strings.TrimPrefix(python, home), func(t *testing.T) {
			if exec.Command(python, "-c", "import _queue").Run() != nil {
				t.Skip("there is none, or it is too old for the module")
			}
			pid, _ := start(t, python, "-c", "import queue, time; print(queue.SimpleQueue, flush=True); time.sleep(60)")
			found, err := new(Files).FindPythonQueues(pid)
			if err != nil || len(found.Puts) != 2 || len(found.Returns) == 0 || len(found.Returns) > 16 {
				t.Errorf("found %+v, %v", found, err)
			}
			t.Logf("%+v", found)
		})
	}
	pid, _ := start(t, "python3", "-c", "import time; print(1, flush=True); time.sleep(60)")
	if found, err := new(Files).FindPythonQueues(pid); !errors.Is(err, ErrNotReady) {
		t.Errorf("found %+v, %v, though it has not loaded the module", found, err)
	}
}
