//go:build linux && (amd64 || arm64)

package capture

import "strconv"

// syscallName names a system call; "" for -1, its number where the table
// ends.
func syscallName(nr int32) string {
	if nr < 0 {
		return ""
	}
	if int(nr) < len(syscallNames) && syscallNames[nr] != "" {
		return syscallNames[nr]
	}
	return "syscall-" + strconv.Itoa(int(nr))
}
