package target

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// kernelThread is PF_KTHREAD in the flags of /proc/PID/stat.
const kernelThread = 0x00200000

// procStat is the part of /proc/PID/stat that dwell uses.
type procStat struct {
	comm   string
	state  byte
	parent int
	flags  uint64
	start  int64 // ns since boot
	cpu    int64 // ns of CPU time used
}

// parseStat reads one line of /proc/PID/stat. The name is in parentheses and may itself contain spaces and
// parentheses.
func parseStat(line []byte) (procStat, error) {
	open, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return procStat{}, fmt.Errorf("no name in %q", line)
	}
	// The first field after the name is field 3 of the line.
	fields := bytes.Fields(line[end+1:])
	const state, parent, flags, user, system, start = 0, 1, 6, 11, 12, 19
	if len(fields) <= start || len(fields[state]) != 1 {
		return procStat{}, fmt.Errorf("too few fields in %q", line)
	}
	ppid, err1 := strconv.Atoi(string(fields[parent]))
	bits, err2 := strconv.ParseUint(string(fields[flags]), 10, 64)
	ticks, err3 := strconv.ParseInt(string(fields[start]), 10, 64)
	used, err4 := strconv.ParseInt(string(fields[user]), 10, 64)
	inKernel, err5 := strconv.ParseInt(string(fields[system]), 10, 64)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return procStat{}, err
	}
	return procStat{
		comm: string(line[open+1 : end]), state: fields[state][0],
		parent: ppid, flags: bits, start: ticks * clockTick, cpu: (used + inKernel) * clockTick,
	}, nil
}

// readStat reads the stat file of a task, "PID" or "PID/task/TID" under /proc.
func readStat(task string) (procStat, error) {
	line, err := os.ReadFile("/proc/" + task + "/stat")
	if err != nil {
		return procStat{}, procError(err)
	}
	return parseStat(bytes.TrimSpace(line))
}

// procError converts the errors with which /proc reports that a process is gone into ErrNoProcess, and adds a remedy
// for missing rights.
func procError(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("%w (did it restart? try --name with the name of its program, such as --name puma)", ErrNoProcess)
	}
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w (run as root: sudo dwell ...)", err)
	}
	return err
}

// procPath names a file of a process.
func procPath(pid int, file string) string { return "/proc/" + strconv.Itoa(pid) + "/" + file }

// numericEntries lists the entries of a directory of /proc whose names are numbers, in no particular order.
func numericEntries(dir string) ([]int, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, procError(err)
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil, procError(err)
	}
	var ids []int
	for _, name := range names {
		if id, err := strconv.Atoi(name); err == nil {
			ids = append(ids, id)
		}
	}
	return ids, nil
}
