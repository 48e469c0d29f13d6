package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/getdwell/dwell/recording"
)

// place is the destination of a recording: a name in a directory that is kept open, so that renaming parent
// directories cannot lead dwell elsewhere. The recording is written there under a temporary name and gets its final
// name when something was recorded. A file that had this name before is kept next to it until the new recording is
// complete.
type place struct {
	dir   int         // descriptor of the directory
	name  string      // the recording's name in it
	own   string      // name in it of the file being written, later of the file it replaced
	old   *os.File    // the recording to be replaced; nil: none
	mover *fileRights // the rights with which files are renamed and removed there
	taken bool        // the new recording has its final name
}

// makeFile creates the file of a recording for path, with the rights of its owner; only that user may access it.
func makeFile(path string, owner invoker) (*place, *os.File, error) {
	maker, err := owner.rights()
	if err != nil {
		return nil, nil, fmt.Errorf("%w (without SUDO_UID in the environment dwell does without)", err)
	}
	p := &place{dir: -1, mover: maker, name: filepath.Base(path)}
	p.own = "." + p.name + "." + strings.ToLower(rand.Text()[:8])
	var file *os.File
	err = maker.do(func() (err error) {
		if p.dir, err = openDirectory(filepath.Dir(path), owner.trusts); err != nil {
			return err
		}
		if p.old, err = p.replaceable(path); err != nil {
			return err
		}
		fd, err := unix.Openat(p.dir, p.own, unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
		if err != nil {
			return &fs.PathError{Op: "create", Path: path, Err: err}
		}
		file = os.NewFile(uintptr(fd), path)
		return errors.Join(file.Chmod(0o600), lockFile(file))
	})
	if err == nil && maker == nil {
		p.mover, err = moversOf(p.dir)
	}
	if err != nil {
		if file != nil {
			file.Close()
		}
		p.withdraw(nil)
		return nil, nil, err
	}
	return p, file, nil
}

// moversOf returns the rights with which root, after giving up its own, can rename files in a directory: those of the
// directory's owner.
func moversOf(dir int) (*fileRights, error) {
	var st unix.Stat_t
	if err := unix.Fstat(dir, &st); err != nil || os.Geteuid() != 0 || st.Uid == 0 {
		return nil, err
	}
	return rightsOf(int(st.Uid), int(st.Gid), nil)
}

// replaceable returns the existing file, open and locked, if a new recording may replace it. It must be a recording
// in binary form (the text form is written by hand), or empty.
func (p *place) replaceable(path string) (*os.File, error) {
	fd, err := unix.Openat(p.dir, p.name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, unix.ENOENT):
		return nil, nil
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.ENXIO):
		return nil, fmt.Errorf("%s is not a plain file", path)
	case err != nil:
		return nil, &fs.PathError{Op: "look at", Path: path, Err: err}
	}
	f := os.NewFile(uintptr(fd), path)
	if err := mayReplace(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s %w", path, err)
	}
	return f, nil
}

func mayReplace(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("is not a plain file")
	}
	if err := lockFile(f); err != nil {
		return err
	}
	begin, err := io.ReadAll(io.LimitReader(f, enoughToTell))
	if err != nil {
		return err
	}
	if len(begin) > 0 && !recording.IsBinary(begin) {
		return errors.New("exists and is not a recording")
	}
	return nil
}

// enoughToTell is how many bytes of a file show whether it is a recording.
const enoughToTell = 64

// lockFile marks a recording as being written. On a file system without locks, publish still detects that another
// writer was faster.
func lockFile(f *os.File) error {
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		return errors.New("is being written by another dwell")
	}
	return nil
}

// publish gives the recording its final name. The replaced file gets the temporary name. If the name now belongs to a
// file other than the one examined when recording began, that file stays, and publish returns an error.
func (p *place) publish() error {
	err := p.mover.do(func() error {
		if p.old == nil {
			return renameNew(p.dir, p.own, p.name)
		}
		if err := swapNames(p.dir, p.own, p.name); err != nil {
			return err
		}
		if !sameFile(p.dir, p.own, p.old) {
			return errors.Join(unix.EEXIST, swapNames(p.dir, p.own, p.name))
		}
		return nil
	})
	if errors.Is(err, unix.EEXIST) {
		return fmt.Errorf("%s was made by somebody else meanwhile (another dwell? name another place with -o)", p.name)
	}
	if err != nil {
		return fmt.Errorf("give the recording its name: %w", err)
	}
	p.taken = true
	return nil
}

// open returns the directories in which a recording will still rename and remove files; none for a private recording.
func (p *place) open() []string {
	if p == nil {
		return nil
	}
	return []string{fmt.Sprintf("/proc/self/fd/%d", p.dir)}
}

// replaces reports whether there was a file before.
func (p *place) replaces() bool { return p.old != nil }

// settle removes the file that the new recording replaced, and releases the place.
func (p *place) settle() {
	if p.taken && p.old != nil {
		p.remove(p.own, p.old)
	}
	p.leave()
}

// withdraw restores the state before the recording, and releases the place.
func (p *place) withdraw(file *os.File) {
	name := p.own
	if p.taken {
		name = p.name
	}
	if p.taken && p.old != nil && p.mover.do(func() error { return swapNames(p.dir, p.own, p.name) }) == nil {
		name = p.own
	}
	if file != nil {
		p.remove(name, file)
	}
	p.leave()
}

// remove removes a name if it belongs to that file.
func (p *place) remove(name string, of *os.File) {
	_ = p.mover.do(func() error {
		if !sameFile(p.dir, name, of) {
			return nil
		}
		return unix.Unlinkat(p.dir, name, 0)
	}) // otherwise the file stays, and belongs to no other recording
}

func (p *place) leave() {
	if p.dir >= 0 {
		unix.Close(p.dir)
	}
	if p.old != nil {
		p.old.Close()
	}
	p.mover.end()
}

// sameFile reports whether a name in a directory belongs to an open file.
func sameFile(dir int, name string, f *os.File) bool {
	var named, open unix.Stat_t
	err := errors.Join(unix.Fstatat(dir, name, &named, unix.AT_SYMLINK_NOFOLLOW), unix.Fstat(int(f.Fd()), &open))
	return err == nil && named.Dev == open.Dev && named.Ino == open.Ino
}

// renameNew renames to a name that must not exist yet.
func renameNew(dir int, from, to string) error {
	err := unix.Renameat2(dir, from, dir, to, unix.RENAME_NOREPLACE)
	if !unsupported2(err) {
		return err
	}
	if err := unix.Linkat(dir, from, dir, to, 0); err != nil {
		return err
	}
	return unix.Unlinkat(dir, from, 0)
}

// swapNames exchanges the names of two files. If the file system cannot do that atomically, one of the names is
// missing for a moment.
func swapNames(dir int, a, b string) error {
	err := unix.Renameat2(dir, a, dir, b, unix.RENAME_EXCHANGE)
	if !unsupported2(err) {
		return err
	}
	aside := a + ".old"
	if err := unix.Linkat(dir, b, dir, aside, 0); err != nil {
		return err
	}
	return errors.Join(unix.Renameat(dir, a, dir, b), unix.Renameat(dir, aside, dir, a))
}

// unsupported2 reports whether the file system, or a system call filter, does not support this kind of renameat2.
func unsupported2(err error) bool {
	return errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM)
}

// makeDirectory makes a directory for recordings, unless it exists.
func makeDirectory(path string, owner invoker) error {
	maker, err := owner.rights()
	if err != nil {
		return err
	}
	defer maker.end()
	err = maker.do(func() error { return os.Mkdir(path, 0o755) })
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}
