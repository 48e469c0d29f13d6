package elffile

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/getdwell/dwell/internal/capture/procfs"
)

// deviceAt is that of the file to which a path leads: as the kernel knows it, where the path is a link of /proc.
func deviceAt(name string) Device {
	id, err := procfs.Identify(name)
	if err != nil {
		return 0
	}
	return Device(id.Device)
}

// deviceOf is that of an open file, as the kernel knows it: its file system is not asked.
func deviceOf(file *os.File) Device {
	var s unix.Statx_t
	if unix.Statx(int(file.Fd()), "", unix.AT_EMPTY_PATH|unix.AT_STATX_DONT_SYNC, 0, &s) != nil {
		return 0
	}
	return Device(unix.Mkdev(s.Dev_major, s.Dev_minor))
}
