package target

import "net/netip"

// Listener is a TCP socket on which a process accepts connections.
type Listener struct {
	Address netip.AddrPort
	FD      int    // lowest descriptor that names it
	Cookie  uint64 // as bpf_get_socket_cookie; 0 unknown
	Depth   int64  // connections that wait to be accepted
	Limit   int64  // of Depth; -1 unknown
	MPTCP   bool   // the descriptor is a Multipath TCP socket
}

// Connection is an established TCP connection that a process holds.
type Connection struct {
	Local, Peer netip.AddrPort
	FD          int
	Cookie      uint64 // as bpf_get_socket_cookie; 0 unknown
	MPTCP       bool
	Inbound     bool // Local is the port of one of the process's listeners
}

// Listeners lists the listening TCP sockets of a process, in its own network
// namespace, by port.
func Listeners(pid int) ([]Listener, error) { panic("todo") }

// Connections lists the established TCP connections of a process, by descriptor.
func Connections(pid int) ([]Connection, error) { panic("todo") }
