package protocol

import "encoding/binary"

// An HTTP/2 connection that was open before it was first seen has no preface. It is recognised by its frames: a header of
// 9 bytes (length in 3, type, flags, stream in 4: RFC 9113, 4.1), then as many bytes as it says, then the next header.
const (
	http2Header   = 9
	http2MaxFrame = 1 << 14 // unless the other end allows more, which next to none does
	http2Chunks   = 3       // as many chunks that consist of frames make it an HTTP/2 connection
)

// http2Frames reports whether a chunk consists of whole frames, as far as it was captured. It captured one header at least.
func http2Frames(k chunk) bool {
	at, data := k.size, k.data
	for len(data) >= http2Header {
		length := int64(data[0])<<16 | int64(binary.BigEndian.Uint16(data[1:]))
		if at -= http2Header + length; at < 0 || !http2Frame(data[3], data[4], length, binary.BigEndian.Uint32(data[5:])) {
			return false
		}
		data = data[min(int64(len(data)), http2Header+length):]
	}
	return at < k.size && (at == 0 || int64(len(k.data)) < k.size)
}

// http2Frame reports whether a frame can have a type, flags, length and stream together (RFC 9113, 6).
func http2Frame(kind, flags byte, length int64, stream uint32) bool {
	const data, headers, priority, reset, settings, promise, ping, goAway, window, continuation = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
	if length > http2MaxFrame || stream>>31 != 0 {
		return false
	}
	switch kind {
	case data:
		return stream != 0 && flags&^0x09 == 0
	case headers:
		return stream != 0 && flags&^0x2d == 0 && length > 0
	case priority:
		return stream != 0 && flags == 0 && length == 5
	case reset:
		return stream != 0 && flags == 0 && length == 4
	case settings:
		return stream == 0 && flags&^0x01 == 0 && length%6 == 0
	case promise:
		return stream != 0 && flags&^0x0c == 0 && length > 4
	case ping:
		return stream == 0 && flags&^0x01 == 0 && length == 8
	case goAway:
		return stream == 0 && flags == 0 && length >= 8
	case window:
		return flags == 0 && length == 4
	case continuation:
		return stream != 0 && flags&^0x04 == 0 && length > 0
	}
	return false
}
