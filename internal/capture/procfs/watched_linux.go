package procfs

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
)

// watched decides about which processes a helper answers questions. It relies on what the kernel reports now, not on
// its client.
type watched struct {
	mu     sync.Mutex
	known  map[int]string // start times of processes found to be watched, by pid
	groups []string       // control groups, as in Watched
}

const (
	maxKnown = 1 << 16
	maxDepth = 64 // generations
)

func watch(of Watched) *watched {
	w, own := &watched{known: map[int]string{}, groups: of.Groups}, groupOf(os.Getpid())
	for _, pid := range of.PIDs {
		if _, started, err := parentOf(pid); err == nil {
			w.known[pid] = started
		}
		if group := groupOf(pid); group != "" && group != own { // otherwise other processes of the same login session would be watched
			w.groups = append(w.groups, group)
		}
	}
	return w
}

// look records the current descendants, so that they remain known when their parents end.
func (w *watched) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	entries, _ := os.ReadDir("/proc")
	parents, started := map[int]int{}, map[int]string{}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if parents[pid], started[pid], err = parentOf(pid); err != nil {
			delete(parents, pid)
		}
	}
	for pid := range parents {
		for up, depth := pid, 0; up > 0 && depth < maxDepth; up, depth = parents[up], depth+1 {
			if since, known := w.known[up]; known && since == started[up] && len(w.known) < maxKnown {
				w.known[pid] = started[pid]
				break
			}
		}
	}
}

// allows reports whether a process is watched: it descends from a watched process, or is in its control group.
func (w *watched) allows(pid int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, started, err := parentOf(pid)
	if err != nil || !w.descends(pid) && !w.belongs(pid) {
		return false
	}
	if _, known := w.known[pid]; known || len(w.known) < maxKnown {
		w.known[pid] = started
	}
	return true
}

func (w *watched) descends(pid int) bool {
	for range maxDepth {
		parent, started, err := parentOf(pid)
		if err != nil {
			return false
		}
		if since, known := w.known[pid]; known && since == started {
			return true
		}
		if pid = parent; pid <= 0 {
			return false
		}
	}
	return false
}

func (w *watched) belongs(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cgroup")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		_, group, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		for _, in := range w.groups {
			if group == in || strings.HasPrefix(group, in+"/") {
				return true
			}
		}
	}
	return false
}

// groupOf returns the control group that distinguishes a service from others; "" for the root group, which does not.
func groupOf(pid int) string {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cgroup")
	for line := range strings.Lines(string(text)) {
		_, group, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		controllers, path, _ := strings.Cut(group, ":")
		if (controllers == "" || controllers == "name=systemd") && path != "/" {
			return group
		}
	}
	return ""
}

// parentOf returns the parent of a process and its start time. Start times are only compared.
func parentOf(pid int) (parent int, started string, err error) {
	line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, "", err
	}
	const up, start = 1, 19
	fields := bytes.Fields(line[bytes.LastIndexByte(line, ')')+1:])
	if len(fields) <= start {
		return 0, "", errors.New("too few fields")
	}
	parent, err = strconv.Atoi(string(fields[up]))
	return parent, string(fields[start]), err
}
