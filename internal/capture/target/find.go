package target

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/getdwell/dwell/internal/capture/procfs"
)

// Find lists the processes whose comm, executable or first two arguments (base names only) match the regular
// expression, by pid. It never lists dwell itself. No match is ErrNoProcess.
func Find(pattern string) ([]Process, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("find processes by name: %w (the name is a regular expression)", err)
	}
	pids, err := numericEntries("/proc")
	if err != nil {
		return nil, fmt.Errorf("find processes by name: %w", err)
	}
	slices.Sort(pids)
	self, look := ourselves(), new(Files).Look()
	var found []Process
	for _, pid := range pids {
		s, err := readStat(strconv.Itoa(pid))
		if err != nil || s.watchable() != nil || self(pid) {
			continue
		}
		cmdline, _ := procfs.ReadFile(procPath(pid, "cmdline"))
		if slices.ContainsFunc(names(s.comm, exeName(pid), cmdline), re.MatchString) {
			found = append(found, look.describe(pid, s))
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("find processes by name: %w matches %q (names are those of programs: puma, node, server.js; list them with ps -e)",
			ErrNoProcess, pattern)
	}
	return found, nil
}

// names returns the texts against which a pattern is matched. Of the arguments it uses only two base names: the
// others may contain secrets, and would match by accident.
func names(comm, exe string, cmdline []byte) []string {
	texts := []string{comm}
	if exe != "" {
		texts = append(texts, exe)
	}
	for i, arg := range bytes.Split(bytes.TrimRight(cmdline, "\x00"), []byte{0}) {
		if i == 2 {
			break
		}
		// A program may have replaced its arguments by a title with spaces ("puma 6.4 (tcp://0.0.0.0:80)"), whose
		// first word is its name.
		if word := strings.Fields(string(arg)); len(word) > 0 {
			texts = append(texts, path.Base(word[0]))
		}
	}
	return texts
}

// ourselves returns a function that reports which processes are dwell: this one, its ancestors (sudo and shells name
// it in their arguments), and others that run the same executable.
func ourselves() func(pid int) bool {
	own := map[int]bool{}
	for pid := os.Getpid(); pid > 1 && !own[pid]; {
		own[pid] = true
		s, err := readStat(strconv.Itoa(pid))
		if err != nil {
			break
		}
		pid = s.parent
	}
	exe, err := procfs.Identify("/proc/self/exe")
	return func(pid int) bool {
		if own[pid] {
			return true
		}
		other, err2 := procfs.Identify(procPath(pid, "exe"))
		return err == nil && err2 == nil && exe == other
	}
}
