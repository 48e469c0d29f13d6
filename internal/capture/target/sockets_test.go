package target

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// One connection waits in the queue of 17; the other has both ends in the process.
func TestSockets(t *testing.T) {
	for _, address := range []string{"127.0.0.1", "::1"} {
		t.Run(address, func(t *testing.T) {
			port, fd, client, pid := startSockets(t, exec.Command("python3", "testdata/sockets.py", address))
			local := netip.AddrPortFrom(netip.MustParseAddr(address), port)

			listeners, err := new(Look).Listeners(pid)
			if err != nil || len(listeners) != 1 {
				t.Fatalf("%+v, %v", listeners, err)
			}
			l := listeners[0]
			if l.Cookie == 0 {
				t.Error("no cookie")
			}
			if l.Cookie = 0; l != (Listener{Address: local, FD: fd, Depth: 1, Limit: 17}) {
				t.Errorf("got %+v", l)
			}

			// Two outgoing, one accepted: the third inbound end waits without a descriptor.
			conns, err := Connections(pid)
			if err != nil || len(conns) != 3 {
				t.Fatalf("%+v, %v", conns, err)
			}
			inbound := slices.DeleteFunc(slices.Clone(conns), func(c Connection) bool { return !c.Inbound })
			if len(inbound) != 1 || inbound[0].Local != local || inbound[0].Peer.Port() != client {
				t.Errorf("inbound: %+v, want the one from port %d", inbound, client)
			}
			cookies := map[uint64]bool{}
			for _, c := range conns {
				cookies[c.Cookie] = true
			}
			if len(cookies) != 3 || cookies[0] {
				t.Errorf("cookies: %v", cookies)
			}
		})
	}
}

// A process in its own network namespace has its own tables; sockets of this process must not be taken for its
// sockets.
func TestSocketsOfAnotherNamespace(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root makes a network namespace")
	}
	script := `import fcntl, runpy, socket, struct, sys
s = socket.socket(); fcntl.ioctl(s, 0x8914, struct.pack("16sH14x", b"lo", 1)); s.close()
sys.argv = ["sockets.py", "127.0.0.1"]; runpy.run_path("testdata/sockets.py")`
	cmd := exec.Command("python3", "-c", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	port, _, _, pid := startSockets(t, cmd)
	listeners, err := new(Look).Listeners(pid)
	if err != nil || len(listeners) != 1 || listeners[0].Address.Port() != port || listeners[0].Limit != 17 {
		t.Errorf("%+v, %v; want port %d", listeners, err, port)
	}
}

// Go listens with Multipath TCP if the machine supports it. The cookie is the one that programs in the kernel see for
// the descriptor's socket.
func TestOwnListener(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	raw, err := listener.(*net.TCPListener).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var want Listener
	raw.Control(func(fd uintptr) {
		want.FD = int(fd)
		want.Cookie, _ = unix.GetsockoptUint64(int(fd), unix.SOL_SOCKET, unix.SO_COOKIE)
		protocol, _ := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_PROTOCOL)
		want.MPTCP = protocol == unix.IPPROTO_MPTCP
	})
	want.Address = netip.MustParseAddrPort(listener.Addr().String())
	all, err := new(Look).Listeners(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(all, func(l Listener) bool { return l.FD == want.FD })
	if at < 0 {
		t.Fatalf("not among %+v", all)
	}
	got := all[at]
	if got.Limit <= 0 {
		t.Errorf("limit %d", got.Limit)
	}
	if got.Limit = 0; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func startSockets(t *testing.T, cmd *exec.Cmd) (port uint16, fd int, client uint16, pid int) {
	t.Helper()
	if cmd.Err != nil {
		t.Skip("python3 is not installed")
	}
	pid, line := startCmd(t, cmd)
	if _, err := fmt.Sscan(line, &port, &fd, &client); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return port, fd, client, pid
}

func TestParseTCP(t *testing.T) {
	text := strings.Join([]string{
		"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode",
		"   0: 0100007F:1F90 00000000:0000 0A 00000000:00000003 00:00000000 00000000     0        0 4026 1 0 100 0 0 10 0",
		"   1: 0000000000000000FFFF00000100007F:1F90 0000000000000000FFFF00000200007F:C001 01 00000000:00000000 00:00000000 00000000     0        0 4027 1 0",
		"   2: 00000000000000000000000001000000:0050 B80D0120000000000000000001000000:0051 06 00000000:00000000 00:00000000 00000000     0        0 0 1 0",
		"   3: 01007F:1F90 00000000:0000 0A 00000000:00000003 00:00000000 00000000     0        0 4028 1 0",
		"",
	}, "\n")
	want := []tcpRow{
		{netip.MustParseAddrPort("127.0.0.1:8080"), netip.MustParseAddrPort("0.0.0.0:0"), tcpListen, 3, 4026},
		{netip.MustParseAddrPort("127.0.0.1:8080"), netip.MustParseAddrPort("127.0.0.2:49153"), tcpEstablished, 0, 4027},
		{netip.MustParseAddrPort("[::1]:80"), netip.MustParseAddrPort("[2001:db8::1]:81"), 6, 0, 0},
	}
	if got := parseTCP(text); !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
