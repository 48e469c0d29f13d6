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

// throttled returns how long (ns) the quota of the process's cgroup has kept it off the CPUs. Each group above it may
// have a quota too. The result is the largest value on the way to the root, which is a lower bound if several groups
// throttle.
func throttled(pid int) (int64, error) {
	groups, err := procfs.ReadFile(procPath(pid, "cgroup"))
	if err != nil {
		return 0, procError(err)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return 0, err
	}
	top, group, ok := cpuGroup(string(groups), string(mounts))
	if !ok {
		return 0, errors.New("no cgroup file system with the cpu controller is mounted")
	}
	var most int64
	for dir := path.Join(top, group); ; dir = path.Dir(dir) {
		text, err := os.ReadFile(dir + "/cpu.stat")
		if err != nil && !(dir == top && errors.Is(err, os.ErrNotExist)) {
			return 0, fmt.Errorf("read the throttling of a cgroup: %w (is dwell in another cgroup namespace?)", err)
		}
		most = max(most, parseThrottled(string(text)))
		if len(dir) <= len(top) {
			return most, nil
		}
	}
}

// hierarchy is a mounted hierarchy of control groups.
type hierarchy struct {
	unified     bool     // version 2
	controllers []string // of version 1, or its name
	root, at    string   // the group at the mount point: containers usually see only a part of the hierarchy
}

// hierarchies reads them from the text of /proc/self/mountinfo.
func hierarchies(mounts string) (all []hierarchy) {
	for line := range strings.Lines(mounts) {
		// ID PARENT DEV ROOT MOUNTPOINT OPTIONS ... - TYPE SOURCE SUPEROPTIONS
		before, after, _ := strings.Cut(line, " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if len(left) < 5 || len(right) < 3 || right[0] != "cgroup" && right[0] != "cgroup2" {
			continue
		}
		all = append(all, hierarchy{right[0] == "cgroup2", strings.Split(right[2], ","), left[3], left[4]})
	}
	return all
}

// has reports whether a hierarchy is version 1 and has these controllers, written as in /proc/PID/cgroup, or is
// version 2 if no controllers are given.
func (h hierarchy) has(controllers string) bool {
	if h.unified || controllers == "" {
		return h.unified && controllers == ""
	}
	return !slices.ContainsFunc(strings.Split(controllers, ","), func(c string) bool { return !slices.Contains(h.controllers, c) })
}

// below returns the path of a group relative to the mount point.
func (h hierarchy) below(group string) string {
	below, _ := strings.CutPrefix(group, strings.TrimSuffix(h.root, "/"))
	return below
}

// cpuGroup finds, in the texts of /proc/PID/cgroup and /proc/self/mountinfo, where the hierarchy that limits CPU time
// is mounted, and the group in it. A version 1 hierarchy with the cpu controller takes precedence over version 2,
// which then does not have that controller.
func cpuGroup(groups, mounts string) (top, group string, ok bool) {
	all := hierarchies(mounts)
	at := slices.IndexFunc(all, func(h hierarchy) bool { return h.has("cpu") })
	if at < 0 {
		at = slices.IndexFunc(all, func(h hierarchy) bool { return h.unified })
	}
	if at < 0 {
		return "", "", false
	}
	h := all[at]
	for line := range strings.Lines(groups) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) < 3 {
			continue
		}
		if h.unified && parts[0] == "0" || !h.unified && slices.Contains(strings.Split(parts[1], ","), "cpu") {
			return h.at, h.below(parts[2]), true
		}
	}
	return "", "", false
}

// parseThrottled reads cpu.stat of either version, in ns; 0 for a group without a quota.
func parseThrottled(text string) int64 {
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.ParseInt(value, 10, 64)
		switch {
		case err != nil:
		case name == "throttled_usec":
			return n * 1000
		case name == "throttled_time":
			return n
		}
	}
	return 0
}
