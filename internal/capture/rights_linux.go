//go:build linux && (amd64 || arm64)

package capture

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"
	"kernel.org/pub/linux/libs/security/libcap/cap"

	"github.com/getdwell/dwell/internal/capture/elffile"
	"github.com/getdwell/dwell/internal/capture/procfs"
	"github.com/getdwell/dwell/internal/capture/unwind"
)

// examining returns the capabilities needed to examine other users' processes.
func examining() []cap.Value {
	return []cap.Value{
		cap.SYS_PTRACE,         // their /proc entries and their memory
		cap.DAC_READ_SEARCH,    // their executables
		cap.CHECKPOINT_RESTORE, // the files that they have mapped
	}
}

// needed returns the capabilities that a running session continues to use, in this process or in its helper.
func needed() []cap.Value { return append(recordingOn(), examining()...) }

// recordingOn returns those needed to record.
func recordingOn() []cap.Value {
	return []cap.Value{
		cap.BPF,     // maps: new processes, counters
		cap.PERFMON, // programs on the functions of new processes
	}
}

// Keeping says what a running recorder will still do.
type Keeping struct {
	Runs    bool                     // start programs: it is not confined
	Places  []string                 // directories in which it will rename and remove files
	Started bool                     // end programs that it started
	Helper  func() (*os.File, error) // starts a process that runs Help, and returns this end of a connection to it
	PIDs    []int                    // watched processes, and all that belong to them
	Groups  []string                 // processes in these control groups too, as in procfs.Watched
}

// joiningTakes returns those that are needed in addition until everything has joined.
func joiningTakes() []cap.Value {
	return []cap.Value{cap.SYSLOG} // the addresses of the kernel's symbols, for the stack profiler
}

// DropRights permanently drops, for all threads, every capability that a session does not need once it records,
// except those that DropLast drops. A helper keeps the capabilities for examining processes. If there can be no
// helper, this process keeps them, and DropRights returns an error. Call it when all sessions are open: opening
// another one afterwards may fail. Each thread takes part: if one waits for a file system that does not answer,
// nothing is dropped.
func DropRights(k Keeping) error {
	keep := recordingOn()
	if k.Started {
		keep = append(keep, cap.KILL)
	}
	_ = unwind.RaiseMemlock() // while it is permitted; if it fails, the stack profiler reports that
	unhelped := k.help()
	if unhelped != nil {
		keep = append(keep, examining()...)
		unhelped = fmt.Errorf("those to examine processes are kept, as there is no helper for that: %w", unhelped)
	}
	err := elffile.UnlessWaiting(func() error {
		if err := dropRights(keep, joiningTakes()...); err != nil || k.Runs || unhelped != nil { // a confined process cannot examine others
			return err
		}
		return confine(k.Places)
	})
	if err != nil {
		err = fmt.Errorf("all are kept: %w", err)
	}
	if err = errors.Join(err, unhelped, refuseCalls(k.Runs)); err != nil {
		return fmt.Errorf("drop rights: %w", err)
	}
	return nil
}

// DropLast drops, after DropRights, what a session does not need once everything has joined.
func DropLast() error {
	rights, err := cap.GetProc().Dup()
	if err != nil {
		return fmt.Errorf("drop rights: %w", err)
	}
	for _, c := range joiningTakes() {
		err = errors.Join(err, rights.SetFlag(cap.Effective, false, c), rights.SetFlag(cap.Permitted, false, c))
	}
	if err = errors.Join(err, elffile.UnlessWaiting(rights.SetProc)); err != nil {
		return fmt.Errorf("drop rights: %w", err)
	}
	return nil
}

// help starts a helper and uses it from now on.
func (k Keeping) help() error {
	if ok, err := cap.GetProc().GetFlag(cap.Effective, cap.SYS_PTRACE); err != nil || !ok {
		return err // there is no right that it could keep
	}
	end, err := k.Helper()
	if err != nil {
		return err
	}
	return procfs.Use(end, procfs.Watched{PIDs: k.PIDs, Groups: k.Groups})
}

// errNoRights means that a helper would be of no use.
var errNoRights = errors.New("it has not the right to")

// Help examines processes for a recorder at the other end of a connection, until that is closed. It must run in a
// process of its own, which keeps only the rights needed for this.
func Help(recorder *os.File) error {
	return procfs.Serve(recorder, func() error {
		err := dropRights(examining())
		if err == nil {
			err = refuseCalls(false)
		}
		if ok, _ := cap.GetProc().GetFlag(cap.Effective, cap.SYS_PTRACE); err == nil && !ok {
			err = errNoRights
		}
		return err
	})
}

// GiveUpAll permanently drops, for all threads, every capability, and the calls that a recorder is refused. It is for
// a process that already has its input and output open.
func GiveUpAll() error { return errors.Join(dropRights(nil), confine(nil), refuseCalls(false)) }

// dropRights permanently drops all capabilities except keep and besides; those of besides cannot be regained once
// dropped.
func dropRights(keep []cap.Value, besides ...cap.Value) error {
	have := cap.GetProc()
	kept, err := among(have, keep)
	if err != nil {
		return err
	}
	if err := dropBound(have, kept); err != nil {
		return fmt.Errorf("bounding set: %w", err)
	}
	if _, err := cap.Prctlw(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	if kept, err = among(have, slices.Concat(keep, besides)); err != nil {
		return err
	}
	return kept.SetProc()
}

// among returns those of the capabilities that a process has.
func among(have *cap.Set, these []cap.Value) (*cap.Set, error) {
	set := cap.NewSet()
	for _, c := range these {
		if ok, err := have.GetFlag(cap.Permitted, c); err != nil || !ok {
			continue
		}
		if err := errors.Join(set.SetFlag(cap.Permitted, true, c), set.SetFlag(cap.Effective, true, c)); err != nil {
			return nil, err
		}
	}
	return set, nil
}

// dropBound shrinks the capabilities that a program run later could regain, if permitted.
func dropBound(have, kept *cap.Set) error {
	if ok, err := have.GetFlag(cap.Effective, cap.SETPCAP); err != nil || !ok {
		return err
	}
	for c := cap.Value(0); c < cap.MaxBits(); c++ {
		if keep, err := kept.GetFlag(cap.Permitted, c); err != nil || keep {
			continue
		}
		if bound, err := cap.GetBound(c); err != nil || !bound {
			continue
		}
		if err := cap.DropBound(c); err != nil {
			return err
		}
	}
	return nil
}
