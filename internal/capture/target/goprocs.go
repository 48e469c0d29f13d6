package target

import (
	"encoding/binary"
	"fmt"

	"github.com/getdwell/dwell/internal/capture/procfs"
)

// GoResize is the function of Go's runtime that begins by reading how many goroutines can run at once.
const GoResize = "runtime.procresize"

// maxProcs is the maximum that Go allows on any existing machine.
const maxProcs = 1 << 16

// ProcsAddress returns the linked address of a program's GOMAXPROCS: what GoResize reads first. 0 if it cannot be
// determined.
func (p *GoProgram) ProcsAddress() uint64 {
	f, ok := p.Functions[GoResize]
	if !ok {
		return 0
	}
	file, err := p.File.Open()
	if err != nil {
		return 0
	}
	defer file.Close()
	code := make([]byte, min(f.Size, 256))
	if _, err := file.ReadAt(code, int64(f.Offset)); err != nil {
		return 0
	}
	m, err := processorOf(file)
	if err != nil {
		return 0
	}
	return m.GoCode.FirstRead(code, f.Address)
}

// GoProcs reads the GOMAXPROCS of a running process; address is the linked address.
func GoProcs(pid int, exe CodeFile, address uint64) (int64, error) {
	file, opened, err := exe.openELF()
	if err != nil {
		return 0, fmt.Errorf("read GOMAXPROCS of process %d: %w", pid, err)
	}
	defer opened.Close()
	bias, err := loadBias(pid, file)
	if err != nil {
		return 0, fmt.Errorf("read GOMAXPROCS of process %d: %w", pid, err)
	}
	mem, err := procfs.Open(procPath(pid, "mem"))
	if err != nil {
		return 0, fmt.Errorf("read GOMAXPROCS of process %d: %w", pid, procError(err))
	}
	defer mem.Close()
	var b [4]byte
	if _, err := mem.ReadAt(b[:], int64(address+bias)); err != nil {
		return 0, fmt.Errorf("read GOMAXPROCS of process %d: %w", pid, procError(err))
	}
	n := int64(int32(binary.LittleEndian.Uint32(b[:])))
	if n < 1 || n > maxProcs {
		return 0, fmt.Errorf("read GOMAXPROCS of process %d: %w: %d", pid, ErrUnsupported, n)
	}
	return n, nil
}
