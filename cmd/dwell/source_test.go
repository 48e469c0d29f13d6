//go:build linux

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const theirs = 64000 // a user without rights, other than the one as which root reads

// planted returns a directory of that user with files named like source code: plain ones, and some that lead to files
// only root may read.
func planted(t *testing.T) (dir string) {
	t.Helper()
	needRoot(t)
	dir = directoryOf(t, theirs)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	secret := filepath.Join(directoryOf(t, 0), "secret")
	put(t, secret, []byte("root's\n"))
	put(t, at("all.py"), []byte("for all\n"))
	put(t, at("own.py"), []byte("their own\n"))
	put(t, at("roots.py"), []byte("root's\n"))
	put(t, at("large.py"), make([]byte, maxSource+1))
	err := errors.Join(
		os.Chmod(at("all.py"), 0o644), os.Chown(at("own.py"), theirs, theirs), os.Chmod(at("large.py"), 0o644),
		os.Symlink(secret, at("link.py")), os.Symlink(at("own.py"), at("own-link.py")), os.Symlink(dir, at("dir")),
		os.Symlink("/proc/self/environ", at("environ.py")), os.Symlink("/etc/shadow", at("shadow.py")),
		syscall.Mkfifo(at("pipe.py"), 0o666), os.Chmod(at("pipe.py"), 0o666),
	)
	for _, name := range []string{"link.py", "own-link.py", "dir", "environ.py", "shadow.py"} {
		err = errors.Join(err, os.Lchown(at(name), theirs, theirs))
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// shown returns the files whose first line is shown.
func shown(s *sources, dir string) (list []string) {
	for _, name := range []string{
		"all.py", "own.py", "roots.py", "large.py", "link.py", "own-link.py", "dir/all.py", "environ.py", "shadow.py", "pipe.py", "missing.py",
	} {
		if s.lines(filepath.Join(dir, name), 1, 1) != nil {
			list = append(list, name)
		}
	}
	return list
}

func TestNoLineIsShownThatTheServiceMayNotReadItself(t *testing.T) {
	dir := planted(t)
	service := exec.Command("sleep", "60")
	service.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: theirs, Gid: theirs}}
	if err := service.Start(); err != nil {
		t.Fatal(err)
	}
	defer service.Wait()
	defer service.Process.Kill()
	for name, c := range map[string]struct {
		of   sourceOptions
		pid  int
		who  invoker
		want string
	}{
		"of a process":                 {pid: service.Process.Pid, want: "all.py own.py own-link.py dir/all.py"},
		"of a recording, by root":      {want: "all.py dir/all.py"},
		"of a recording, by the user":  {who: invoker{sudo: true, uid: theirs, gid: theirs}, want: "all.py own.py dir/all.py"},
		"of a recording, by another":   {who: invoker{sudo: true, uid: 1234, gid: 1234}, want: "all.py"},
		"below a directory, by root":   {of: sourceOptions{root: dir}, want: "all.py own.py dir/all.py"},
		"below a directory, by others": {of: sourceOptions{root: dir}, who: invoker{sudo: true, uid: 1234, gid: 1234}, want: "all.py dir/all.py"},
	} {
		s, err := c.of.open(c.pid, c.who)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(shown(s, dir), " "); got != c.want {
			t.Errorf("%s: lines are shown of %q, want %q", name, got, c.want)
		}
		s.close()
	}
}

func TestWhatIsLeftOutIsSaid(t *testing.T) {
	dir := planted(t)
	s, err := (&sourceOptions{}).open(0, invoker{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	var said strings.Builder
	for _, name := range []string{"roots.py", "roots.py", "missing.py", "pipe.py"} {
		s.lines(filepath.Join(dir, name), 1, 1)
	}
	s.say(&said, "show")
	for _, want := range []string{"roots.py: permission denied", "pipe.py: not a plain file"} {
		if strings.Count(said.String(), want) != 1 || strings.Count(said.String(), "\n") != 2 {
			t.Errorf("said is %q, want %q in it once", said.String(), want)
		}
	}
}
