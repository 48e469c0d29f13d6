package target

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/getdwell/dwell/internal/capture/procfs"
)

// Info describes a process. It fails with ErrNoProcess, ErrZombie or ErrKernelThread.
func (l *Look) Info(pid int) (Process, error) {
	s, err := readStat(strconv.Itoa(pid))
	if err == nil {
		err = s.watchable()
	}
	if err != nil {
		return Process{}, fmt.Errorf("inspect process %d: %w", pid, err)
	}
	return l.describe(pid, s), nil
}

// Info describes one process, as Look.Info does.
func (f *Files) Info(pid int) (Process, error) { return f.Look().Info(pid) }

// Info describes a single process, as Files.Info does.
func Info(pid int) (Process, error) { return new(Files).Info(pid) }

// watchable returns why a task is not a process that can be watched.
func (s procStat) watchable() error {
	switch {
	case s.flags&kernelThread != 0:
		return fmt.Errorf("%w %q (give the pid of a service)", ErrKernelThread, s.comm)
	case s.state == 'Z' || s.state == 'X':
		return fmt.Errorf("%w: %q (its parent, process %d, may have started another)", ErrZombie, s.comm, s.parent)
	}
	return nil
}

func (l *Look) describe(pid int, s procStat) Process {
	p := Process{PID: pid, Start: s.start, Parent: s.parent, Comm: s.comm, Exe: exeName(pid)}
	file, err := l.executable(pid)
	if err != nil {
		p.Runtime, p.Unread = runtimeByName(p.Exe), unread(err)
	} else {
		p.Runtime, p.Unread = l.files.detectRuntime(pid, p.Exe, file)
		p.Build = l.files.build(file)
	}
	if set, err := Processors(pid); err == nil {
		p.CPUs = int64(set.Count())
	}
	p.Version, p.Unsaid = l.files.version(pid)
	return p
}

// exeName returns the base name of the executable; "" if it cannot be read.
func exeName(pid int) string {
	link, err := procfs.Readlink(procPath(pid, "exe"))
	if err != nil {
		return ""
	}
	return path.Base(strings.TrimSuffix(link, " (deleted)"))
}

// Threads lists the threads of a process, by tid.
func Threads(pid int) ([]Thread, error) {
	tids, err := numericEntries(procPath(pid, "task"))
	if err != nil {
		return nil, fmt.Errorf("list the threads of process %d: %w", pid, err)
	}
	slices.Sort(tids)
	threads := make([]Thread, 0, len(tids))
	for _, tid := range tids {
		task := strconv.Itoa(pid) + "/task/" + strconv.Itoa(tid)
		s, err := readStat(task)
		if errors.Is(err, ErrNoProcess) {
			continue // ended since it was listed
		}
		if err != nil {
			return nil, fmt.Errorf("inspect thread %d of process %d: %w", tid, pid, err)
		}
		t := Thread{TID: tid, Start: s.start, Name: s.comm, State: s.state, Syscall: -1}
		if line, err := os.ReadFile("/proc/" + task + "/syscall"); err == nil {
			t.Syscall, t.Arg = parseSyscall(string(line))
		}
		threads = append(threads, t)
	}
	return threads, nil
}

// parseSyscall reads /proc/PID/task/TID/syscall: "running", "-1 sp pc" outside a system call, or the number and the
// arguments of the call in which the thread is blocked.
func parseSyscall(line string) (nr int, arg uint64) {
	fields := strings.Fields(line)
	if len(fields) < 2 {
		return -1, 0
	}
	nr, err := strconv.Atoi(fields[0])
	if err != nil || nr < 0 {
		return -1, 0
	}
	arg, err = strconv.ParseUint(strings.TrimPrefix(fields[1], "0x"), 16, 64)
	if err != nil {
		return -1, 0
	}
	return nr, arg
}

// Tree describes a process and its living descendants, parents before children. It fails as Info does.
func (f *Files) Tree(pid int) ([]Process, error) {
	look := f.Look()
	root, err := look.Info(pid)
	if err != nil {
		return nil, err
	}
	pids, err := Family(pid)
	tree := []Process{root}
	for _, p := range pids[min(1, len(pids)):] {
		if s, err := readStat(strconv.Itoa(p)); err == nil { // otherwise it has ended since
			tree = append(tree, look.describe(p, s))
		}
	}
	return tree, err
}

// Family lists the pids of a process and of its living descendants, parents before children. It does not examine
// them.
func Family(pid int) ([]int, error) {
	pids, err := numericEntries("/proc")
	if err != nil {
		return nil, fmt.Errorf("list the children of process %d: %w", pid, err)
	}
	children := map[int][]int{}
	for _, p := range pids {
		// Processes that ended meanwhile are no longer living descendants.
		if s, err := readStat(strconv.Itoa(p)); err == nil && s.watchable() == nil {
			children[s.parent] = append(children[s.parent], p)
		}
	}
	family := []int{pid}
	for i := 0; i < len(family); i++ {
		next := children[family[i]]
		delete(children, family[i]) // reused pids may form a cycle
		slices.Sort(next)
		family = append(family, next...)
	}
	return family, nil
}

// Roots returns the processes that do not descend from another one in the list: of a server and its workers, the
// server.
func Roots(all []Process) []Process {
	listed := map[int]bool{}
	for _, p := range all {
		listed[p.PID] = true
	}
	return slices.DeleteFunc(slices.Clone(all), func(p Process) bool { return listed[p.Parent] })
}
