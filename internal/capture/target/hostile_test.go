package target

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/getdwell/dwell/internal/capture/elffile"
	"github.com/getdwell/dwell/recording"
)

// A program runs normally but claims to export a gigabyte of symbols: examining its process costs no more than
// examining others, and yields the other data.
func TestAProgramThatClaimsGigabytes(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	const claim = 1 << 30
	at := uint64(len(program)+7) &^ 7
	binary.LittleEndian.PutUint64(program[0x28:], at) // offset of the section headers
	binary.LittleEndian.PutUint16(program[0x3c:], 2)  // their number
	binary.LittleEndian.PutUint16(program[0x3e:], 0)  // no names
	path := filepath.Join(t.TempDir(), "claims")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write(program)
	f.Seek(int64(at)+64, 0)
	err = errors.Join(err, binary.Write(f, binary.LittleEndian, elf.Section64{Type: uint32(elf.SHT_DYNSYM), Link: 1, Off: at, Size: claim}), f.Truncate(int64(at)+claim), f.Close())
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p, err := Info(cmd.Process.Pid)
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 200<<20 {
		t.Errorf("%d MB were taken", took>>20)
	}
	if err != nil || p.Runtime != recording.RuntimeNative || !errors.Is(p.Unread, elffile.ErrTooLarge) {
		t.Errorf("%+v, %v; want a process of which it is said that its executable claims too much", p, err)
	}
}
