package target

import (
	"strings"

	"github.com/getdwell/dwell/internal/capture/procfs"
)

// Look is one examination of many processes: shared data is read once. It is valid for a short time, and for one
// goroutine.
type Look struct {
	files    *Files
	programs map[program]identified
	tables   map[uint32][]tcpRow // of network namespaces: reading one takes the kernel milliseconds, however small it is
}

// Look begins an examination of processes.
func (f *Files) Look() *Look { return &Look{files: f} }

// program is the place of an executable, as reported by the kernel, which does not touch the file.
type program struct{ mounts, path string }

// identified is the identity of the file, or why it is not known.
type identified struct {
	id  FileID
	err error
}

// executable returns the executable of a process. Processes whose executable is at the same place share one lookup,
// because a file system that does not answer delays it.
func (l *Look) executable(pid int) (CodeFile, error) {
	exe := procPath(pid, "exe")
	at, sure := programOf(pid)
	if known, ok := l.programs[at]; ok && sure {
		return CodeFile{exe, known.id}, known.err
	}
	file, err := codeFile(exe)
	if again, same := programOf(pid); sure && same && again == at && (lasting(err) || unread(err) != nil) { // otherwise it runs another one by now
		if l.programs == nil {
			l.programs = map[program]identified{}
		}
		l.programs[at] = identified{file.ID, err}
	}
	return file, err
}

// programOf returns the place of a process's executable. sure is false if the same place may mean different files,
// because several of that name may have been deleted.
func programOf(pid int) (at program, sure bool) {
	path, err1 := procfs.Readlink(procPath(pid, "exe"))
	mounts, err2 := procfs.Readlink(procPath(pid, "ns/mnt"))
	return program{mounts, path}, err1 == nil && err2 == nil && !strings.HasSuffix(path, " (deleted)")
}
