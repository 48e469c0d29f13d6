package target

import (
	"errors"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// CPUTime is how much CPU time (ns) a process has used, exact to the kernel's clock tick.
func CPUTime(pid int) (int64, error) {
	text, err := os.ReadFile(procPath(pid, "stat"))
	if err != nil {
		return 0, procError(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ") // the name may hold blanks
	fields := strings.Fields(rest)
	const utime, stime = 11, 12 // from the state on, which is field 3 of proc(5)
	if len(fields) <= stime {
		return 0, errors.New("no CPU times in the state of a process")
	}
	ticks, err := numbers(fields[utime : stime+1])
	if err != nil {
		return 0, err
	}
	return clockTick * (ticks[0] + ticks[1]), nil
}

// Processors is on how many processors the first thread of a process may run.
func Processors(pid int) (int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(pid, &set); err != nil {
		return 0, err
	}
	return set.Count(), nil
}
