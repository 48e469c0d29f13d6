// Package container determines from control groups which processes belong to a container, to a Kubernetes pod or to a
// systemd unit. It reads their names from the files that container runtimes keep. It uses no daemon, needs no
// runtime, and starts nothing.
package container

import (
	"regexp"
	"slices"
	"strings"
)

// Place is the position of a process among containers, pods and units.
type Place struct {
	Containers []string // ids, the outermost first: a container may run containers
	Pods       []string // uids in their usual form, the outermost first
	Units      []Unit   // of the machine's own systemd and of users'; units within containers are left out
}

// Unit is a service, scope or slice of systemd.
type Unit struct {
	Name string
	Path string // its control group, which distinguishes units of the same name of several users
}

// Parse reads the text of /proc/PID/cgroup. Version 1 has a line for each hierarchy, and a runtime may not use some
// of them. So the line with the most information counts.
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
		// systemd keeps its units in version 2, or in the version 1 hierarchy named after it.
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

// containerID reads the id from the name of a container's group. Docker and Kubernetes with the cgroupfs driver use
// the bare id. With the systemd driver the forms are docker-ID.scope, cri-containerd-ID.scope, crio-ID.scope,
// libpod-ID.scope and similar; SLICE:cri-containerd:ID occurs if the two drivers are mixed. Amazon's ECS uses
// TASK-NUMBER, and LXC lxc.payload.NAME, where the name is the id. The monitors of CRI-O and Podman (conmon) are
// outside their containers.
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

// podUID reads the uid from the name of a pod's group: podUID, or kubepods-burstable-podUID.slice with underscores
// instead of hyphens. The uid of a static pod has 32 hexadecimal digits. The id of a Podman pod has 64; it is not a
// Kubernetes pod.
func podUID(part string) string {
	found := podPattern.FindStringSubmatch(part)
	if found == nil {
		return ""
	}
	return strings.ReplaceAll(found[1], "_", "-")
}

var podPattern = regexp.MustCompile(`(?:^|-)pod([0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}|[0-9a-f]{32})(?:\.slice)?(?::.*)?$`)
