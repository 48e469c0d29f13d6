package target

import (
	"bufio"
	"debug/elf"
	"debug/gosym"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
)

const inlinedProgram = `package main

import (
	"fmt"
	"runtime"
	"time"
)

type counter struct{ n int }

func (c *counter) add() uintptr {
	c.n++
	return where()
}

//go:noinline
func where() uintptr {
	var pcs [8]uintptr
	runtime.Callers(2, pcs[:])
	return pcs[0]
}

func once(c *counter) uintptr { return c.add() }

//go:noinline
func outer(c *counter) (uintptr, uintptr) {
	return once(c), once(c)
}

func main() {
	a, b := outer(&counter{})
	fmt.Println(uint64(a), uint64(b))
	time.Sleep(time.Minute)
}
`

// The places of addresses equal those that the runtime would print, including inlined functions, whether or not the
// program has symbols.
func TestGoTableNamesInlinedFunctions(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	for name, flags := range map[string][]string{
		"symbols": nil, "stripped": {"-ldflags=-s -w"}, "position independent": {"-buildmode=pie", "-ldflags=-s -w"},
	} {
		t.Run(name, func(t *testing.T) {
			it, line := started(t, flags)
			var tables GoTables
			table, err := tables.Open(it)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := tables.Open(it); err != nil || again.goCode != table.goCode {
				t.Errorf("the table is read for each process that runs the file (%v)", err)
			}
			for _, f := range strings.Fields(line) {
				address, err := strconv.ParseUint(f, 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, f := range table.Frames(address - 1) {
					got = append(got, f.Function+" "+filepath.Base(f.File)+":"+strconv.Itoa(f.Line))
				}
				want := "main.(*counter).add main.go:13, main.once main.go:23, main.outer main.go:27"
				if joined := strings.Join(got, ", "); joined != want {
					t.Errorf("%s\nwant %s", joined, want)
				}
			}
		})
	}
}

// The lines of every address of a function equal those of Go's own table reader.
func TestGoTableOfEachProcessor(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		t.Run(arch, func(t *testing.T) {
			t.Setenv("GOARCH", arch)
			t.Setenv("CGO_ENABLED", "0")
			file, err := elf.Open(built(t, nil))
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			data, err := file.Section(".gopclntab").Data()
			if err != nil {
				t.Fatal(err)
			}
			code, err := parseGoTable(data)
			if err != nil {
				t.Fatal(err)
			}
			code.text = file.Section(".text").Addr
			want, err := gosym.NewTable(nil, gosym.NewLineTable(data, code.text))
			if err != nil {
				t.Fatal(err)
			}
			outer := want.LookupFunc("main.outer")
			table, seen := GoTable{code, 0}, map[int]bool{}
			for pc := outer.Entry; pc < outer.End; pc++ {
				_, line, _ := want.PCToLine(pc)
				if got := table.Frames(pc); len(got) != 1 || got[0].Line != max(0, line) || got[0].Function != "main.outer" {
					t.Fatalf("%#x behind the entry: %+v, want line %d", pc-outer.Entry, got, line)
				}
				seen[line] = true
			}
			if len(seen) < 3 {
				t.Errorf("only the lines %v", seen)
			}
			for i := range want.Funcs { // some are followed by space that belongs to no line
				if got := table.Frames(want.Funcs[i].Entry - 1); len(got) > 0 && got[0].Line < 0 {
					t.Fatalf("before %s: line %d", want.Funcs[i].Name, got[0].Line)
				}
			}
		})
	}
}

// started builds and runs the program; it returns its pid and the line that it prints.
func started(t *testing.T, flags []string) (pid int, line string) {
	t.Helper()
	it := exec.Command(built(t, flags))
	out, err := it.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := it.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = it.Process.Kill(); _ = it.Wait() })
	line, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return it.Process.Pid, line
}

// built builds the program.
func built(t *testing.T, flags []string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(inlinedProgram), 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", append(append([]string{"build", "-o", "it"}, flags...), "main.go")...)
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, "it")
}

// A program that was built in its own directory has no released module: its files have no version.
func TestReleasedModule(t *testing.T) {
	for m, want := range map[debug.Module]string{
		{Path: "acme.com/shop/v2", Version: "v2.3.5"}:  "acme.com/shop/v2@v2.3.5",
		{Path: "acme.com/shop/v2", Version: "(devel)"}: "",
		{}: "",
	} {
		if got := released(m); got != want {
			t.Errorf("%+v: %q, want %q", m, got, want)
		}
	}
}
