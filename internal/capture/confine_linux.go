//go:build linux && (amd64 || arm64)

package capture

import (
	"fmt"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// writing is whatever changes a file or a directory, or runs a file. What is open already is not concerned.
const writing = ll.AccessFSExecute | ll.AccessFSWriteFile | ll.AccessFSTruncate | ll.AccessFSRemoveDir | ll.AccessFSRemoveFile | ll.AccessFSRefer |
	ll.AccessFSMakeChar | ll.AccessFSMakeDir | ll.AccessFSMakeReg | ll.AccessFSMakeSock | ll.AccessFSMakeFifo | ll.AccessFSMakeBlock | ll.AccessFSMakeSym

// confine has the kernel, if it has Landlock, keep all threads of this process from changing files, but for new names and
// removed ones in these directories, and from looking into other processes.
func confine(directories []string) error {
	config := landlock.Config{HandledAccessFS: writing}.BestEffort()
	names := landlock.PathAccess(ll.AccessFSMakeReg|ll.AccessFSRemoveFile, directories...)
	if err := config.RestrictPaths(names); err != nil {
		return fmt.Errorf("confine: %w", err)
	}
	return nil
}
