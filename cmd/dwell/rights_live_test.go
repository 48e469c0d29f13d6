package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/getdwell/dwell/recording"
)

// While it records, dwell has only the rights that recording needs: BPF and performance events, and reading the
// kernel's symbols until all hooks are active. Its helper has the rights to read other users' processes. Neither can
// end any process. When dwell is killed, the helper ends, the file can be read by its owner only, and the service
// continues.
func TestLiveRecorderDropsRightsAndMayBeKilled(t *testing.T) {
	needBPF(t)
	service := exec.Command("sleep", "60")
	if err := service.Start(); err != nil {
		t.Fatal(err)
	}
	defer service.Wait()
	defer service.Process.Kill()
	path := filepath.Join(t.TempDir(), "x.dwell")
	dwell := exec.Command(os.Args[0], "attach", "--pid", fmt.Sprint(service.Process.Pid), "-o", path)
	dwell.Env = append(os.Environ(), "BE_DWELL=1")
	said, err := dwell.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := dwell.Start(); err != nil {
		t.Fatal(err)
	}
	defer dwell.Wait()
	defer dwell.Process.Kill()
	const dacReadSearch, sysPtrace, syslog, perfmon, bpf, checkpointRestore = 2, 19, 34, 38, 39, 40
	lines := bufio.NewScanner(said)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "recording") {
	}
	comesToHave(t, dwell.Process.Pid, 1<<perfmon|1<<bpf|1<<syslog) // reading the service needs no other rights
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "all that can be seen") {
	}
	helper := childOf(t, dwell.Process.Pid)
	hasOnly(t, dwell.Process.Pid, 1<<perfmon|1<<bpf)
	hasOnly(t, helper, 1<<dacReadSearch|1<<sysPtrace|1<<checkpointRestore)
	seconds := func() int { return clocks(t, path) } // one Clock fact is written per second
	for until := time.Now().Add(10 * time.Second); seconds() < 2; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("nothing is written while it records")
		}
	}
	dwell.Process.Kill()
	dwell.Wait()
	for until := time.Now().Add(10 * time.Second); syscall.Kill(helper, 0) == nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("the helper is left")
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the recording: %v, %v; want one for its owner alone", info.Mode(), err)
	}
	if n := seconds(); n < 2 {
		t.Errorf("%d seconds are left of the recording", n)
	}
	if err := service.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the service: %v", err)
	}
}

// childOf returns the only child of a process.
func childOf(t *testing.T, pid int) int {
	t.Helper()
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		all = append(all, strings.Fields(string(text))...)
	}
	if len(all) != 1 {
		t.Fatalf("children of process %d: %v", pid, all)
	}
	child, err := strconv.Atoi(all[0])
	if err != nil {
		t.Fatal(err)
	}
	return child
}

// comesToHave waits until a process has exactly these rights.
func comesToHave(t *testing.T, pid int, rights uint64) {
	t.Helper()
	want, status := fmt.Sprintf("CapPrm:\t%016x\n", rights), []byte(nil)
	for until := time.Now().Add(10 * time.Second); !strings.Contains(string(status), want); time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("want %s in\n%s", want, status)
		}
		status, _ = os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	}
}

// hasOnly checks that every thread of a process has exactly these rights, can gain no others, and has a system call
// filter.
func hasOnly(t *testing.T, pid int, rights uint64) {
	t.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil || len(tasks) < 2 {
		t.Fatalf("threads of process %d: %v, %v", pid, tasks, err)
	}
	for _, path := range tasks {
		status, err := os.ReadFile(path)
		if err != nil {
			continue // the thread has ended
		}
		if !strings.Contains(string(status), "NoNewPrivs:\t1\nSeccomp:\t2\n") { // filtered
			t.Errorf("%s: it may start a program, and a program that it starts may have more rights:\n%s", path, status)
		}
		for _, set := range []string{"CapPrm", "CapEff", "CapBnd"} {
			if want := fmt.Sprintf("%s:\t%016x\n", set, rights); !strings.Contains(string(status), want) {
				t.Errorf("%s: want %s in\n%s", path, want, status)
			}
		}
	}
}

// A process that a service starts after the recorder has dropped its rights is named like others, even if it belongs
// to another user whose memory and files the recorder may not read.
func TestLiveLaterProcessIsNamed(t *testing.T) {
	needBPF(t)
	script := filepath.Join(t.TempDir(), "service.py")
	const service = `
import os, subprocess, sys
def become():
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
sys.stdin.readline()
subprocess.run([sys.executable, "-c", """
import time
def turns_round():
    until = time.time() + 4
    while time.time() < until: pass
turns_round()
"""], preexec_fn=become, cwd="/")
`
	if err := os.WriteFile(script, []byte(service), 0o600); err != nil {
		t.Fatal(err)
	}
	python := exec.Command("/usr/bin/python3", script)
	begin, err := python.StdinPipe()
	if err == nil {
		err = python.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer python.Wait()
	defer python.Process.Kill()
	path := filepath.Join(t.TempDir(), "x.dwell")
	dwell := exec.Command(os.Args[0], "attach", "--pid", fmt.Sprint(python.Process.Pid), "-o", path)
	dwell.Env = append(os.Environ(), "BE_DWELL=1")
	said, err := dwell.StderrPipe()
	if err == nil {
		err = dwell.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer dwell.Process.Kill()
	lines := bufio.NewScanner(said)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "all that can be seen") {
	}
	fmt.Fprintln(begin)
	for lines.Scan() { // ends with the service
	}
	dwell.Wait()
	rec, err := readRecording("facts", path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range rec.Events {
		if f, is := e.Fact.(*recording.Frame); is && strings.Contains(f.Function, "turns_round") {
			return
		}
	}
	t.Error("no stack names the function of the process that was started later")
}

// clocks returns the number of Clock facts in a recording.
func clocks(t *testing.T, path string) (n int) {
	t.Helper()
	rec, err := readRecording("facts", path)
	if errors.Is(err, recording.ErrEmpty) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range rec.Events {
		if e.Fact.Kind() == recording.KindClock {
			n++
		}
	}
	return n
}
