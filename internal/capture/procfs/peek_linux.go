package procfs

import (
	"errors"
	"strconv"

	"golang.org/x/sys/unix"
)

// NewPeeker returns a Peeker. If the kernel refuses it, the Peeker knows nothing.
func NewPeeker(pid int) Peeker {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		fd = -1
	}
	return Peeker{pid, fd}
}

// Close releases its resources.
func (p Peeker) Close() {
	if p.pidfd >= 0 {
		unix.Close(p.pidfd)
	}
}

// Socket returns data about one descriptor, if it still names the socket with that inode.
func (p Peeker) Socket(fd int, inode uint64) (Socket, bool) {
	if p.pidfd < 0 {
		return Socket{}, false
	}
	s, err := p.peek(fd, inode)
	if a, helped := helped(err, question{Do: doPeek, FD: fd, Inode: inode}, "/proc/"+strconv.Itoa(p.pid)); helped {
		return a.Socket, true
	}
	return s, err == nil
}

var errOther = errors.New("the descriptor is no longer of that socket")

func (p Peeker) peek(fd int, inode uint64) (Socket, error) {
	dup, err := unix.PidfdGetfd(p.pidfd, fd, 0)
	if err != nil {
		return Socket{}, err
	}
	defer unix.Close(dup)
	var st unix.Stat_t
	if unix.Fstat(dup, &st) != nil || st.Ino != inode {
		return Socket{}, errOther
	}
	s := Socket{Backlog: -1}
	if s.Cookie, err = unix.GetsockoptUint64(dup, unix.SOL_SOCKET, unix.SO_COOKIE); err != nil {
		return Socket{}, err
	}
	if protocol, err := unix.GetsockoptInt(dup, unix.SOL_SOCKET, unix.SO_PROTOCOL); err == nil {
		s.MPTCP = protocol == unix.IPPROTO_MPTCP
	}
	// For a listener, the kernel reports the length of its queue as unacknowledged segments, and the limit as
	// selectively acknowledged segments.
	const tcpListen = 10
	info, err := unix.GetsockoptTCPInfo(dup, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err == nil && info.State == tcpListen {
		s.Backlog = int64(info.Sacked)
	}
	return s, nil
}
