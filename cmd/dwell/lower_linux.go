package main

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// lowerTo makes cmd run in its directory and end with dwell. It runs as the user who called sudo, or as nobody if
// dwell runs as root. The result describes this for error messages.
func lowerTo(cmd *exec.Cmd, who invoker) (as string, err error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() != 0 {
		return "", nil
	}
	as = " (for root, jars are read as nobody: make them readable, or call dwell as their owner)"
	cred := &syscall.Credential{Uid: nobody, Gid: nobody}
	if who.sudo {
		as = " (jars are read as " + who.name + ", who called sudo)"
		cred.Uid, cred.Gid = uint32(who.uid), uint32(who.gid)
		for _, id := range groupsOf(who.uid) {
			cred.Groups = append(cred.Groups, uint32(id))
		}
	}
	cmd.SysProcAttr.Credential = cred
	return as, os.Lchown(cmd.Dir, int(cred.Uid), int(cred.Gid))
}

// asNobody returns attributes for a command that needs no files except those it is given. It runs as nobody if dwell
// runs as root, and it is not ended by the terminal keys that end dwell.
func asNobody() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if os.Geteuid() == 0 {
		attr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	return attr
}

// self is the path of the running program, even if its file was replaced.
func self() string { return "/proc/self/exe" }

// limitSelf limits the resources of this process, and of those it starts, to what reading classes needs. It also
// prevents them from gaining rights.
func limitSelf() error {
	const files, written, cpu = 256, 256 << 20, 120
	return errors.Join(
		unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
		limit(unix.RLIMIT_CORE, 0), limit(unix.RLIMIT_NOFILE, files), limit(unix.RLIMIT_FSIZE, written), limit(unix.RLIMIT_CPU, cpu),
	)
}

func limit(what int, most uint64) error {
	return unix.Setrlimit(what, &unix.Rlimit{Cur: most, Max: most})
}
