package target

import (
	"fmt"

	"github.com/getdwell/dwell/internal/capture/procfs"
)

// NetNS returns the inode number of a process's network namespace, as in net.ns.inum in the kernel.
func NetNS(pid int) (uint32, error) {
	id, err := procfs.Identify(procPath(pid, "ns/net"))
	if err != nil {
		return 0, fmt.Errorf("find the network namespace of process %d: %w", pid, procError(err))
	}
	return uint32(id.Inode), nil
}
