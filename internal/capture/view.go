//go:build linux && (amd64 || arm64)

package capture

import (
	"net/netip"
	"unsafe"
)

// view reads a sample of the ring as the structure that abi.h defines. The generated types have C's layout. A sample
// that is too short, which the programs never write, reads as zeros.
func view[T any](b []byte) *T {
	if len(b) < int(unsafe.Sizeof(*new(T))) {
		return new(T)
	}
	return (*T)(unsafe.Pointer(unsafe.SliceData(b)))
}

// tail returns what follows the structure in a sample.
func tail[T any](b []byte, length uint32) []byte {
	size := int(unsafe.Sizeof(*new(T)))
	if len(b) < size+int(length) {
		return nil
	}
	return b[size : size+int(length)]
}

func cString(b []int8) string {
	out := make([]byte, 0, len(b))
	for _, c := range b {
		if c == 0 {
			break
		}
		out = append(out, byte(c))
	}
	return string(out)
}

const familyIPv6 = 10

// endpoint formats an address and port; IPv4-mapped IPv6 is shown as IPv4.
func endpoint(family uint16, address [16]byte, port uint16) string {
	a := netip.AddrFrom4([4]byte(address[:4]))
	if family == familyIPv6 {
		a = netip.AddrFrom16(address).Unmap()
	}
	return netip.AddrPortFrom(a, port).String()
}
