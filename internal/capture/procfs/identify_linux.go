package procfs

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

func identify(path string) (Identity, error) {
	id, _, err := stated(unix.AT_FDCWD, path, 0)
	if err != nil {
		err = &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return id, err
}

// stated returns the identity of a file and its kind, as known to the kernel.
func stated(dir int, name string, how int) (Identity, uint16, error) {
	var s unix.Statx_t
	if err := unix.Statx(dir, name, how|unix.AT_STATX_DONT_SYNC, unix.STATX_INO|unix.STATX_TYPE, &s); err != nil {
		return Identity{}, 0, err
	}
	return Identity{unix.Mkdev(s.Dev_major, s.Dev_minor), s.Ino}, s.Mode & unix.S_IFMT, nil
}
