package elffile

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/getdwell/dwell/internal/capture/procfs"
)

// deviceAt returns the device of the file to which a path leads; for links of /proc, the kernel answers.
func deviceAt(name string) Device {
	id, err := procfs.Identify(name)
	if err != nil {
		return 0
	}
	return Device(id.Device)
}

// deviceOf returns the device of an open file. The kernel answers, without asking the file system.
func deviceOf(file *os.File) Device {
	var s unix.Statx_t
	if unix.Statx(int(file.Fd()), "", unix.AT_EMPTY_PATH|unix.AT_STATX_DONT_SYNC, 0, &s) != nil {
		return 0
	}
	return Device(unix.Mkdev(s.Dev_major, s.Dev_minor))
}
