package target

import (
	"golang.org/x/sys/unix"
)

// peeker duplicates descriptors of another process to ask the kernel about them. The
// duplicate is closed at once; the socket itself is not touched.
type peeker struct{ pidfd int }

// peeked is what a socket tells about itself.
type peeked struct {
	cookie  uint64
	mptcp   bool
	backlog int64 // limit of a listener's queue, -1 unknown
}

// openPeeker returns a peeker that knows nothing where the kernel refuses.
func openPeeker(pid int) peeker {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return peeker{-1}
	}
	return peeker{fd}
}

func (p peeker) close() {
	if p.pidfd >= 0 {
		unix.Close(p.pidfd)
	}
}

// socket asks about one descriptor, provided it still names the socket with inode.
func (p peeker) socket(fd int, inode uint64) (peeked, bool) {
	if p.pidfd < 0 {
		return peeked{}, false
	}
	dup, err := unix.PidfdGetfd(p.pidfd, fd, 0)
	if err != nil {
		return peeked{}, false
	}
	defer unix.Close(dup)
	var st unix.Stat_t
	if unix.Fstat(dup, &st) != nil || st.Ino != inode {
		return peeked{}, false
	}
	s := peeked{backlog: -1}
	if s.cookie, err = unix.GetsockoptUint64(dup, unix.SOL_SOCKET, unix.SO_COOKIE); err != nil {
		return peeked{}, false
	}
	if protocol, err := unix.GetsockoptInt(dup, unix.SOL_SOCKET, unix.SO_PROTOCOL); err == nil {
		s.mptcp = protocol == unix.IPPROTO_MPTCP
	}
	// Of a listener the kernel reports the length of its queue as unacknowledged and
	// the limit as selectively acknowledged segments.
	info, err := unix.GetsockoptTCPInfo(dup, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err == nil && info.State == tcpListen {
		s.backlog = int64(info.Sacked)
	}
	return s, true
}
