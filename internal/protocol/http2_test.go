package protocol

import (
	"testing"

	"github.com/getdwell/dwell/recording"
)

// A connection that was open before it was seen is known as HTTP/2 once three chunks consist of frames.
func TestJoinedHTTP2IsKnownByItsFrames(t *testing.T) {
	const (
		call   = "\x00\x00\x06\x01\x04\x00\x00\x00\x11\x83\x86\xc4\xc3\xc2\xc1" + "\x00\x00\x05\x00\x01\x00\x00\x00\x11\x00\x00\x00\x00\x00" // HEADERS, DATA
		answer = "\x00\x00\x02\x01\x04\x00\x00\x00\x11\x88\xc0" + "\x00\x00\x05\x00\x00\x00\x00\x00\x11\x00\x00\x00\x00\x00" + "\x00\x00\x02\x01\x05\x00\x00\x00\x11\xbf\xbe"
		ping   = "\x00\x00\x08\x06\x00\x00\x00\x00\x0012345678"
		window = "\x00\x00\x04\x08\x00\x00\x00\x00\x00\x00\x00\x00\x05"
	)
	for _, c := range []struct {
		what   string
		chunks []string // the client's first, then in turn
		joined bool
		want   recording.Protocol
	}{
		{"calls and answers", []string{call, answer, call, answer}, true, recording.ProtocolHTTP2},
		{"pings and windows", []string{ping, ping, window, window}, true, recording.ProtocolHTTP2},
		{"the middle of a frame comes first", []string{"and so on", call, call, answer, call, answer}, true, recording.ProtocolHTTP2},
		{"too few to tell", []string{call, answer}, true, recording.ProtocolUnknown},
		{"it was seen from its beginning, without the preface", []string{call, answer, call, answer}, false, recording.ProtocolOther},
		{"a frame that ends beyond its chunk", []string{call[:20], answer[:20], call[:20], answer[:20]}, true, recording.ProtocolOther},
		{"Kafka", []string{"\x00\x00\x00\x0a\x00\x03\x00\x09\x00\x00\x00\x07\x00\x00", "\x00\x00\x00\x0a\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00"}, true, recording.ProtocolOther},
	} {
		for _, side := range []recording.Side{recording.Inbound, recording.Outbound} {
			p := newPlayer(side)
			if c.joined {
				p.conn.Joined()
			}
			for i, data := range c.chunks {
				p.send(i%2 == 0, data, 0)
			}
			if got := p.conn.Protocol(); got != c.want {
				t.Errorf("%s, side %d: %v, want %v", c.what, side, got, c.want)
			}
		}
	}
}
