package target

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"

	"github.com/getdwell/dwell/internal/capture/target/container"
)

// Insiders are the processes of a container, a pod or a unit.
type Insiders struct {
	Processes []Process // by pid; never dwell itself, nor its ancestors
	What      string    // which container, pod or unit it is
	Groups    []string  // their control groups, written as in /proc/PID/cgroup: "0::/system.slice/x.service" is ":/system.slice/x.service"
	// Entered lists the processes that came since the last call; the first call lists all. It finds them whoever
	// started them: a process that is started in a running container is not a child of its processes. Only one
	// goroutine may call it; it costs little.
	Entered func() ([]int, error)
}

// Inside lists the processes of a container, a pod or a unit. None is ErrNoProcess.
func Inside(c container.Choice) (in Insiders, err error) {
	found, err := container.Machine{}.Find(c)
	if err != nil {
		return in, err
	}
	self, look := ourselves(), new(Files).Look()
	for _, pid := range found.PIDs {
		if self(pid) {
			continue
		}
		if p, err := look.Info(pid); err == nil { // otherwise it ended meanwhile
			in.Processes = append(in.Processes, p)
		}
	}
	if len(in.Processes) == 0 {
		return in, fmt.Errorf("%s: %w in it that dwell could watch", found.What, ErrNoProcess)
	}
	in.What = found.What
	for _, g := range found.Groups {
		in.Groups = append(in.Groups, g.Controllers+":"+g.Path)
	}
	dirs, err := groupDirs(found.Groups)
	gate := gate{dirs: dirs, err: err, ours: self}
	in.Entered = gate.entered
	return in, nil
}

// gate detects processes that enter control groups.
type gate struct {
	dirs []string
	err  error          // why they are not known
	ours func(int) bool // processes to ignore
	in   map[int]bool   // members at the last call
}

// entered implements Insiders.Entered.
func (g *gate) entered() (came []int, err error) {
	if g.err != nil {
		return nil, g.err
	}
	pids, err := membersOf(g.dirs)
	now := make(map[int]bool, len(pids))
	for _, pid := range pids {
		now[pid] = true
		if g.in[pid] || g.ours(pid) {
			continue
		}
		if s, err := readStat(strconv.Itoa(pid)); err == nil && s.watchable() == nil && s.parent != os.Getpid() {
			came = append(came, pid)
		}
	}
	g.in = now
	return came, err
}

// Limits for one reading of control groups.
const (
	maxGroups  = 256
	maxMembers = 8192
)

// membersOf lists the processes in control groups and in the groups below them. A group that is gone has none.
func membersOf(dirs []string) (pids []int, err error) {
	todo := append([]string(nil), dirs...)
	for i := 0; i < len(todo); i++ {
		if i == maxGroups || len(pids) > maxMembers {
			return pids, fmt.Errorf("more than %d control groups, or %d processes in them", maxGroups, maxMembers)
		}
		text, err := os.ReadFile(todo[i] + "/cgroup.procs")
		if errors.Is(err, fs.ErrPermission) {
			return pids, err
		}
		for line := range strings.Lines(string(text)) {
			if pid, err := strconv.Atoi(strings.TrimSpace(line)); err == nil && pid > 0 { // 0: in another pid namespace
				pids = append(pids, pid)
			}
		}
		info, err := os.Stat(todo[i])
		if err != nil {
			continue
		}
		const bare = 2 // links of a directory without subdirectories; some file systems do not count them
		if s, ok := info.Sys().(*syscall.Stat_t); ok && s.Nlink == bare {
			continue
		}
		below, _ := os.ReadDir(todo[i]) // it may be gone by now
		for _, entry := range below {
			if entry.IsDir() {
				todo = append(todo, path.Join(todo[i], entry.Name()))
			}
		}
	}
	return pids, nil
}

// groupDirs finds the directories of control groups.
func groupDirs(groups []container.Group) (dirs []string, err error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	all := hierarchies(string(mounts))
	for _, g := range groups {
		dir := ""
		for _, h := range all {
			if below := h.below(g.Path); h.has(g.Controllers) && !strings.HasPrefix(below, "/..") {
				dir = path.Join(h.at, below)
				break
			}
		}
		if _, err := os.Stat(dir + "/cgroup.procs"); dir == "" || err != nil {
			return nil, fmt.Errorf("control group %s is not to be seen here (is dwell in another cgroup namespace?)", g.Path)
		}
		dirs = append(dirs, dir)
	}
	return dirs, nil
}
