// Command starve runs a program on a machine that is short of random numbers: in a
// mount namespace of its own, /dev/random and /dev/urandom are a pipe that gets a few
// bytes some time after it ran dry. The machine's devices are untouched. Needs root.
//
//	starve PIPE PROGRAM [ARGUMENT...]
//
// The program takes over this process. The pipe is fed by a process of its own that is
// not its child and ends after it: without a feeder the program could not even exit.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// What the incident's log shows: a draw that waited took 53 ms.
const (
	refill = 2048 // bytes
	dryFor = 53 * time.Millisecond
	look   = time.Millisecond // how often the pipe is looked at
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: starve PIPE PROGRAM [ARGUMENT...]")
		os.Exit(2)
	}
	do, name := starve, os.Args[2:]
	if pid, err := strconv.Atoi(os.Args[2]); err == nil {
		do = func(pipe string, _ []string) error { return feed(pipe, pid) }
	}
	if err := do(os.Args[1], name); err != nil {
		fmt.Fprintln(os.Stderr, "starve:", err)
		os.Exit(2)
	}
}

// starve becomes the program; it returns only if that fails.
func starve(pipe string, program []string) error {
	runtime.LockOSThread() // the namespace is the thread's
	path, err := exec.LookPath(program[0])
	if err != nil {
		return err
	}
	_ = os.Remove(pipe)
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		return fmt.Errorf("making the pipe %s: %w", pipe, err)
	}
	if err := startFeeder(pipe); err != nil {
		return err
	}
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("a mount namespace: %w (needs root)", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making mounts private: %w", err)
	}
	for _, device := range []string{"/dev/random", "/dev/urandom"} {
		if err := unix.Mount(pipe, device, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("mounting the pipe over %s: %w", device, err)
		}
	}
	return unix.Exec(path, program, os.Environ())
}

// startFeeder leaves a feeder behind that is nobody's child: a shell starts it and ends.
func startFeeder(pipe string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command("sh", "-c", `setsid "$0" "$@" </dev/null >/dev/null 2>&1 &`, self, pipe, strconv.Itoa(os.Getpid()))
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("starting the feeder: %w", err)
	}
	return nil
}

// feed keeps the pipe open and refills it until the process has ended.
func feed(pipe string, pid int) error {
	fd, err := unix.Open(pipe, unix.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("opening %s: %w", pipe, err)
	}
	for unix.Kill(pid, 0) == nil {
		left, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
		if err != nil {
			return fmt.Errorf("looking into %s: %w", pipe, err)
		}
		if left > 0 {
			time.Sleep(look)
			continue
		}
		time.Sleep(dryFor)
		if err := write(fd); err != nil {
			return err
		}
	}
	return nil
}

func write(fd int) error {
	// Any bytes do; they must only not be taken for constant.
	data := make([]byte, refill)
	for i := range data {
		data[i] = byte(uint64(time.Now().UnixNano()) * 0x9E3779B97F4A7C15 >> 56)
	}
	_, err := unix.Write(fd, data)
	return err
}
