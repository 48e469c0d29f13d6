package target

import (
	"debug/elf"
	"fmt"
	"path"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/getdwell/dwell/internal/capture/elffile"
)

// CodeFile is a file whose code a process runs. Offsets read in it are not valid for any other file, but its path may
// lead to another file by the time they are used: a process may run another program, and a library may be replaced. A
// probe at an offset of another file could split an instruction there, and crash the program.
type CodeFile struct {
	Path string // valid while the process lives
	ID   FileID
}

// FileID distinguishes a file from others, including later ones that reuse its inode number.
type FileID struct {
	device, inode uint64
	size          int64
	changed       unix.Timespec
}

// Open opens the file. It fails with ErrReplaced if the path now leads to another file, and with ErrNoProcess if it
// leads nowhere.
func (c CodeFile) Open() (*elffile.Patient, error) {
	file, id, err := openCode(c.Path)
	if err != nil {
		return nil, err
	}
	if id != c.ID {
		file.Close()
		return nil, ErrReplaced
	}
	return file, nil
}

// openELF opens and reads the file as Open does. The returned data is valid while the file is open.
func (c CodeFile) openELF() (*elf.File, *elffile.Patient, error) {
	file, err := c.Open()
	if err != nil {
		return nil, nil, err
	}
	program, err := elffile.New(file)
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return program, file, nil
}

// codeFile returns the file to which a path currently leads.
func codeFile(path string) (CodeFile, error) {
	file, id, err := openCode(path)
	if err != nil {
		return CodeFile{}, err
	}
	return CodeFile{path, id}, file.Close()
}

// mappedFile returns the very file that a process has mapped, wherever the names in /proc/PID/maps lead. Those names
// are relative to this process's root or a container's, so a process in a chroot has other names, and they may lead
// to a file that replaced the mapped one. If the rights to open the mapped file are missing, its name is used.
func mappedFile(pid int, m mapping) (CodeFile, error) {
	file, err := codeFile(procPath(pid, fmt.Sprintf("map_files/%x-%x", m.from, m.to)))
	if err == nil {
		return file, nil
	}
	file, named := codeFile(procPath(pid, "root"+m.name))
	if named == nil {
		return file, nil
	}
	if _, gone := readStat(strconv.Itoa(pid)); gone != nil {
		return CodeFile{}, gone
	}
	return CodeFile{}, fmt.Errorf("%w: %s, which it has mapped, cannot be opened: %v", ErrUnsupported, path.Base(m.name), err)
}

func openCode(path string) (*elffile.Patient, FileID, error) {
	file, err := elffile.OpenPatient(path)
	if err != nil {
		return nil, FileID{}, procError(err)
	}
	id, err := elffile.Ask(file, identify)
	if err != nil {
		file.Close()
		return nil, FileID{}, err
	}
	return file, id, nil
}

func identify(fd int) (FileID, error) {
	var s unix.Stat_t
	if err := unix.Fstat(fd, &s); err != nil {
		return FileID{}, err
	}
	return FileID{s.Dev, s.Ino, s.Size, s.Ctim}, nil
}

// ExecutableOf returns the executable that a process runs. It fails with ErrNoProcess if the process has ended.
func ExecutableOf(pid int) (CodeFile, error) {
	file, err := codeFile(procPath(pid, "exe"))
	if err != nil {
		return CodeFile{}, fmt.Errorf("tell what process %d runs: %w", pid, err)
	}
	return file, nil
}
