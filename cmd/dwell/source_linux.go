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

// sourceTree is a place for source code: a directory that is held open, and the rights with which it is read.
type sourceTree struct {
	dir   int
	by    *fileRights
	named bool                  // by the user: the files' own paths do not hold there
	how   uint64                // how paths below it are resolved (openat2); 0: step by step
	links func(uid uint32) bool // whose symbolic links are followed then
}

// nobody is the user that has no rights but those that all have.
const nobody = 65534

// openTrees opens the places for source code: the directory root, if it is named, and where files are as the
// process pid sees them, or, of a recording, on this machine.
//
// Source of a process is read with the rights of its user, within its root. Elsewhere it is read with those
// of the user who called dwell; where that is root, with those of the owner of the directory that was named,
// and without one with nobody's: what a recording names is then shown only if all may read it. Symbolic links
// are not followed below a directory that was named, and with a user's rights only those of that user and root.
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
	return trees, nil // without it there is no source, as where none is found
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

// readerRights are those of the user who called dwell, and where that is root those of another user.
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
		links = func(uint32) bool { return true } // what nobody may read, whoever made the link may, too
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

// fileUser is the user that a process is to files, and its groups.
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

// names are the paths that a file may have in this place.
func (t *sourceTree) names(file string) []string {
	switch {
	case t.named:
		return belowRoot(file)
	case path.IsAbs(file):
		return []string{file}
	}
	return nil // where it is relative to is not known
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
	const flags = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC // a pipe is not waited for
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

// plainSource refuses what is no file of source code, whatever its name: devices, pipes, what the kernel
// tells about processes (those of dwell's own, for a link to them), and what is too large.
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
