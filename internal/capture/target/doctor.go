package target

import (
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/cilium/ebpf/btf"

	"github.com/getdwell/dwell/recording"
)

// Check is one thing that dwell needs or can use, and whether this machine has it.
type Check struct {
	Name     string
	OK       bool
	Required bool // nothing can be recorded without it
	Detail   string
	Remedy   string // what to do if not OK; else ""
}

// Doctor examines this machine and the rights of the calling process. It changes
// nothing.
func Doctor() []Check { return examine(readMachine()) }

// machine is the data for the checks.
type machine struct {
	arch, release        string
	btf                  error  // nil if the kernel describes its types
	caps                 uint64 // effective capabilities
	seccomp              bool   // a filter may forbid system calls
	initialUsers         bool   // in the machine's first user namespace
	initialPIDs          bool   // in the machine's first pid namespace
	lockdown             string // "none", "integrity", "confidentiality"; "" unknown
	paranoid             string // perf_event_paranoid; "" unknown
	mptcp                string // net.mptcp.enabled; "" not built in
	uprobes              bool   // the perf PMU for uprobes exists
	tracefs              bool   // mounted and readable
	pressure, throttling error
	running              map[recording.Runtime]int // processes of this machine
	rubies               []rubyBuild               // the builds of those that run Ruby
}

func readMachine() machine {
	m := machine{arch: runtime.GOARCH, release: sysctl("kernel/osrelease")}
	_, m.btf = btf.LoadKernelSpec()
	m.caps, m.seccomp = ownRights()
	users, _ := os.ReadFile("/proc/self/uid_map")
	m.initialUsers = strings.Join(strings.Fields(string(users)), " ") == "0 0 4294967295"
	// The kernel's fixed inode number of the first pid namespace.
	pids, _ := os.Readlink("/proc/self/ns/pid")
	m.initialPIDs = pids == "pid:[4026531836]"
	lockdown, _ := os.ReadFile("/sys/kernel/security/lockdown")
	m.lockdown = chosen(string(lockdown))
	m.paranoid = sysctl("kernel/perf_event_paranoid")
	m.mptcp = sysctl("net/mptcp/enabled")
	_, err := os.Stat("/sys/bus/event_source/devices/uprobe")
	m.uprobes = err == nil
	_, err = os.Stat("/sys/kernel/tracing/events")
	m.tracefs = err == nil
	_, m.pressure = os.ReadFile("/proc/pressure/cpu")
	_, m.throttling = throttled(os.Getpid())
	m.running, m.rubies = runningRuntimes()
	return m
}

// ownRights reads the effective capabilities and whether a seccomp filter is active.
func ownRights() (caps uint64, seccomp bool) {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch name {
		case "CapEff":
			caps, _ = strconv.ParseUint(value, 16, 64)
		case "Seccomp":
			seccomp = value == "2"
		}
	}
	return caps, seccomp
}

// sysctl reads a kernel setting; "" if it does not exist.
func sysctl(name string) string {
	text, err := os.ReadFile("/proc/sys/" + name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// chosen returns the word in brackets of "none [integrity] confidentiality".
func chosen(text string) string {
	_, rest, _ := strings.Cut(text, "[")
	word, _, _ := strings.Cut(rest, "]")
	return word
}
