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

// examining are the capabilities that it takes to look at the processes of others.
func examining() []cap.Value {
	return []cap.Value{
		cap.SYS_PTRACE,         // what /proc says of them, and their memory
		cap.DAC_READ_SEARCH,    // their executables
		cap.CHECKPOINT_RESTORE, // the very files that they have mapped
	}
}

// needed are the capabilities that a running session goes on using, in this process or in its helper.
func needed() []cap.Value { return append(recordingOn(), examining()...) }

// recordingOn are those that it takes to record.
func recordingOn() []cap.Value {
	return []cap.Value{
		cap.BPF,     // maps: new processes, counters
		cap.PERFMON, // programs on the functions of new processes
	}
}

// Keeping says what a running recorder goes on doing.
type Keeping struct {
	Runs    bool                     // it goes on to start programs: it is not confined
	Places  []string                 // directories in which it goes on to rename and remove files
	Started bool                     // it ends programs that it started
	Helper  func() (*os.File, error) // starts a process that does Help, and returns this end of a connection to it
	PIDs    []int                    // who is watched, and all that belong to them
	Groups  []string                 // and who is in these control groups, as procfs.Watched has them
}

// joiningTakes are those that it takes besides until all has joined.
func joiningTakes() []cap.Value {
	return []cap.Value{cap.SYSLOG} // the addresses of the kernel's symbols, which the stack profiler wants
}

// DropRights gives up, for all threads and for good, every capability that a session does not need once it records, but
// for those that DropLast gives up. Those
// that it takes to examine processes a helper keeps; where there can be none this process does, which is an error.
// Call it when all sessions are open: opening another one afterwards may fail. Each thread takes part in it: where one
// waits for a file system that does not answer, nothing is given up.
func DropRights(k Keeping) error {
	keep := recordingOn()
	if k.Started {
		keep = append(keep, cap.KILL)
	}
	_ = unwind.RaiseMemlock() // while there are rights to; where that fails, stacks say so
	unhelped := k.help()
	if unhelped != nil {
		keep = append(keep, examining()...)
		unhelped = fmt.Errorf("those to examine processes are kept, as there is no helper for that: %w", unhelped)
	}
	err := elffile.UnlessWaiting(func() error {
		if err := dropRights(keep, joiningTakes()...); err != nil || k.Runs || unhelped != nil { // who is confined can look into no process
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

// DropLast gives up, after DropRights, what a session does not need once all has joined.
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

// help has a helper asked from now on.
func (k Keeping) help() error {
	if ok, err := cap.GetProc().GetFlag(cap.Effective, cap.SYS_PTRACE); err != nil || !ok {
		return err // there is nothing that it could keep
	}
	end, err := k.Helper()
	if err != nil {
		return err
	}
	return procfs.Use(end, procfs.Watched{PIDs: k.PIDs, Groups: k.Groups})
}

// errNoRights says that a helper would be of no use.
var errNoRights = errors.New("it has not the right to")

// Help examines processes for a recorder, at the other end of a connection, until that ends. It is the work of a process of
// its own, which keeps no other rights than those that this takes.
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

// GiveUpAll gives up, for all threads and for good, every capability, and the calls that a recorder is refused: for a
// process that has open what it reads and writes.
func GiveUpAll() error { return errors.Join(dropRights(nil), confine(nil), refuseCalls(false)) }

// dropRights gives up all but these, and those of besides, which cannot be had back once they are gone.
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

// among are those of the capabilities that a process has.
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

// dropBound shrinks what a program run later could regain, where we may.
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
