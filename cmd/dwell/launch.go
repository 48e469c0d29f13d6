package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// launched is the service that dwell run starts. First it is a dwell process that waits on a pipe and then becomes
// the service. So recording begins before the service's first instruction.
type launched struct {
	cmd     *exec.Cmd
	gate    *os.File
	started bool
	done    chan struct{} // closed when the service has ended
	err     error         // of Wait; read after done
}

// gateFD is the waiting process's descriptor of the pipe.
const gateFD = 3

// launch prepares args as a waiting process; start lets it run.
func launch(args []string, w world) (*launched, error) {
	program, err := exec.LookPath(args[0])
	if err != nil {
		remedy := "check the name"
		if w.getenv("SUDO_UID") != "" && !strings.Contains(args[0], "/") {
			remedy = "sudo may have another PATH: give the full path, or sudo env PATH=\"$PATH\" dwell run ..."
		}
		return nil, fmt.Errorf("dwell run: cannot start %s: %w (%s)", args[0], errors.Unwrap(err), remedy)
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("dwell run: %w", err)
	}
	defer read.Close()
	cmd := exec.Command("/proc/self/exe", append([]string{"__launch", "--", program}, args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = w.in, w.out, w.err
	cmd.ExtraFiles = []*os.File{read}
	dropPrivileges(cmd, whoInvoked(w.getenv))
	if err := cmd.Start(); err != nil {
		write.Close()
		return nil, fmt.Errorf("dwell run: start %s: %w", args[0], err)
	}
	l := &launched{cmd: cmd, gate: write, done: make(chan struct{})}
	go func() {
		l.err = cmd.Wait()
		close(l.done)
	}()
	return l, nil
}

// dropPrivileges makes cmd run as the user who called sudo, with that user's groups and home: that its observer is
// root is no reason for a service to run as root.
func dropPrivileges(cmd *exec.Cmd, who invoker) {
	if !who.sudo {
		return
	}
	cred := &syscall.Credential{Uid: uint32(who.uid), Gid: uint32(who.gid), NoSetGroups: false}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: cred}
	account, err := user.LookupId(strconv.Itoa(who.uid))
	if err != nil {
		return // a uid without an account has no groups and no home
	}
	for _, id := range groupsOf(who.uid) {
		cred.Groups = append(cred.Groups, uint32(id))
	}
	cmd.Env = append(os.Environ(), "HOME="+account.HomeDir, "USER="+account.Username, "LOGNAME="+account.Username)
}

func (l *launched) pid() int { return l.cmd.Process.Pid }

// start lets the service run.
func (l *launched) start() error {
	l.started = true
	_, err := l.gate.Write([]byte{1})
	if err := errors.Join(err, l.gate.Close()); err != nil {
		return fmt.Errorf("dwell run: start the service: %w", err)
	}
	return nil
}

// endsWithin waits for the service to end, and reports whether it did.
func (l *launched) endsWithin(grace time.Duration) bool {
	select {
	case <-l.done:
		return true
	case <-time.After(grace):
		return false
	}
}

// succeeded reports whether an ended service exited with status 0.
func (l *launched) succeeded() bool { return l.err == nil }

// ended describes how the service ended.
func (l *launched) ended() string {
	var exit *exec.ExitError
	if errors.As(l.err, &exit) {
		return exit.ProcessState.String()
	}
	if l.err != nil {
		return l.err.Error()
	}
	return "exit status 0"
}

// launchCommand is the waiting process: it becomes the service when told to.
func launchCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "__launch -- PROGRAM ARG0 [ARG...]",
		Hidden: true,
		Args:   cobra.MinimumNArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			gate := os.NewFile(gateFD, "gate")
			if gate == nil {
				return errors.New("dwell __launch is used by dwell run alone")
			}
			if _, err := io.ReadFull(gate, make([]byte, 1)); err != nil {
				return exitError{exitCannot} // dwell ended first
			}
			gate.Close()
			err := syscall.Exec(args[0], args[1:], os.Environ())
			return fmt.Errorf("dwell run: start %s: %w", args[0], err)
		},
	}
}
