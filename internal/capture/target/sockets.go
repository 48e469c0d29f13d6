package target

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"

	"github.com/getdwell/dwell/internal/capture/procfs"
)

// Listener is a TCP socket on which a process accepts connections.
type Listener struct {
	Address netip.AddrPort
	FD      int    // lowest descriptor that names it
	Cookie  uint64 // as bpf_get_socket_cookie; 0 unknown
	Depth   int64  // connections waiting to be accepted
	Limit   int64  // of Depth; -1 unknown
	MPTCP   bool   // the descriptor is a Multipath TCP socket
}

// Connection is an established TCP connection of a process.
type Connection struct {
	Local, Peer netip.AddrPort
	FD          int    // lowest descriptor that names it
	Cookie      uint64 // as bpf_get_socket_cookie; 0 unknown
	MPTCP       bool   // the descriptor is a Multipath TCP socket
	Inbound     bool   // some process in its network namespace listens on the local port
}

// Listeners lists the listening TCP sockets of a process, in its own network namespace, by port. To read Limit and
// Cookie it duplicates each descriptor for some microseconds; if that is not allowed they stay unknown.
func (l *Look) Listeners(pid int) ([]Listener, error) {
	rows, fds, err := l.sockets(pid)
	if err != nil {
		return nil, fmt.Errorf("list the listening sockets of process %d: %w", pid, err)
	}
	peek := procfs.NewPeeker(pid)
	defer peek.Close()
	var found []Listener
	for _, row := range rows {
		fd, held := fds[row.inode]
		if !held || row.state != tcpListen {
			continue
		}
		listener := Listener{Address: row.local, FD: fd, Depth: row.queued, Limit: -1}
		if s, ok := peek.Socket(fd, row.inode); ok {
			listener.Cookie, listener.MPTCP, listener.Limit = s.Cookie, s.MPTCP, s.Backlog
		}
		found = append(found, listener)
	}
	slices.SortStableFunc(found, func(a, b Listener) int { return int(a.Address.Port()) - int(b.Address.Port()) })
	return found, nil
}

// Connections lists the established TCP connections of a process, by descriptor. Cookies are read as by Listeners.
func Connections(pid int) ([]Connection, error) {
	rows, fds, err := new(Look).sockets(pid)
	if err != nil {
		return nil, fmt.Errorf("list the connections of process %d: %w", pid, err)
	}
	// A worker often serves connections of a listener that only its parent has open.
	listening := map[uint16]bool{}
	for _, row := range rows {
		if row.state == tcpListen {
			listening[row.local.Port()] = true
		}
	}
	peek := procfs.NewPeeker(pid)
	defer peek.Close()
	var found []Connection
	for _, row := range rows {
		fd, held := fds[row.inode]
		if !held || row.state != tcpEstablished {
			continue
		}
		c := Connection{Local: row.local, Peer: row.peer, FD: fd, Inbound: listening[row.local.Port()]}
		if s, ok := peek.Socket(fd, row.inode); ok {
			c.Cookie, c.MPTCP = s.Cookie, s.MPTCP
		}
		found = append(found, c)
	}
	slices.SortStableFunc(found, func(a, b Connection) int { return a.FD - b.FD })
	return found, nil
}

// sockets returns the TCP sockets of a process's network namespace, and the lowest descriptor of the process for each
// socket inode. If the process has no sockets, no table is read.
func (l *Look) sockets(pid int) ([]tcpRow, map[uint64]int, error) {
	fds, err := procfs.Sockets(pid)
	if err != nil || len(fds) == 0 {
		return nil, nil, procError(err)
	}
	namespace, err := NetNS(pid)
	if err != nil {
		return nil, nil, err
	}
	rows, known := l.tables[namespace]
	if known {
		return rows, fds, nil
	}
	for _, table := range []string{"net/tcp", "net/tcp6"} {
		text, err := procfs.ReadFile(procPath(pid, table))
		if errors.Is(err, os.ErrNotExist) && table == "net/tcp6" {
			continue // IPv6 is switched off
		}
		if err != nil {
			return nil, nil, procError(err)
		}
		rows = append(rows, parseTCP(string(text))...)
	}
	if l.tables == nil {
		l.tables = map[uint32][]tcpRow{}
	}
	l.tables[namespace] = rows
	return rows, fds, nil
}
