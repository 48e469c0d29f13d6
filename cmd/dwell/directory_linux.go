package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"golang.org/x/sys/unix"
)

// maxLinks is how many symbolic links may be followed to a directory, as in the kernel.
const maxLinks = 40

// openDirectory opens a directory step by step. It follows a symbolic link on the way only if the link's owner is
// trusted, no matter how links change meanwhile.
func openDirectory(path string, trusted func(uid uint32) bool) (int, error) {
	at, links := unix.AT_FDCWD, 0
	step := func(name string) (int, error) {
		return unix.Openat(at, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	}
	for rest := steps(path); len(rest) > 0; {
		fd, err := step(rest[0])
		if err != nil {
			return -1, errors.Join(closeStep(at), &fs.PathError{Op: "open", Path: path, Err: err})
		}
		rest = rest[1:]
		to, err := linkAt(fd, trusted)
		if links++; err == nil && to != "" && links > maxLinks {
			err = unix.ELOOP
		}
		if err != nil {
			return -1, errors.Join(closeStep(at), closeStep(fd), &fs.PathError{Op: "open", Path: path, Err: err})
		}
		if to != "" {
			unix.Close(fd)
			rest = append(steps(to), rest...)
			continue
		}
		closeStep(at)
		at = fd
	}
	return at, nil
}

// steps returns the parts of a path. The first part of an absolute path is the root.
func steps(path string) (list []string) {
	if strings.HasPrefix(path, "/") {
		list = append(list, "/")
	}
	for part := range strings.SplitSeq(path, "/") {
		if part != "" {
			list = append(list, part)
		}
	}
	return list
}

func closeStep(fd int) error {
	if fd == unix.AT_FDCWD {
		return nil
	}
	return unix.Close(fd)
}

// linkAt returns the target of a symbolic link, or "" for a directory.
func linkAt(fd int, trusted func(uid uint32) bool) (string, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return "", err
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return "", nil
	case unix.S_IFLNK:
		if !trusted(st.Uid) {
			return "", fmt.Errorf("a symbolic link of user %d is on the way: %w", st.Uid, fs.ErrPermission)
		}
		to := make([]byte, unix.PathMax)
		n, err := unix.Readlinkat(fd, "", to)
		if err == nil && (n == 0 || n == len(to)) {
			err = unix.ENAMETOOLONG
		}
		return string(to[:max(n, 0)]), err
	}
	return "", unix.ENOTDIR
}
