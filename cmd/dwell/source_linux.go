package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// sourceTree is a place for source code: a directory that is kept open, and the rights with which it is read.
type sourceTree struct {
	dir   int
	by    *fileRights
	named bool                  // given by the user: the files' own paths do not apply there
	how   uint64                // how paths below it are resolved (openat2); 0: step by step
	links func(uid uint32) bool // whose symbolic links are followed in that case
}

// nobody is the user that has only the rights that everyone has.
const nobody = 65534

// openTrees opens the places for source code: the directory root, if it is given, and the files' own paths, as the
// process pid sees them or, for a recording, on this machine.
//
// Source code of a process is read with the rights of its user, within its root. Elsewhere it is read with the rights
// of the user who called dwell. If that is root, a given directory is read with the rights of its owner, and other
// places with those of the user nobody: files that a recording names are then shown only if everyone may read them.
// Symbolic links are not followed below a given directory. With a user's rights, only links of that user and of root
// are followed.
func openTrees(root string, pid int, who invoker) (trees []*sourceTree, err error) {
	if root != "" {
		tree, err := openNamed(root, who)
		if err != nil {
			return nil, err
		}
		trees = append(trees, tree)
	}
	var tree *sourceTree
	if pid > 0 {
		tree, err = openSeenBy(pid)
	} else {
		tree, err = openMachine(who)
	}
	if err == nil {
		trees = append(trees, tree)
	}
	return trees, nil // without it there is no source, as if none were found
}

func openNamed(root string, who invoker) (*sourceTree, error) {
	fd, err := unix.Open(root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("--source-root %s: no such directory", root)
	}
	tree := &sourceTree{dir: fd, named: true, how: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS}
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil {
		tree.by, err = readerRights(who, int(st.Uid), int(st.Gid))
	}
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("--source-root %s: %w", root, err)
	}
	return tree, nil
}

// readerRights returns the rights of the user who called dwell, or of another user if that is root.
func readerRights(who invoker, other, group int) (*fileRights, error) {
	switch {
	case who.sudo:
		return who.rights()
	case os.Geteuid() == 0:
		return rightsOf(other, group, nil)
	}
	return plainRights()
}

func openMachine(who invoker) (*sourceTree, error) {
	by, err := readerRights(who, nobody, nobody)
	links := who.trusts
	if os.Geteuid() == 0 && !who.sudo {
		links = func(uint32) bool { return true } // whoever made a link may read what the user nobody may read
	}
	return &sourceTree{dir: unix.AT_FDCWD, by: by, links: links}, err
}

// openSeenBy opens the root of a process.
func openSeenBy(pid int) (*sourceTree, error) {
	uid, gid, groups, err := fileUser(pid)
	if err != nil {
		return nil, err
	}
	by, err := rightsOf(uid, gid, groups)
	if err != nil && uid == os.Geteuid() {
		by, err = plainRights()
	}
	if err != nil {
		return nil, err
	}
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/root", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		by.end()
		return nil, err
	}
	return &sourceTree{dir: fd, by: by, how: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS}, nil
}

// fileUser returns the user and groups that a process has for files.
func fileUser(pid int) (uid, gid int, groups []int, err error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0, 0, nil, err
	}
	uid, gid = -1, -1
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		list := numbers(value)
		switch {
		case name == "Uid" && len(list) == 4:
			uid = list[3]
		case name == "Gid" && len(list) == 4:
			gid = list[3]
		case name == "Groups":
			groups = list
		}
	}
	if uid < 0 || gid < 0 {
		return 0, 0, nil, errors.New("/proc does not tell the user of the process")
	}
	return uid, gid, groups, nil
}

func numbers(text string) (list []int) {
	for field := range strings.FieldsSeq(text) {
		if n, err := strconv.Atoi(field); err == nil {
			list = append(list, n)
		}
	}
	return list
}

// names returns the paths that a file may have in this place.
func (t *sourceTree) names(file string) []string {
	switch {
	case t.named:
		return belowRoot(file)
	case path.IsAbs(file):
		return []string{file}
	}
	return nil // the directory it is relative to is not known
}

// open opens a plain file.
func (t *sourceTree) open(name string) (f *os.File, err error) {
	err = t.by.do(func() error {
		fd, err := t.openAt(name)
		if err != nil {
			return &fs.PathError{Op: "open", Path: name, Err: err}
		}
		if err := plainSource(fd); err != nil {
			unix.Close(fd)
			return err
		}
		f = os.NewFile(uintptr(fd), name)
		return nil
	})
	return f, err
}

func (t *sourceTree) openAt(name string) (int, error) {
	const flags = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC // without waiting for a pipe
	if t.how != 0 {
		return unix.Openat2(t.dir, name, &unix.OpenHow{Flags: flags, Resolve: t.how})
	}
	dir, err := openDirectory(path.Dir(name), t.links)
	if err != nil {
		return -1, err
	}
	defer closeStep(dir)
	return unix.Openat(dir, path.Base(name), flags|unix.O_NOFOLLOW, 0)
}

// plainSource refuses files that cannot be source code, whatever their name: devices, pipes, the kernel's files about
// processes (which would be dwell's own, through a link), and files that are too large.
func plainSource(fd int) error {
	var st unix.Stat_t
	var system unix.Statfs_t
	if err := errors.Join(unix.Fstat(fd, &st), unix.Fstatfs(fd, &system)); err != nil {
		return err
	}
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFREG, system.Type == unix.PROC_SUPER_MAGIC, system.Type == unix.SYSFS_MAGIC:
		return errors.New("not a plain file")
	case st.Size > maxSource:
		return fmt.Errorf("more than %d MB", maxSource>>20)
	}
	return nil
}

func (t *sourceTree) close() {
	closeStep(t.dir)
	t.by.end()
}
