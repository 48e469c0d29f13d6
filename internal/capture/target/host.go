package target

import "github.com/getdwell/dwell/recording"

// Host samples the counters of the machine and of the cgroup and network namespace
// of a process. A counter that cannot be read is 0 and named in the second result.
func Host(pid int) (recording.Host, []recording.Missing) { panic("todo") }
