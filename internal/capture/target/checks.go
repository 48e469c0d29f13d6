package target

import (
	"fmt"
	"strings"

	"github.com/getdwell/dwell/internal/capture/processor"
	"golang.org/x/sys/unix"
)

// examine evaluates all checks.
func examine(m machine) []Check {
	checks := []Check{
		checkArch(m), checkKernel(m), checkBTF(m), checkRights(m), checkNamespaces(m), checkLockdown(m),
		checkProcesses(m), checkUprobes(m), checkMPTCP(m), checkPressure(m), checkThrottling(m),
		checkStacks(m),
	}
	return append(checks, checkRuntimeStacks(m)...)
}

// check makes a Check; the remedy is dropped if it is not needed.
func check(name string, ok bool, detail, remedy string) Check {
	if ok {
		remedy = ""
	}
	return Check{Name: name, OK: ok, Detail: detail, Remedy: remedy}
}

func required(c Check) Check {
	c.Required = true
	return c
}

func checkArch(m machine) Check {
	return required(check("architecture", processor.Known(m.arch), m.arch, "record on x86-64 or arm64; recordings can be analysed anywhere"))
}

func checkKernel(m machine) Check {
	return check("kernel", releaseAtLeast(m.release, 5, 14), m.release, "boot Linux 5.14 or newer")
}

func checkBTF(m machine) Check {
	detail := "/sys/kernel/btf/vmlinux"
	if m.btf != nil {
		detail = m.btf.Error()
	}
	return required(check("kernel types (BTF)", m.btf == nil, detail, "use a kernel built with CONFIG_DEBUG_INFO_BTF=y"))
}

func (m machine) has(capability uint) bool { return m.caps>>capability&1 == 1 }

// can reports whether a capability is effective: a capability in a user namespace other than the machine's first one
// is not.
func (m machine) can(capability uint) bool { return m.initialUsers && m.has(capability) }

func checkRights(m machine) Check {
	admin := m.has(unix.CAP_SYS_ADMIN)
	var lacks []string
	if !admin && !m.has(unix.CAP_BPF) {
		lacks = append(lacks, "CAP_BPF")
	}
	if !admin && !m.has(unix.CAP_PERFMON) {
		lacks = append(lacks, "CAP_PERFMON")
	}
	detail := "may load and attach programs"
	remedy := "run as root (sudo dwell ...); in a container: --privileged without user namespace"
	if !m.initialUsers {
		detail = "in a user namespace of its own, as rootless containers are, where no capability allows to trace the machine"
		remedy = "record from the host, as root: sudo dwell attach --container ID; or run the container without user namespace"
	} else if len(lacks) > 0 {
		detail = "lacks " + strings.Join(lacks, " and ")
	}
	if m.seccomp {
		detail += "; a seccomp filter is active and may forbid bpf()"
	}
	return required(check("rights", len(lacks) == 0 && m.initialUsers, detail, remedy))
}

func checkNamespaces(m machine) Check {
	detail := "sees the pids of the machine"
	if !m.initialPIDs {
		detail = "runs in a pid namespace of its own: the kernel counts pids differently"
	}
	return required(check("pid namespace", m.initialPIDs, detail, "run on the host; in a container: --pid=host"))
}

func checkLockdown(m machine) Check {
	detail := m.lockdown
	if detail == "" {
		detail = "not reported"
	}
	return required(check("lockdown", m.lockdown != "confidentiality", detail,
		"boot with lockdown=integrity or none: confidentiality forbids programs to read the kernel"))
}

func checkProcesses(m machine) Check {
	ok := m.can(unix.CAP_SYS_PTRACE)
	detail := "may read other processes"
	if !ok {
		detail = "lacks CAP_SYS_PTRACE: sockets and runtimes of other users' processes stay unknown"
	}
	return check("process details", ok, detail, "run as root")
}

func checkUprobes(m machine) Check {
	ok := m.uprobes && (m.paranoid == "-1" || m.can(unix.CAP_PERFMON) || m.can(unix.CAP_SYS_ADMIN))
	detail := "available"
	switch {
	case !m.uprobes:
		detail = "the kernel has none"
	case !ok:
		detail = "needs CAP_PERFMON: perf_event_paranoid is " + m.paranoid
	}
	if !m.tracefs {
		detail += " (tracefs is not mounted; not needed)"
	}
	if ok {
		detail += ": what goroutines call and wait for; calls over TLS by method and path where OpenSSL is shared (Python, Ruby) or Node's"
	}
	return check("uprobes", ok, detail, "use a kernel with CONFIG_UPROBES=y, as root; needed to name calls over TLS, for calls and locks of Go, and for Node's timers")
}

func checkMPTCP(m machine) Check {
	switch m.mptcp {
	case "":
		return check("Multipath TCP", true, "not in this kernel", "")
	case "0":
		return check("Multipath TCP", true, "switched off", "")
	}
	return check("Multipath TCP", true, "switched on: Go 1.24 and newer listen with it; it is recorded too", "")
}

func checkPressure(m machine) Check {
	return check("pressure (PSI)", m.pressure == nil, describeError(m.pressure, "/proc/pressure/cpu"),
		"boot with psi=1 to see when the machine is short of CPU")
}

func checkThrottling(m machine) Check {
	return check("cgroup throttling", m.throttling == nil, describeError(m.throttling, "cpu.stat can be read"),
		"mount the cgroup file system to see when a CPU limit stops the service")
}

func describeError(err error, otherwise string) string {
	if err != nil {
		return err.Error()
	}
	return otherwise
}

// releaseAtLeast compares a kernel release such as "6.18.44-generic".
func releaseAtLeast(release string, major, minor int) bool {
	var a, b int
	if _, err := fmt.Sscanf(release, "%d.%d", &a, &b); err != nil {
		return false
	}
	return a > major || a == major && b >= minor
}
