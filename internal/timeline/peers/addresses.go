package peers

import (
	"net/netip"
	"strings"
)

// Host returns the address of an address and port, in its canonical form.
func Host(addr string) string {
	if ap, err := netip.ParseAddrPort(addr); err == nil {
		return ap.Addr().Unmap().WithZone("").String()
	}
	h, _ := SplitPort(addr)
	return h
}

// SplitPort splits the port off an address or name; "" if there is none.
func SplitPort(addr string) (host, port string) {
	i := strings.LastIndexByte(addr, ':')
	if i < 0 {
		return addr, ""
	}
	return addr[:i], addr[i+1:]
}
