package target

import (
	"fmt"
	"os"

	"github.com/getdwell/dwell/internal/capture/procfs"
	"github.com/getdwell/dwell/recording"
)

// MemoryUse samples the address space of a process; the caller sets Process.
func MemoryUse(pid int) (recording.Memory, error) {
	var size, resident, shared int64
	text, err := procfs.ReadFile(procPath(pid, "statm"))
	if err == nil {
		_, err = fmt.Sscan(string(text), &size, &resident, &shared)
	}
	if err != nil {
		return recording.Memory{}, fmt.Errorf("read the memory of process %d: %w", pid, procError(err))
	}
	page := int64(os.Getpagesize())
	return recording.Memory{Virtual: size * page, Resident: resident * page, Shared: shared * page}, nil
}
