//go:build linux

package torture

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
)

// silentFS is a file system (FUSE) with one file, a program, that does not answer while it is silent.
type silentFS struct {
	kernel  *os.File
	program []byte
	silent  sync.Mutex // held while it is
}

// mountSilent mounts one until the test ends; the path is its program's.
func mountSilent(t *testing.T, at string, program []byte) (fs *silentFS, path string) {
	t.Helper()
	// Not os.OpenFile: whoever polls it before it is mounted is told of an error.
	fd, err := syscall.Open("/dev/fuse", syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Skipf("there is no FUSE: %v", err)
	}
	kernel := os.NewFile(uintptr(fd), "/dev/fuse")
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", kernel.Fd())
	if err := errors.Join(os.Mkdir(at, 0o755), syscall.Mount("silent", at, "fuse.silent", syscall.MS_NOSUID|syscall.MS_NODEV, options)); err != nil {
		t.Fatal(err)
	}
	fs = &silentFS{kernel: kernel, program: program}
	done := make(chan bool)
	go func() {
		defer close(done)
		if err := fs.serve(); !errors.Is(err, syscall.ENODEV) { // which it is once unmounted
			t.Errorf("the silent file system ended: %v", err)
		}
	}()
	t.Cleanup(func() { // whoever waits for it is told that it is gone
		syscall.Unmount(at, syscall.MNT_FORCE|syscall.MNT_DETACH)
		<-done
		kernel.Close()
	})
	return fs, filepath.Join(at, "program")
}

// serve answers the kernel until that has no more to ask.
func (fs *silentFS) serve() error {
	for buffer := make([]byte, 1<<17+4096); ; {
		n, err := fs.kernel.Read(buffer)
		if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil || n < 40 {
			return fmt.Errorf("%d bytes: %w", n, err)
		}
		fs.silent.Lock() // what was asked meanwhile is answered afterwards
		fs.answer(buffer[:n])
		fs.silent.Unlock()
	}
}

// answer answers what include/uapi/linux/fuse.h asks of a file system that can be read.
func (fs *silentFS) answer(in []byte) {
	const lookup, getattr, open, read, opendir, start, forget, interrupt, forgets = 1, 3, 14, 15, 27, 26, 2, 36, 42
	const long = 1 << 30 // seconds for which the kernel may believe it
	op, node := binary.LittleEndian.Uint32(in[4:]), binary.LittleEndian.Uint64(in[16:])
	switch {
	case op == forget || op == forgets || op == interrupt:
	case op == start:
		out := make([]uint32, 16)
		out[0], out[1], out[5] = 7, 31, 1<<16 // the version, the largest write
		fs.reply(in, 0, out)
	case op == lookup && string(in[40:]) == "program\x00":
		fs.reply(in, 0, []any{uint64(2), uint64(0), uint64(long), uint64(long), uint64(0), fs.attributes(2)})
	case op == getattr:
		fs.reply(in, 0, []any{uint64(long), uint64(0), fs.attributes(node)})
	case op == open || op == opendir:
		fs.reply(in, 0, []uint64{0, 2}) // what was read of it stays
	case op == read:
		from := min(binary.LittleEndian.Uint64(in[48:]), uint64(len(fs.program)))
		to := min(from+uint64(binary.LittleEndian.Uint32(in[56:])), uint64(len(fs.program)))
		fs.reply(in, 0, fs.program[from:to])
	default:
		fs.reply(in, syscall.ENOSYS, []byte{})
	}
}

// attributes are those of its directory (1) and its program.
func (fs *silentFS) attributes(node uint64) any {
	mode, size := uint32(syscall.S_IFDIR|0o755), uint64(0)
	if node != 1 {
		mode, size = syscall.S_IFREG|0o755, uint64(len(fs.program))
	}
	return struct {
		Ino, Size, Blocks  uint64
		Times              [3]uint64
		Nanoseconds        [3]uint32
		Mode, Links        uint32
		UID, GID, Device   uint32
		BlockSize, Flagged uint32
	}{Ino: node, Size: size, Blocks: size / 512, Mode: mode, Links: 1, BlockSize: 4096}
}

func (fs *silentFS) reply(to []byte, errno syscall.Errno, parts any) {
	list, ok := parts.([]any)
	if !ok {
		list = []any{parts}
	}
	out := make([]byte, 16)
	for _, part := range list {
		out, _ = binary.Append(out, binary.LittleEndian, part)
	}
	binary.LittleEndian.PutUint32(out, uint32(len(out)))
	binary.LittleEndian.PutUint32(out[4:], uint32(-int32(errno)))
	copy(out[8:16], to[8:16])
	fs.kernel.Write(out)
}
