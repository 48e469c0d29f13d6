package protocol

import (
	"bytes"

	"github.com/getdwell/dwell/recording"
)

// Telemetry determines what a datagram to a telemetry daemon is: StatsD metrics or a syslog line. payload is the
// captured part of its size bytes. Telemetry sets Protocol, Bytes and Messages; names, values and tags are not kept.
func Telemetry(payload []byte, size int64) (recording.Datagram, bool) {
	f := recording.Datagram{Bytes: size}
	if f.Messages = statsD(payload, int64(len(payload)) < size); f.Messages > 0 {
		f.Protocol = recording.ProtocolStatsD
		return f, true
	}
	if syslog(payload) {
		f.Protocol, f.Messages = recording.ProtocolSyslog, 1
		return f, true
	}
	return f, false
}

// statsD counts the metrics of a datagram, or returns 0 if any line is not a metric. cut: the last line may continue,
// and other lines may follow.
func statsD(b []byte, cut bool) int64 {
	count := int64(0)
	for len(b) > 0 {
		line, rest, ended := bytes.Cut(b, []byte("\n"))
		b = rest
		whole := ended || !cut
		switch {
		case len(line) == 0: // after the last newline
		case metric(line):
			count++
		case !whole && count > 0: // the other lines prove enough
			count++
		default:
			return 0
		}
	}
	return count
}

// metric reports whether a line is name:value|type, optionally with a sample rate and tags. Events and service checks
// of DogStatsD count too.
func metric(line []byte) bool {
	if bytes.HasPrefix(line, []byte("_e{")) || bytes.HasPrefix(line, []byte("_sc|")) {
		return true
	}
	name, rest, ok := bytes.Cut(line, []byte(":"))
	if !ok || len(name) == 0 || bytes.IndexByte(name, ' ') >= 0 || bytes.IndexByte(name, '|') >= 0 {
		return false
	}
	values, rest, ok := bytes.Cut(rest, []byte("|"))
	kind, _, _ := bytes.Cut(rest, []byte("|"))
	switch string(kind) {
	case "c", "g", "h", "d", "ms":
		return ok && numbers(values)
	case "s": // counts distinct values of any form
		return ok && len(values) > 0
	}
	return false
}

// numbers reports whether b is one or more numbers separated by colons.
func numbers(b []byte) bool {
	for _, c := range b {
		if (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c != ':' && c != 'e' && c != 'E' {
			return false
		}
	}
	return len(b) > 0
}

// syslog reports whether a line begins with a priority in angle brackets and then a version or a month, as RFC 5424
// and RFC 3164 define.
func syslog(b []byte) bool {
	if len(b) < 4 || b[0] != '<' {
		return false
	}
	i := bytes.IndexByte(b[:min(len(b), 5)], '>')
	if i < 2 || i+1 >= len(b) {
		return false
	}
	priority := 0
	for _, c := range b[1:i] {
		if c < '0' || c > '9' {
			return false
		}
		priority = priority*10 + int(c-'0')
	}
	next := b[i+1]
	return priority < 192 && (next >= '1' && next <= '9' || next >= 'A' && next <= 'Z')
}
