//go:build !linux

package main

import (
	"os"
	"os/exec"
	"syscall"
)

// lowerTo does nothing: dwell does not run as root where it cannot record.
func lowerTo(*exec.Cmd, invoker) (string, error) { return "", nil }

// self is the path of the running program.
func self() string {
	name, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return name
}

// limitSelf sets no limits here.
func limitSelf() error { return nil }

func asNobody() *syscall.SysProcAttr { return nil }
