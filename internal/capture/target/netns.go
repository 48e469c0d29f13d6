package target

import (
	"fmt"
	"os"
	"syscall"
)

// NetNS is the inode number that names the network namespace of a process, as in
// net.ns.inum in the kernel.
func NetNS(pid int) (uint32, error) {
	info, err := os.Stat(procPath(pid, "ns/net"))
	if err != nil {
		return 0, fmt.Errorf("find the network namespace of process %d: %w", pid, procError(err))
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, fmt.Errorf("find the network namespace of process %d: no inode number", pid)
	}
	return uint32(stat.Ino), nil
}
