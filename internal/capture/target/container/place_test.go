package container

import (
	"strings"
	"testing"
)

const (
	id1  = "3f2a1b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708"
	id2  = "aa2a1b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f7bb"
	uid1 = "8f14e45f-ceea-467f-a8f5-5d3c4e1b2a90"
)

// The content of /proc/PID/cgroup with each runtime, driver and version, and the resulting place.
func TestParse(t *testing.T) {
	under := strings.ReplaceAll(uid1, "-", "_")
	kube := "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + under + ".slice/"
	for _, c := range []struct{ name, text, containers, pods, units string }{
		{"a service", "0::/system.slice/nginx.service\n", "", "", "system.slice nginx.service"},
		{"beneath a service", "0::/system.slice/system-puma.slice/puma@1.service/workers\n", "", "", "system.slice system-puma.slice puma@1.service"},
		{"a user's service", "0::/user.slice/user-1000.slice/user@1000.service/app.slice/shop.service\n",
			"", "", "user.slice user-1000.slice user@1000.service app.slice shop.service"},
		{"the root", "0::/\n", "", "", ""},
		{"Docker, systemd", "0::/system.slice/docker-" + id1 + ".scope\n", id1, "", "system.slice docker-" + id1 + ".scope"},
		{"Docker, cgroupfs", "0::/docker/" + id1 + "\n", id1, "", ""},
		{"Docker, version 1", "12:cpu,cpuacct:/docker/" + id1 + "\n3:cpuset:/\n1:name=systemd:/docker/" + id1 + "\n0::/\n", id1, "", ""},
		{"version 1, units", "4:cpu,cpuacct:/\n1:name=systemd:/system.slice/nginx.service\n0::/system.slice/stale.service\n", "", "", "system.slice nginx.service"},
		{"containerd in Kubernetes, systemd", "0::" + kube + "cri-containerd-" + id1 + ".scope\n", id1, uid1,
			"kubepods.slice kubepods-burstable.slice kubepods-burstable-pod" + under + ".slice cri-containerd-" + id1 + ".scope"},
		{"containerd in Kubernetes, cgroupfs, version 1", "4:memory:/kubepods/besteffort/pod" + uid1 + "/" + id1 + "\n", id1, uid1, ""},
		{"a guaranteed pod", "0::/kubepods/pod" + uid1 + "/" + id1 + "\n", id1, uid1, ""},
		{"a pod of the node itself", "0::/kubepods/pod0123456789abcdef0123456789abcdef/" + id1 + "\n", id1, "0123456789abcdef0123456789abcdef", ""},
		{"drivers mixed up", "0::/system.slice/containerd.service/kubepods-burstable-pod" + under + ".slice:cri-containerd:" + id1 + "\n",
			id1, uid1, "system.slice containerd.service"},
		{"seen from another container", "0::/../../kubepods-pod" + under + ".slice/cri-containerd-" + id1 + ".scope\n", id1, uid1,
			"kubepods-pod" + under + ".slice cri-containerd-" + id1 + ".scope"},
		{"CRI-O", "0::" + kube + "crio-" + id1 + ".scope/container\n", id1, uid1,
			"kubepods.slice kubepods-burstable.slice kubepods-burstable-pod" + under + ".slice crio-" + id1 + ".scope"},
		{"CRI-O's monitor", "0::/kubepods.slice/crio-conmon-" + id1 + ".scope\n", "", "", "kubepods.slice crio-conmon-" + id1 + ".scope"},
		{"Podman", "0::/machine.slice/libpod-" + id1 + ".scope/container\n", id1, "", "machine.slice libpod-" + id1 + ".scope"},
		{"Podman's monitor", "0::/machine.slice/libpod-conmon-" + id1 + ".scope\n", "", "", "machine.slice libpod-conmon-" + id1 + ".scope"},
		{"a pod of Podman", "0::/machine.slice/machine-libpod_pod_" + id2 + ".slice/libpod-" + id1 + ".scope\n", id1, "",
			"machine.slice machine-libpod_pod_" + id2 + ".slice libpod-" + id1 + ".scope"},
		{"Podman, cgroupfs", "0::/libpod_parent/libpod-" + id1 + "\n", id1, "", ""},
		{"nerdctl", "0::/system.slice/nerdctl-" + id1 + ".scope\n", id1, "", "system.slice nerdctl-" + id1 + ".scope"},
		{"ECS", "0::/ecs/0123456789abcdef0123456789abcdef/0123456789abcdef0123456789abcdef-1234567890\n",
			"0123456789abcdef0123456789abcdef-1234567890", "", ""},
		{"LXC", "0::/lxc.payload.shop\n", "shop", "", ""},
		{"systemd in a container", "0::/docker/" + id1 + "/system.slice/nginx.service\n", id1, "", ""},
		{"a container in a container", "0::/docker/" + id1 + "/kubelet/kubepods/pod" + uid1 + "/" + id2 + "\n", id1 + " " + id2, uid1, ""},
		{"damaged", "0:\n::\nx\n", "", "", ""},
		{"too short for an id", "0::/docker/3f2a1b4c5d6e\n", "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := Parse(c.text)
			var units []string
			for _, u := range p.Units {
				units = append(units, u.Name)
				if !strings.HasSuffix(u.Path, "/"+u.Name) {
					t.Errorf("the group of %s is %s", u.Name, u.Path)
				}
			}
			if got := strings.Join(p.Containers, " "); got != c.containers {
				t.Errorf("containers %q, want %q", got, c.containers)
			}
			if got := strings.Join(p.Pods, " "); got != c.pods {
				t.Errorf("pods %q, want %q", got, c.pods)
			}
			if got := strings.Join(units, " "); got != c.units {
				t.Errorf("units %q, want %q", got, c.units)
			}
		})
	}
}
