package target

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/getdwell/dwell/recording"
)

// stackSupport describes what stacks of a runtime's threads contain.
type stackSupport struct {
	runtime recording.Runtime
	name    string
	whole   bool // including the runtime's own frames
	detail  string
}

// stackSupports is in the order of reporting. The versions are those that the profiler in package unwind supports.
func stackSupports() []stackSupport {
	return []stackSupport{
		{recording.RuntimeJVM, "JVM", true, "methods with file and line, compiled and inlined ones too (HotSpot 8 and newer)"},
		{recording.RuntimeNode, "Node", true, "functions with file and line (Node 16 and newer)"},
		{recording.RuntimePython, "Python", true, "functions with file and line (CPython 3.6 to 3.14)"},
		{recording.RuntimeGo, "Go", true, "functions with file and line, and the goroutine (1.13 to 1.27); of goroutines that are parked, where they wait for locks or channels (1.20 to 1.26)"},
	}
}

// checkStacks checks whether stacks can be taken at all.
func checkStacks(m machine) Check {
	perf := m.can(unix.CAP_PERFMON) || m.can(unix.CAP_SYS_ADMIN)
	// Before 5.11, memory used by programs counted as locked memory.
	memory := releaseAtLeast(m.release, 5, 11) || m.can(unix.CAP_SYS_RESOURCE)
	detail := "of threads that begin to wait, and of what runs; native code by its unwinding tables"
	remedy := "run as root"
	switch {
	case !perf:
		detail = "lacks CAP_PERFMON for performance events"
	case !memory:
		detail, remedy = "the limit of locked memory cannot be raised", "ulimit -l unlimited"
	}
	return check("stacks", perf && memory, detail, remedy)
}

// checkRuntimeStacks reports what stacks the currently running services would get.
func checkRuntimeStacks(m machine) []Check {
	var checks []Check
	for _, s := range stackSupports() {
		if n := m.running[s.runtime]; n > 0 {
			detail := fmt.Sprintf("%d running: %s", n, s.detail)
			checks = append(checks, check("stacks of "+s.name, s.whole, detail, "none yet; its waits and calls are recorded as ever"))
		}
	}
	return append(checks, checkRuby(m.rubies)...)
}

// mostExamined bounds how many processes are examined.
const mostExamined = 500

// runningRuntimes counts the processes of this machine by runtime, and examines those that run Ruby.
func runningRuntimes() (counts map[recording.Runtime]int, rubies []rubyBuild) {
	counts = map[recording.Runtime]int{}
	pids, err := numericEntries("/proc")
	if err != nil {
		return counts, nil
	}
	self, look := ourselves(), new(Files).Look()
	for _, pid := range pids[:min(len(pids), mostExamined)] {
		s, err := readStat(strconv.Itoa(pid))
		if err != nil || s.watchable() != nil || pid == os.Getpid() || self(pid) {
			continue
		}
		runs := look.describe(pid, s).Runtime
		if counts[runs]++; runs == recording.RuntimeRuby {
			rubies = append(rubies, lookAtRuby(pid))
		}
	}
	return counts, rubies
}
