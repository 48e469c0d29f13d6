package capture

import (
	"fmt"

	"golang.org/x/sys/unix"
	"kernel.org/pub/linux/libs/security/libcap/cap"

	"github.com/getdwell/dwell/internal/capture/elffile"
)

// needed are the capabilities that a running session goes on using.
func needed() []cap.Value {
	return []cap.Value{
		cap.BPF,                // maps: new processes, counters
		cap.PERFMON,            // programs on the functions of new processes
		cap.SYS_PTRACE,         // what /proc says of the processes of others
		cap.DAC_READ_SEARCH,    // their executables; a recording that belongs to sudo's caller
		cap.CHECKPOINT_RESTORE, // the files that new processes have mapped, for their stacks
	}
}

// DropRights gives up, for all threads and for good, every capability that a running
// session does not need; one that started programs keeps what ends them. Call it when
// all sessions are open: opening another one afterwards may fail. Each thread takes part in it: where one
// waits for a file system that does not answer, nothing is given up.
func DropRights(started bool) error {
	if err := elffile.UnlessWaiting(func() error { return dropRights(started) }); err != nil {
		return fmt.Errorf("drop rights: %w", err)
	}
	return nil
}

func dropRights(started bool) error {
	have, kept, keep := cap.GetProc(), cap.NewSet(), needed()
	if started {
		keep = append(keep, cap.KILL)
	}
	for _, c := range keep {
		if ok, err := have.GetFlag(cap.Permitted, c); err != nil || !ok {
			continue
		}
		if err := kept.SetFlag(cap.Permitted, true, c); err != nil {
			return err
		}
		if err := kept.SetFlag(cap.Effective, true, c); err != nil {
			return err
		}
	}
	if err := dropBound(have, kept); err != nil {
		return fmt.Errorf("bounding set: %w", err)
	}
	if _, err := cap.Prctlw(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	return kept.SetProc()
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
