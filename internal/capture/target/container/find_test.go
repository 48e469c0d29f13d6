package container

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	shop   = id1
	aside  = id2
	cached = "bb2a1b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f7cc"
	stray  = "cc2a1b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f7dd"
)

// write makes a file below dir; an empty text makes a directory.
func write(t *testing.T, dir, name, text string) {
	t.Helper()
	name = filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// node is a machine with a pod of two containers by containerd, one container each by Docker, by Podman and by a
// runtime that left no files, two services, and a service of the same name with two users.
func node(t *testing.T) Machine {
	proc, root := t.TempDir(), t.TempDir()
	pod := "/kubepods.slice/kubepods-pod" + strings.ReplaceAll(uid1, "-", "_") + ".slice/cri-containerd-"
	for pid, group := range map[int]string{
		1: "/init.scope", 2: "/",
		10: pod + shop + ".scope", 11: pod + shop + ".scope/worker", 12: pod + aside + ".scope",
		20: "/docker/" + cached,
		30: "/machine.slice/libpod-" + stray + ".scope/container",
		40: "/system.slice/nginx.service", 41: "/system.slice/nginx.service",
		50: "/system.slice/system-puma.slice/puma@1.service",
		60: "/user.slice/user-1000.slice/user@1000.service/app.slice/shop.service",
		61: "/user.slice/user-1001.slice/user@1001.service/app.slice/shop.service",
		70: "/lxc.payload.mail",
	} {
		write(t, proc, fmt.Sprint(pid)+"/cgroup", "0::"+group+"\n")
	}
	write(t, proc, "self/cgroup", "0::/docker/"+shop+"\n") // not a number, so not a process
	for id, name := range map[string]string{shop: "shop", aside: "aside"} {
		write(t, root, "run/containerd/io.containerd.runtime.v2.task/k8s.io/"+id+"/config.json", `{"hostname": "shop-7f9c",
			"process": {"env": ["TOKEN=secret"]}, "annotations": {"io.kubernetes.cri.image-name": "shop:1.4", "io.kubernetes.cri.container-name": "`+name+`",
			"io.kubernetes.cri.sandbox-name": "shop-7f9c", "io.kubernetes.cri.sandbox-namespace": "prod"}}`)
	}
	write(t, root, "var/lib/docker/containers/"+cached+"/config.v2.json", `{"ID": "`+cached+`", "Name": "/cache", "Config": {"Hostname": "cache-host", "Image": "cache:7.2"}}`)
	write(t, root, "var/lib/containers/storage/overlay-containers/containers.json", `[{"id": "`+stray+`", "names": ["wanderer"]}]`)
	return Machine{Proc: proc, Root: root}
}

func TestFind(t *testing.T) {
	m := node(t)
	for _, c := range []struct {
		choice Choice
		pids   string
		what   string // or the text of the error
	}{
		{Choice{Container: "shop"}, "[10 11]", "container shop of pod prod/shop-7f9c (3f2a1b4c5d6e), image shop:1.4"},
		{Choice{Container: shop}, "[10 11]", "container shop of pod"},
		{Choice{Container: "3f2a"}, "[10 11]", "container shop of pod"},
		{Choice{Container: "cache"}, "[20]", "container cache (bb2a1b4c5d6e), image cache:7.2"},
		{Choice{Container: "cache-host"}, "[20]", "container cache (bb2a1b4c5d6e)"},
		{Choice{Container: "wanderer"}, "[30]", "container wanderer (cc2a1b4c5d6e)"},
		{Choice{Container: "mail"}, "[70]", "container mail"},
		{Choice{Pod: "prod/shop-7f9c"}, "[10 11 12]", "pod prod/shop-7f9c (" + uid1 + ")"},
		{Choice{Pod: "shop-7f9c"}, "[10 11 12]", "pod prod/shop-7f9c"},
		{Choice{Pod: uid1}, "[10 11 12]", "pod prod/shop-7f9c"},
		{Choice{Unit: "nginx.service"}, "[40 41]", "unit nginx.service"},
		{Choice{Unit: "nginx"}, "[40 41]", "unit nginx.service"},
		{Choice{Unit: "puma@1"}, "[50]", "unit puma@1.service"},
		{Choice{Unit: "user-1000.slice"}, "[60]", "unit user-1000.slice"},

		{Choice{Container: "sho"}, "[]", "container sho: none has processes here (there are: aside of pod prod/shop-7f9c (aa2a1b4c5d6e), shop of pod prod/shop-7f9c (3f2a1b4c5d6e))"},
		{Choice{Container: "nobody"}, "[]", "(there are: aside of pod prod/shop-7f9c (aa2a1b4c5d6e), cache (bb2a1b4c5d6e), mail, shop of"},
		{Choice{Pod: "test/shop-7f9c"}, "[]", "pod test/shop-7f9c: none has processes here (there are: prod/shop-7f9c"},
		{Choice{Unit: "puma"}, "[]", "unit puma.service: none has processes here (there are: puma@1.service, system-puma.slice)"},
		{Choice{Unit: "shop"}, "[]", "several units are called shop.service: /user.slice/user-1000.slice/"},
	} {
		found, err := m.Find(c.choice)
		what := found.What
		if err != nil {
			what = err.Error()
		}
		if got := fmt.Sprint(found.PIDs); got != c.pids || !strings.Contains(what, c.what) || (err == nil) != (c.pids != "[]") {
			t.Errorf("%+v: %s, %q; want %s, %q", c.choice, got, what, c.pids, c.what)
		}
	}
}

// The control groups of a choice: in the first hierarchy that shows it, down to its own name.
func TestGroupsOfWhatIsFound(t *testing.T) {
	m := node(t)
	pod := "/kubepods.slice/kubepods-pod" + strings.ReplaceAll(uid1, "-", "_") + ".slice"
	write(t, m.Proc, "20/cgroup", "9:name=systemd:/\n3:cpu,cpuacct:/docker/"+cached+"/inner\n2:memory:/docker/"+cached+"\n")
	write(t, m.Proc, "80/cgroup", "3:cpu:/system.slice/cron.service\n1:name=systemd:/system.slice/cron.service/jobs\n")
	for _, c := range []struct {
		choice Choice
		want   string
	}{
		{Choice{Container: "shop"}, "[{ " + pod + "/cri-containerd-" + shop + ".scope}]"},
		{Choice{Container: "cache"}, "[{cpu,cpuacct /docker/" + cached + "}]"},
		{Choice{Container: "wanderer"}, "[{ /machine.slice/libpod-" + stray + ".scope}]"},
		{Choice{Pod: "shop-7f9c"}, "[{ " + pod + "}]"},
		{Choice{Unit: "nginx"}, "[{ /system.slice/nginx.service}]"},
		{Choice{Unit: "cron"}, "[{name=systemd /system.slice/cron.service}]"},
	} {
		if found, err := m.Find(c.choice); err != nil || fmt.Sprint(found.Groups) != c.want {
			t.Errorf("%+v: %v, %v; want %s", c.choice, found.Groups, err, c.want)
		}
	}
}

// Two containers with one name are distinguished by their ids.
func TestSeveralOfOneName(t *testing.T) {
	m := node(t)
	write(t, m.Root, "var/lib/docker/containers/"+cached+"/config.v2.json", `{"Name": "/shop"}`)
	_, err := m.Find(Choice{Container: "shop"})
	if err == nil || !strings.Contains(err.Error(), "several match container shop: shop (bb2a1b4c5d6e), shop of pod prod/shop-7f9c (3f2a1b4c5d6e) (give more of what is in parentheses: --container ID)") {
		t.Errorf("%v", err)
	}
	if found, err := m.Find(Choice{Container: "bb2a"}); err != nil || fmt.Sprint(found.PIDs) != "[20]" {
		t.Errorf("%+v, %v", found, err)
	}
}

// The kubelet's logs contain the names of containers and pods, for any runtime.
func TestNamesOfLogs(t *testing.T) {
	m := node(t)
	if err := os.RemoveAll(filepath.Join(m.Root, "run")); err != nil {
		t.Fatal(err)
	}
	write(t, m.Root, "var/log/containers/shop-7f9c_prod_front-end-"+shop+".log", "")
	write(t, m.Root, "var/log/pods/prod_shop-7f9c_"+uid1+"/front-end/0.log", "")
	for _, c := range []Choice{{Container: "front-end"}, {Pod: "prod/shop-7f9c"}} {
		if found, err := m.Find(c); err != nil || found.PIDs[0] != 10 || !strings.Contains(found.What, "prod/shop-7f9c") {
			t.Errorf("%+v: %+v, %v", c, found, err)
		}
	}
}

// If no file of a runtime can be read, or one is damaged or a pipe, ids can still be used.
func TestWithoutNames(t *testing.T) {
	m := node(t)
	file := filepath.Join(m.Root, "var/lib/docker/containers", cached, "config.v2.json")
	for _, spoil := range []func() error{
		func() error { return os.WriteFile(file, []byte(`{"Name": `), 0o644) },
		func() error { return os.Truncate(file, maxState+1) },
		func() error { return os.RemoveAll(m.Root) },
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		if found, err := m.Find(Choice{Container: cached[:12]}); err != nil || found.What != "container bb2a1b4c5d6e" {
			t.Errorf("%+v, %v", found, err)
		}
		if _, err := m.Find(Choice{Container: "cache"}); err == nil {
			t.Error("a name was found that cannot be read")
		}
	}
}

// If only its own processes are visible, dwell says how to make others visible.
func TestNothingInSight(t *testing.T) {
	m := Machine{Proc: t.TempDir(), Root: t.TempDir()}
	write(t, m.Proc, "1/cgroup", "0::/\n")
	if _, err := m.Find(Choice{Pod: "prod/shop"}); err == nil || !strings.Contains(err.Error(), "--pid=host") {
		t.Errorf("%v", err)
	}
}

func TestNames(t *testing.T) {
	m := node(t)
	for kind, want := range map[string]string{
		"container": "aside\taside of pod prod/shop-7f9c (aa2a1b4c5d6e)|cache\tcache (bb2a1b4c5d6e)|mail\tmail|shop\tshop of pod prod/shop-7f9c (3f2a1b4c5d6e)|wanderer\twanderer (cc2a1b4c5d6e)",
		"pod":       "prod/shop-7f9c\tprod/shop-7f9c (" + uid1 + ")",
	} {
		if got := strings.Join(m.Names(kind), "|"); got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
	if got := strings.Join(m.Names("unit"), "|"); !strings.HasPrefix(got, "nginx.service\tnginx.service|puma@1.service") {
		t.Errorf("units: %q", got)
	}
}

// If the first process's root is not accessible, files are searched below dwell's own root.
func TestRootOfTheFirstProcessIsRefused(t *testing.T) {
	proc := t.TempDir()
	if root := (Machine{Proc: proc}).root(); root != "/" {
		t.Errorf("with nothing in %s/1: %s", proc, root)
	}
	write(t, proc, "1/root/etc/hostname", "host")
	if root := (Machine{Proc: proc}).root(); root != proc+"/1/root" {
		t.Errorf("with %s/1/root: %s", proc, root)
	}
}
