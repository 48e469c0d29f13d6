package target

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// States in /proc/net/tcp.
const (
	tcpEstablished = 0x01
	tcpListen      = 0x0A
)

// tcpRow is one socket in /proc/net/tcp or tcp6.
type tcpRow struct {
	local, peer netip.AddrPort
	state       int64
	queued      int64 // unread bytes; for a listener, waiting connections
	inode       uint64
}

// parseTCP reads the text of /proc/net/tcp or tcp6. Lines that are not understood are skipped, such as the heading.
func parseTCP(text string) []tcpRow {
	var rows []tcpRow
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		const local, peer, state, queues, inode = 1, 2, 3, 4, 9
		if len(fields) <= inode {
			continue
		}
		var row tcpRow
		var errs [5]error
		row.local, errs[0] = parseAddress(fields[local])
		row.peer, errs[1] = parseAddress(fields[peer])
		row.state, errs[2] = strconv.ParseInt(fields[state], 16, 64)
		_, receive, _ := strings.Cut(fields[queues], ":")
		row.queued, errs[3] = strconv.ParseInt(receive, 16, 64)
		row.inode, errs[4] = strconv.ParseUint(fields[inode], 10, 64)
		if errors.Join(errs[:]...) == nil {
			rows = append(rows, row)
		}
	}
	return rows
}

// parseAddress reads "0100007F:1F90": the address as 32-bit words in the machine's byte order, the port in the usual
// order.
func parseAddress(text string) (netip.AddrPort, error) {
	words, port, _ := strings.Cut(text, ":")
	raw, err := hex.DecodeString(words)
	if err != nil {
		return netip.AddrPort{}, err
	}
	if binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
		for word := range slices.Chunk(raw, 4) {
			slices.Reverse(word)
		}
	}
	addr, ok := netip.AddrFromSlice(raw)
	if !ok {
		return netip.AddrPort{}, errors.New("neither an IPv4 nor an IPv6 address")
	}
	number, err := strconv.ParseUint(port, 16, 16)
	return netip.AddrPortFrom(addr.Unmap(), uint16(number)), err
}
