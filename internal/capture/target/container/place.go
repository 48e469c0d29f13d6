// Package container tells from control groups which processes belong to a container, to a pod of
// Kubernetes or to a unit of systemd, and from the files that container runtimes keep what these are
// called. It asks no daemon, needs no runtime, and starts nothing.
package container

import (
	"regexp"
	"slices"
	"strings"
)

// Place is where a process stands among containers, pods and units.
type Place struct {
	Containers []string // ids, the outermost first: a container may run containers
	Pods       []string // uids, in their usual form, the outermost first
	Units      []Unit   // of the machine's own systemd, and of users'; those within containers are left out
}

// Unit is a service, scope or slice of systemd.
type Unit struct {
	Name string
	Path string // its control group, which tells apart units of one name of several users
}

// Parse reads the text of /proc/PID/cgroup. Version 1 has a line for each hierarchy, and a runtime may
// leave some of them alone, so that of all lines the one counts that says most.
func Parse(text string) (p Place) {
	for line := range strings.Lines(text) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) < 3 {
			continue
		}
		at := parsePath(parts[2])
		if len(at.Containers) > len(p.Containers) {
			p.Containers = at.Containers
		}
		if len(at.Pods) > len(p.Pods) {
			p.Pods = at.Pods
		}
		// Systemd keeps its units in version 2, or in the hierarchy of version 1 that has its name.
		if parts[1] == "" && p.Units == nil || parts[1] == "name=systemd" {
			p.Units = at.Units
		}
	}
	return p
}

func parsePath(group string) (p Place) {
	parts := strings.Split(group, "/")
	for i, part := range parts {
		if uid := podUID(part); uid != "" {
			p.Pods = append(p.Pods, uid)
		}
		inside := len(p.Containers) > 0
		if id := containerID(part); id != "" {
			p.Containers = append(p.Containers, id)
		}
		if !inside && isUnit(part) {
			p.Units = append(p.Units, Unit{Name: part, Path: strings.Join(parts[:i+1], "/")})
		}
	}
	return p
}

func isUnit(part string) bool {
	return slices.ContainsFunc([]string{".service", ".scope", ".slice"}, func(kind string) bool {
		return strings.HasSuffix(part, kind) && !strings.Contains(part, ":")
	})
}

// containerID reads the id out of the name of a container's group: the bare id of Docker and Kubernetes with the
// cgroupfs driver, docker-ID.scope, cri-containerd-ID.scope, crio-ID.scope, libpod-ID.scope and the like of
// those with systemd's, SLICE:cri-containerd:ID where the two are mixed up, TASK-NUMBER of Amazon's ECS, and
// lxc.payload.NAME, whose name is its id. The monitors of CRI-O and Podman (conmon) stand outside of theirs.
func containerID(part string) string {
	if name, ok := strings.CutPrefix(part, "lxc.payload."); ok {
		return name
	}
	found := idPattern.FindStringSubmatch(part)
	if found == nil || strings.HasSuffix(found[1], "conmon-") {
		return ""
	}
	return found[2]
}

var idPattern = regexp.MustCompile(`^(|[\w.:-]*[-:])([0-9a-f]{64}|[0-9a-f]{32}-[0-9]{8,10})(?:\.scope)?$`)

// podUID reads the uid out of the name of a pod's group: podUID, or kubepods-burstable-podUID.slice with
// underscores for hyphens. Pods that a node starts by itself have 32 hexadecimal digits. A pod of Podman
// has 64, and is none of Kubernetes.
func podUID(part string) string {
	found := podPattern.FindStringSubmatch(part)
	if found == nil {
		return ""
	}
	return strings.ReplaceAll(found[1], "_", "-")
}

var podPattern = regexp.MustCompile(`(?:^|-)pod([0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}|[0-9a-f]{32})(?:\.slice)?(?::.*)?$`)
