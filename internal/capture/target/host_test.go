package target

import (
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
	"testing"

	"github.com/getdwell/dwell/recording"
)

// Counters of this machine exist, and do not decrease while a loop is busy for longer than the kernel's resolution.
func TestHost(t *testing.T) {
	before, missing := Host(os.Getpid())
	for _, m := range missing {
		t.Logf("not on this machine: %+v", m)
		if m.What == "host-cpu" || m.What == "host-overflows" {
			t.Errorf("every Linux has %s", m.What)
		}
	}
	after := before
	for after.Busy == before.Busy {
		after, _ = Host(os.Getpid())
	}
	if after.Busy < before.Busy || after.Idle < before.Idle || after.Running < 1 || after.Pressure < before.Pressure {
		t.Errorf("before %+v, after %+v", before, after)
	}
}

// A busy process in a group below one with a quota of a hundredth of a CPU.
func TestThrottledByTheGroupAbove(t *testing.T) {
	groups, _ := os.ReadFile("/proc/self/cgroup")
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	top, _, ok := cpuGroup(string(groups), string(mounts))
	if !ok {
		t.Skip("no cgroups on this machine")
	}
	outer := path.Join(top, fmt.Sprintf("dwell-test-%d", os.Getpid()))
	inner := path.Join(outer, "inner")
	if err := os.Mkdir(outer, 0o755); err != nil {
		t.Skipf("may not make a cgroup: %v", err)
	}
	t.Cleanup(func() { // after the process has been killed and waited for
		os.Remove(inner)
		os.Remove(outer)
	})
	if os.WriteFile(path.Join(outer, "cpu.cfs_quota_us"), []byte("1000"), 0) != nil &&
		os.WriteFile(path.Join(outer, "cpu.max"), []byte("1000 100000"), 0) != nil {
		t.Skip("may not set a quota")
	}
	if err := os.Mkdir(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	pid, _ := start(t, "sh", "-c", "echo ready; while :; do :; done")
	if got, err := throttled(pid); err != nil {
		t.Errorf("before: %d, %v", got, err)
	}
	if err := os.WriteFile(path.Join(inner, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0); err != nil {
		t.Fatal(err)
	}
	for {
		got, err := throttled(pid)
		if err != nil {
			t.Fatal(err)
		}
		if got > 1_000_000 {
			return
		}
	}
}

func TestHostOfNobody(t *testing.T) {
	const nobody = 1 << 30
	host, missing := Host(nobody)
	var codes []string
	for _, m := range missing {
		codes = append(codes, m.What)
	}
	if all := strings.Join(codes, " "); !strings.Contains(all, "host-throttling host-overflows") || host.Busy == 0 {
		t.Errorf("missing %s, busy %d", all, host.Busy)
	}
}

func TestParseCPU(t *testing.T) {
	text := "cpu  100 20 3 4000 500 6 7 80 9 1\ncpu0 1 1 1 1 1 1 1 1 1 1\nctxt 5\nprocs_running 3\n"
	var h recording.Host
	want := recording.Host{Busy: 1_360_000_000, Idle: 45_000_000_000, Stolen: 800_000_000, Running: 3}
	if err := parseCPU(text, &h); h != want || err != nil {
		t.Errorf("%+v, %v, want %+v", h, err, want)
	}
	if parseCPU("cpu  1 2 x 4 5 6 7 8\n", &h) == nil {
		t.Error("a letter was accepted")
	}
	if parseCPU("", &h) == nil {
		t.Error("nothing was accepted")
	}
}

func TestParsePressure(t *testing.T) {
	got, err := parsePressure("some avg10=1.00 avg60=4.61 avg300=2.00 total=19066955\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n")
	if got != 19_066_955_000 || err != nil {
		t.Errorf("%d, %v", got, err)
	}
	if _, err := parsePressure("full avg10=0.00 total=7\n"); err == nil {
		t.Error("a file without the line was accepted")
	}
}

func TestParseNetstat(t *testing.T) {
	text := "TcpExt: SyncookiesSent ListenOverflows ListenDrops\nTcpExt: 1 22 3\nIpExt: ListenOverflows\nIpExt: 4\n"
	if got, err := parseNetstat(text, "TcpExt:", "ListenOverflows"); got != 22 || err != nil {
		t.Errorf("%d, %v", got, err)
	}
	if _, err := parseNetstat(text, "TcpExt:", "Others"); err == nil {
		t.Error("a counter that is not there was found")
	}
}

// Version 2 only, version 1 only, both mounted with the cpu controller in version 1, and the part that a container
// sees.
func TestCPUGroup(t *testing.T) {
	const (
		v2     = "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
		hybrid = "30 24 0:26 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
		v1     = "31 24 0:27 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n32 24 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
		groups = "4:cpu,cpuacct:/shop\n3:cpuset:/\n0::/shop.slice/web.service\n"
	)
	for _, c := range []struct{ groups, mounts, want string }{
		{"0::/shop.slice/web.service\n", v2, "/sys/fs/cgroup /shop.slice/web.service"},
		{groups, hybrid + v1, "/sys/fs/cgroup/cpu,cpuacct /shop"},
		{groups, v1, "/sys/fs/cgroup/cpu,cpuacct /shop"},
		{"4:cpu:/docker/f00/web\n", "32 24 0:28 /docker/f00 /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n", "/sys/fs/cgroup/cpu /web"},
		{groups, "24 1 0:1 / / rw - ext4 /dev/vda rw\n", " "},
	} {
		top, group, ok := cpuGroup(c.groups, c.mounts)
		if top+" "+group != c.want || ok != (top != "") {
			t.Errorf("got %q %q %v, want %q", top, group, ok, c.want)
		}
	}
}

func TestParseThrottled(t *testing.T) {
	for text, want := range map[string]int64{
		"usage_usec 9\nnr_throttled 2\nthrottled_usec 1500\n":         1_500_000,
		"nr_periods 3\nnr_throttled 2\nthrottled_time 1500\n":         1500,
		"usage_usec 9\nuser_usec 8\nsystem_usec 1\n":                  0,
		"nr_periods 0\nnr_throttled 0\nthrottled_usec 0\nnr_bursts 0": 0,
	} {
		if got := parseThrottled(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
