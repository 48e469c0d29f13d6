//go:build !linux

package main

import (
	"os"
	"os/exec"
	"syscall"
)

// lowerTo has nothing to lower: dwell is not run as root where it cannot record.
func lowerTo(*exec.Cmd, invoker) (string, error) { return "", nil }

// self is the program that runs.
func self() string {
	name, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return name
}

// limitSelf has no limits to set.
func limitSelf() error { return nil }

func asNobody() *syscall.SysProcAttr { return nil }
