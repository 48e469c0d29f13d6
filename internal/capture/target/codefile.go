package target

import (
	"debug/elf"
	"fmt"
	"path"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/getdwell/dwell/internal/capture/elffile"
)

// CodeFile is a file whose code a process runs. Offsets that were read in it hold for no
// other file, and its path may lead to another one by the time they are used: a process
// may run another program, and a library may be replaced. A probe at an offset of another
// file would break an instruction there in two, and the program with it.
type CodeFile struct {
	Path string // valid while the process lives
	ID   FileID
}

// FileID tells a file from others, those that later have its number included.
type FileID struct {
	device, inode uint64
	size          int64
	changed       unix.Timespec
}

// Open opens the file. It fails with ErrReplaced where the path leads to another one by
// now, and with ErrNoProcess where it leads nowhere.
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

// openELF opens and reads the file as Open does. What is read of it holds while the file
// is open.
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

// codeFile is the file to which a path leads now.
func codeFile(path string) (CodeFile, error) {
	file, id, err := openCode(path)
	if err != nil {
		return CodeFile{}, err
	}
	return CodeFile{path, id}, file.Close()
}

// mappedFile is the file that a process has mapped: that very one, wherever the names in
// /proc/PID/maps lead. They are as seen from here, or from within a container, so a
// process in a chroot has other ones, and they go on to name what replaced the file.
// Where the rights are missing to open what is mapped, its name has to do.
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

// ExecutableOf is the executable that a process runs. It fails with ErrNoProcess where
// that has ended.
func ExecutableOf(pid int) (CodeFile, error) {
	file, err := codeFile(procPath(pid, "exe"))
	if err != nil {
		return CodeFile{}, fmt.Errorf("tell what process %d runs: %w", pid, err)
	}
	return file, nil
}
