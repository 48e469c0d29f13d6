package elffile

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/getdwell/dwell/internal/torture"
)

// holes is a file that is zero after its beginning.
type holes struct {
	begin []byte
	size  int64
}

func (h holes) ReadAt(p []byte, at int64) (int, error) {
	if at >= h.size {
		return 0, io.EOF
	}
	clear(p)
	if at < int64(len(h.begin)) {
		copy(p, h.begin[at:])
	}
	if n := h.size - at; n < int64(len(p)) {
		return int(n), io.EOF
	}
	return len(p), nil
}

// ofGo returns a hostile program with a Go table of that many functions.
func ofGo(t *testing.T, functions uint64) holes {
	t.Helper()
	name, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(name)
	if err != nil || runtime.GOOS != "linux" {
		t.Skipf("a program of Linux is needed: %v", err)
	}
	begin, size := torture.GoProgram(program, functions)
	return holes{begin, size}
}

// The tables of honest programs pass the check.
func TestSoundProgramsAreUnwound(t *testing.T) {
	self, err := os.Executable()
	if err != nil || runtime.GOOS != "linux" {
		t.Skip("programs of Linux are needed")
	}
	for _, name := range []string{self, "/bin/sh"} {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if err := CheckUnwinding(file); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Files that would exhaust a reader's memory, or make it fail, do not pass the check.
func TestUnsoundProgramsAreNotUnwound(t *testing.T) {
	few, many := ofGo(t, 100), ofGo(t, 1<<18)
	if err := CheckUnwinding(few); err != nil {
		t.Errorf("100 functions: %v", err)
	}
	at := bytes.Index(few.begin, []byte{0xf1, 0xff, 0xff, 0xff})
	with := func(offset int, value uint32) holes {
		changed := holes{bytes.Clone(few.begin), few.size}
		binary.LittleEndian.PutUint32(changed.begin[at+offset:], value)
		return changed
	}
	functions := int(binary.LittleEndian.Uint64(few.begin[at+64:]))
	large := func(name string) holes {
		data, err := os.ReadFile(made(t, section{name: name, kind: elf.SHT_PROGBITS, size: maxUnwind + 1}))
		if err != nil {
			t.Fatal(err)
		}
		return holes{data, int64(len(data))}
	}
	for what, c := range map[string]struct {
		file holes
		want error
	}{
		"steps told once for all functions":      {many, ErrTooLarge},
		"more functions than there are anywhere": {ofGo(t, 1<<30), ErrTooLarge},
		"more functions than fit":                {with(8, 1<<16), ErrUnsound},
		"steps outside":                          {with(functions+16, 1<<30), ErrUnsound},
		"lines outside":                          {with(functions+24, 1<<30), ErrUnsound},
		"a function elsewhere":                   {with(functions+8, 7), ErrUnsound},
		"parts in another order":                 {with(40, 1), ErrUnsound},
		"tables of unwinding":                    {large(".eh_frame"), ErrTooLarge},
		"tables of debuggers":                    {large(".debug_frame"), ErrTooLarge},
	} {
		if err := CheckUnwinding(c.file); !errors.Is(err, c.want) {
			t.Errorf("%s: %v; want %v", what, err, c.want)
		}
	}
}

// Overlapping section names are not copied one by one.
func TestNamesWithinEachOther(t *testing.T) {
	sections := []section{{name: strings.Repeat("a", 1<<20), kind: elf.SHT_PROGBITS}}
	for range 20 {
		sections = append(sections, section{kind: elf.SHT_PROGBITS})
	}
	data, err := os.ReadFile(made(t, sections...))
	if err != nil {
		t.Fatal(err)
	}
	head := binary.LittleEndian.Uint64(data[0x28:])
	for i := range uint64(len(sections)) {
		binary.LittleEndian.PutUint32(data[head+64*(i+1):], uint32(1+i))
	}
	if _, err := New(bytes.NewReader(data)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("%v; want %v", err, ErrTooLarge)
	}
}

// stuck is a file on a file system that does not answer until it is closed.
type stuck chan struct{}

func (s stuck) ReadAt([]byte, int64) (int, error) { <-s; return 0, io.EOF }

// A file system that does not answer is given up.
func TestFilesThatDoNotAnswer(t *testing.T) {
	file := make(stuck)
	defer close(file)
	if _, err := New(file); !errors.Is(err, ErrStalled) {
		t.Errorf("read: %v; want %v", err, ErrStalled)
	}
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(name) // nothing writes to it
	if !errors.Is(err, ErrStalled) {
		t.Errorf("opened: %v; want %v", err, ErrStalled)
	}
	if writer, err := os.OpenFile(name, os.O_RDWR, 0); err == nil {
		writer.Close() // ends the wait
	}
}
