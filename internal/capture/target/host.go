package target

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/getdwell/dwell/internal/capture/procfs"
	"github.com/getdwell/dwell/recording"
)

// Host samples the counters of the machine, and of the cgroup and the network namespace of a process. A counter that
// cannot be read stays 0; the second result names it by one of the codes host-cpu, host-pressure, host-throttling and
// host-overflows.
func Host(pid int) (recording.Host, []recording.Missing) {
	var h recording.Host
	var missing []recording.Missing
	note := func(what string, err error) {
		if err != nil {
			missing = append(missing, recording.Missing{What: what, Why: err.Error(), Count: 1})
		}
	}
	text, err := os.ReadFile("/proc/stat")
	if err == nil {
		err = parseCPU(string(text), &h)
	}
	note("host-cpu", err)

	text, err = os.ReadFile("/proc/pressure/cpu")
	if err == nil {
		h.Pressure, err = parsePressure(string(text))
	}
	note("host-pressure", err)

	h.Throttled, err = throttled(pid)
	note("host-throttling", err)

	text, err = procfs.ReadFile(procPath(pid, "net/netstat"))
	if err == nil {
		h.Overflows, err = parseNetstat(string(text), "TcpExt:", "ListenOverflows")
	}
	note("host-overflows", err)
	return h, missing
}

// parseCPU reads /proc/stat into h. Time stolen by a hypervisor is neither busy nor idle.
func parseCPU(text string, h *recording.Host) error {
	err := errors.New("/proc/stat has no line for all processors")
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		switch {
		case len(fields) > 8 && fields[0] == "cpu":
			ticks, bad := numbers(fields[1:9])
			const user, nice, system, idled, iowait, irq, softirq, steal = 0, 1, 2, 3, 4, 5, 6, 7
			if err = bad; err == nil {
				h.Busy = clockTick * (ticks[user] + ticks[nice] + ticks[system] + ticks[irq] + ticks[softirq])
				h.Idle = clockTick * (ticks[idled] + ticks[iowait])
				h.Stolen = clockTick * ticks[steal]
			}
		case len(fields) == 2 && fields[0] == "procs_running":
			h.Running, _ = strconv.ParseInt(fields[1], 10, 64)
		}
	}
	return err
}

// parsePressure reads the total of the "some" line of a pressure file, in ns.
func parsePressure(text string) (int64, error) {
	for line := range strings.Lines(text) {
		_, total, ok := strings.Cut(strings.TrimSpace(line), " total=")
		if ok && strings.HasPrefix(line, "some ") {
			us, err := strconv.ParseInt(total, 10, 64)
			return us * 1000, err
		}
	}
	return 0, errors.New("no total in the pressure file")
}

// parseNetstat reads one counter of /proc/PID/net/netstat, where a line of names precedes each line of values.
func parseNetstat(text, group, counter string) (int64, error) {
	var names []string
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] != group {
			continue
		}
		if names == nil {
			names = fields
			continue
		}
		for i, name := range names {
			if name == counter && i < len(fields) {
				return strconv.ParseInt(fields[i], 10, 64)
			}
		}
	}
	return 0, fmt.Errorf("no counter %s among the network statistics", counter)
}

func numbers(fields []string) ([]int64, error) {
	values := make([]int64, len(fields))
	for i, f := range fields {
		v, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return nil, err
		}
		values[i] = v
	}
	return values, nil
}
