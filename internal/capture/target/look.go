package target

import (
	"strings"

	"github.com/getdwell/dwell/internal/capture/procfs"
)

// Look is one look at many processes: what they share is read once. It holds for that moment, and is to be used
// by one goroutine.
type Look struct {
	files    *Files
	programs map[program]identified
	tables   map[uint32][]tcpRow // of network namespaces: to read one takes the kernel milliseconds, whatever is in it
}

// Look begins to look at processes.
func (f *Files) Look() *Look { return &Look{files: f} }

// program is where an executable is, as the kernel says, without touching the file.
type program struct{ mounts, path string }

// identified is which file that is, or why that is not known.
type identified struct {
	id  FileID
	err error
}

// executable is what a process runs. It is asked for once of all processes that run what is at one place: a
// file system that does not answer is waited for.
func (l *Look) executable(pid int) (CodeFile, error) {
	exe := procPath(pid, "exe")
	at, sure := programOf(pid)
	if known, ok := l.programs[at]; ok && sure {
		return CodeFile{exe, known.id}, known.err
	}
	file, err := codeFile(exe)
	if again, same := programOf(pid); sure && same && again == at && (lasting(err) || unread(err) != nil) { // else it runs another by now
		if l.programs == nil {
			l.programs = map[program]identified{}
		}
		l.programs[at] = identified{file.ID, err}
	}
	return file, err
}

// programOf is the place of what a process runs; sure is false where two such may be different files, as there
// may have been several that are deleted.
func programOf(pid int) (at program, sure bool) {
	path, err1 := procfs.Readlink(procPath(pid, "exe"))
	mounts, err2 := procfs.Readlink(procPath(pid, "ns/mnt"))
	return program{mounts, path}, err1 == nil && err2 == nil && !strings.HasSuffix(path, " (deleted)")
}
