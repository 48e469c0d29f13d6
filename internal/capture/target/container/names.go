package container

import (
	"cmp"
	"encoding/json"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// named holds the names of a container. Every field may be empty.
type named struct {
	names          []string // its own names, the preferred one first, then its host name
	pod, namespace string   // of Kubernetes
	image          string   // as named by whoever started it
}

// maxState bounds the size of a runtime's file, in bytes.
const maxState = 16 << 20

// stateFiles are where runtimes keep the state of a container, relative to the machine's root, with ID for the id:
// Docker (as a package, as a snap), containerd, k3s's containerd, and CRI-O and Podman.
func stateFiles() []string {
	return []string{
		"var/lib/docker/containers/ID/config.v2.json",
		"var/snap/docker/common/var-lib-docker/containers/ID/config.v2.json",
		"run/containerd/io.containerd.runtime.v2.task/*/ID/config.json",
		"run/k3s/containerd/io.containerd.runtime.v2.task/*/ID/config.json",
		"run/containers/storage/*-containers/ID/userdata/config.json",
		"var/lib/containers/storage/*-containers/ID/userdata/config.json",
	}
}

// stored are the lists of containers of CRI-O and Podman.
func stored() []string {
	return []string{"var/lib/containers/storage/*-containers/*containers.json", "run/containers/storage/*-containers/*containers.json"}
}

// state is the part that is read of a container's file, in Docker's or the OCI's format. The file also contains
// arguments and environment, which are not read.
type state struct {
	Name   string // Docker's, after a slash
	Config struct {
		Hostname string
		Image    string
		Labels   map[string]string
	}
	Hostname    string
	Annotations map[string]string
}

func (s state) named() (n named) {
	said := func(keys ...string) string {
		for _, key := range keys {
			if v := s.Annotations[key]; v != "" {
				return v
			}
			if v := s.Config.Labels[key]; v != "" {
				return v
			}
		}
		return ""
	}
	n.pod = said("io.kubernetes.pod.name", "io.kubernetes.cri.sandbox-name")
	n.namespace = said("io.kubernetes.pod.namespace", "io.kubernetes.cri.sandbox-namespace")
	n.image = cmp.Or(said("io.kubernetes.cri.image-name", "io.kubernetes.cri-o.ImageName"), s.Config.Image)
	n.add(said("io.kubernetes.container.name", "io.kubernetes.cri.container-name", "nerdctl/name"))
	n.add(strings.TrimPrefix(s.Name, "/"))
	if n.pod == "" { // all containers of a pod have the pod's host name
		n.add(s.Config.Hostname)
		n.add(s.Hostname)
	}
	return n
}

// add adds a name.
func (n *named) add(name string) {
	if name != "" && !slices.Contains(n.names, name) {
		n.names = append(n.names, name)
	}
}

// merge adds the data of another file.
func (n *named) merge(o named) {
	for _, name := range o.names {
		n.add(name)
	}
	if n.pod == "" {
		n.pod, n.namespace = o.pod, o.namespace
	}
	n.image = cmp.Or(n.image, o.image)
}

// namesOf finds the names of containers in the files below root.
func namesOf(root string, ids []string) map[string]named {
	all := map[string]named{}
	lists := storedNames(root)
	logs := logNames(root)
	for _, id := range ids {
		var n named
		if len(containerID(id)) == len(id) { // otherwise it is a name itself, and not part of a path
			for _, file := range stateFiles() {
				n.merge(readStates(path.Join(root, strings.Replace(file, "ID", id, 1))))
			}
		}
		for _, name := range lists[id] {
			n.add(name)
		}
		n.merge(logs[id])
		all[id] = n
	}
	return all
}

func readStates(pattern string) (n named) {
	files, _ := filepath.Glob(pattern)
	for _, file := range files {
		var s state
		if json.Unmarshal(readBounded(file), &s) == nil {
			n.merge(s.named())
		}
	}
	return n
}

// storedNames reads the lists of CRI-O and Podman: names by id.
func storedNames(root string) map[string][]string {
	all := map[string][]string{}
	for _, pattern := range stored() {
		files, _ := filepath.Glob(path.Join(root, pattern))
		for _, file := range files {
			var list []struct {
				ID    string
				Names []string
			}
			if json.Unmarshal(readBounded(file), &list) != nil {
				continue
			}
			for _, c := range list {
				all[c.ID] = append(all[c.ID], c.Names...)
			}
		}
	}
	return all
}

// logNames reads the kubelet's names of containers, for any runtime, from the names of their logs:
// POD_NAMESPACE_CONTAINER-ID.log.
func logNames(root string) map[string]named {
	all := map[string]named{}
	for _, file := range listed(path.Join(root, "var/log/containers")) {
		parts := strings.SplitN(strings.TrimSuffix(file, ".log"), "_", 3)
		if len(parts) < 3 {
			continue
		}
		if at := strings.LastIndexByte(parts[2], '-'); at > 0 {
			all[parts[2][at+1:]] = named{names: []string{parts[2][:at]}, pod: parts[0], namespace: parts[1]}
		}
	}
	return all
}

// podsOf reads the names of pods, NAMESPACE/NAME by uid, from the directories of their logs: NAMESPACE_NAME_UID.
func podsOf(root string) map[string]string {
	all := map[string]string{}
	for _, dir := range listed(path.Join(root, "var/log/pods")) {
		if parts := strings.Split(dir, "_"); len(parts) == 3 {
			all[parts[2]] = parts[0] + "/" + parts[1]
		}
	}
	return all
}

func listed(dir string) []string {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	return names
}

// readBounded reads a plain file; nil if it is not plain, too large, or missing.
func readBounded(file string) []byte {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() || st.Size() > maxState {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(f, maxState))
	if err != nil {
		return nil
	}
	return text
}
