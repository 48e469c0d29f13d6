package procfs

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// Memory is the memory of a running process.
type Memory struct{ PID int }

// ReadAt implements io.ReaderAt.
func (m Memory) ReadAt(into []byte, at int64) (int, error) {
	if len(into) == 0 {
		return 0, nil
	}
	local := unix.Iovec{Base: &into[0]}
	local.SetLen(len(into))
	n, err := unix.ProcessVMReadv(m.PID, []unix.Iovec{local}, []unix.RemoteIovec{{Base: uintptr(at), Len: len(into)}}, 0)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return memories.read(m.PID, into, at)
	case err == nil && n < len(into):
		err = unix.EFAULT
	}
	return max(n, 0), err
}

// memories are the open memories of processes that the helper provided.
var memories = &openMemories{files: map[int]*os.File{}}

type openMemories struct {
	mu    sync.Mutex
	files map[int]*os.File
}

// maxMemories is how many are kept open.
const maxMemories = 128

func (o *openMemories) read(pid int, into []byte, at int64) (int, error) {
	file, known, err := o.open(pid)
	if err != nil {
		return 0, err
	}
	n, err := file.ReadAt(into, at)
	if n > 0 || !known {
		return n, err
	}
	o.forget(pid, file) // the process now runs another program, or has nothing mapped there
	if file, _, err = o.open(pid); err != nil {
		return 0, err
	}
	return file.ReadAt(into, at)
}

func (o *openMemories) open(pid int) (file *os.File, known bool, err error) {
	o.mu.Lock()
	file = o.files[pid]
	o.mu.Unlock()
	if file != nil {
		return file, true, nil
	}
	if file, err = Open("/proc/" + strconv.Itoa(pid) + "/mem"); err != nil {
		return nil, false, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.files) >= maxMemories {
		for _, old := range o.files {
			old.Close()
		}
		clear(o.files)
	}
	if old := o.files[pid]; old != nil {
		old.Close()
	}
	o.files[pid] = file
	return file, false, nil
}

func (o *openMemories) forget(pid int, file *os.File) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.files[pid] == file {
		delete(o.files, pid)
	}
	file.Close()
}
