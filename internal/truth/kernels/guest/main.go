// Command guest is the first process of a virtual machine in which a kernel is tried. It
// plays dwell's doctor and demo and a service that logs what it does, prints what came of
// it on the console, and turns the machine off. See internal/truth/kernels.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"

	"github.com/getdwell/dwell/internal/truth/kernels/outcome"
	"golang.org/x/sys/unix"
)

func main() {
	if os.Getpid() != 1 {
		fmt.Fprintln(os.Stderr, "guest is the first process of a virtual machine: use make test-kernels")
		os.Exit(2)
	}
	if err := furnish(); err != nil {
		fmt.Println("guest:", err)
	} else if line, err := json.Marshal(try()); err != nil {
		fmt.Println("guest:", err)
	} else {
		fmt.Printf("\n%s%s\n", outcome.Mark, line)
	}
	unix.Sync()
	if err := unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF); err != nil {
		fmt.Println("guest: turning the machine off:", err)
	}
	select {}
}

func try() outcome.Outcome {
	o := outcome.Outcome{Kernel: release(), Arch: runtime.GOARCH, Doctor: doctor()}
	say("doctor: %+v", o.Doctor)
	o.Demo = playDemo()
	say("demo: %+v", o.Demo)
	o.Truth = playTruth()
	say("truth: %+v", o.Truth)
	o.Kmsg = complaint()
	return o
}

// say shows how far it came, for whoever reads the console.
func say(format string, args ...any) { fmt.Printf("guest: "+format+"\n", args...) }

func release() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return "unknown"
	}
	return unix.ByteSliceToString(u.Release[:])
}

// furnish makes of an archive of a few files a machine on which programs run.
func furnish() error {
	for _, m := range []struct{ kind, at string }{
		{"proc", "/proc"}, {"sysfs", "/sys"}, {"devtmpfs", "/dev"}, {"tmpfs", "/tmp"},
		{"tracefs", "/sys/kernel/tracing"}, {"bpf", "/sys/fs/bpf"}, {"cgroup2", "/sys/fs/cgroup"},
	} {
		if err := os.MkdirAll(m.at, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(m.kind, m.at, m.kind, 0, ""); err != nil && err != unix.EBUSY {
			return fmt.Errorf("mount %s: %w", m.at, err)
		}
	}
	for name, value := range map[string]string{"PATH": "/bin", "HOME": "/", "TMPDIR": "/tmp"} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return loopback()
}

// loopback brings up the network interface that needs no other machine.
func loopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return fmt.Errorf("bring up lo: %w", err)
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		return fmt.Errorf("bring up lo: %w", err)
	}
	return nil
}
