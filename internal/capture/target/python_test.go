package target

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A loop that has run a task is found to keep its context where a word of its state leads to
// one; what copies contexts is found in every Python there is here.
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
			found, err := retry(t, func() (PythonLayout, error) { return FindPython(pid, []uint64{base}) })
			if err != nil || found.State <= 0 {
				t.Fatalf("found %+v, %v: the state of a thread is the value of a key of glibc's", found, err)
			}
			copies, err := FindPythonCopies(pid)
			if err != nil || len(copies.Returns) == 0 || len(copies.Returns) > 8 {
				t.Errorf("found %+v, %v", copies, err)
			}
			t.Logf("%+v %+v", found, copies)
		})
	}
}

// A program that has run nothing in a context is asked again later.
func TestPythonWithoutContexts(t *testing.T) {
	pid, line := start(t, "python3", "-c", "import threading, time; print(threading.get_ident(), flush=True); time.sleep(60)")
	var base uint64
	if _, err := fmt.Sscan(line, &base); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	if found, err := FindPython(pid, []uint64{base}); !errors.Is(err, ErrNotReady) {
		t.Errorf("found %+v, %v", found, err)
	}
}
