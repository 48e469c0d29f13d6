package target

import (
	"errors"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/getdwell/dwell/internal/capture/procfs"
	"github.com/getdwell/dwell/recording"
)

// CPUTime returns how much CPU time (ns) a process has used, with the resolution of the kernel's clock tick.
func CPUTime(pid int) (int64, error) {
	text, err := procfs.ReadFile(procPath(pid, "stat"))
	if err != nil {
		return 0, procError(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ") // the name may contain blanks
	fields := strings.Fields(rest)
	const utime, stime = 11, 12 // counted from the state, which is field 3 of proc(5)
	if len(fields) <= stime {
		return 0, errors.New("no CPU times in the state of a process")
	}
	ticks, err := numbers(fields[utime : stime+1])
	if err != nil {
		return 0, err
	}
	return clockTick * (ticks[0] + ticks[1]), nil
}

// Processors returns the processors on which the first thread of a process may run.
func Processors(pid int) (unix.CPUSet, error) {
	var set unix.CPUSet
	err := unix.SchedGetaffinity(pid, &set)
	return set, err
}

// BusyIdle is how long (ns) a processor was busy and idle since boot.
type BusyIdle struct{ Busy, Idle int64 }

// CPUs reads these times for each processor, by its number.
func CPUs() (map[int]BusyIdle, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return nil, err
	}
	return parseCPUs(string(text)), nil
}

// parseCPUs reads the lines of /proc/stat for single processors.
func parseCPUs(text string) map[int]BusyIdle {
	all := map[int]BusyIdle{}
	for line := range strings.Lines(text) {
		name, rest, _ := strings.Cut(line, " ")
		n, err := strconv.Atoi(strings.TrimPrefix(name, "cpu"))
		if !strings.HasPrefix(name, "cpu") || err != nil {
			continue
		}
		var h recording.Host
		if parseCPU("cpu "+rest, &h) == nil {
			all[n] = BusyIdle{h.Busy, h.Idle}
		}
	}
	return all
}
