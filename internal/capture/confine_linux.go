//go:build linux && (amd64 || arm64)

package capture

import (
	"fmt"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// writing covers everything that changes a file or a directory, or executes a file. Open files are not affected.
const writing = ll.AccessFSExecute | ll.AccessFSWriteFile | ll.AccessFSTruncate | ll.AccessFSRemoveDir | ll.AccessFSRemoveFile | ll.AccessFSRefer |
	ll.AccessFSMakeChar | ll.AccessFSMakeDir | ll.AccessFSMakeReg | ll.AccessFSMakeSock | ll.AccessFSMakeFifo | ll.AccessFSMakeBlock | ll.AccessFSMakeSym

// confine uses Landlock, if the kernel has it, for all threads of this process. They may not change files, except for
// creating and removing names in these directories, and may not look into other processes.
func confine(directories []string) error {
	config := landlock.Config{HandledAccessFS: writing}.BestEffort()
	names := landlock.PathAccess(ll.AccessFSMakeReg|ll.AccessFSRemoveFile, directories...)
	if err := config.RestrictPaths(names); err != nil {
		return fmt.Errorf("confine: %w", err)
	}
	return nil
}
