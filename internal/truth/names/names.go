// Package names is a name server for live tests and benches.
package names

import (
	"fmt"
	"io"
	"net"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// Serve answers every question for an A record with 127.0.0.1, and others with nothing, at
// port 53 of an address, each after the delay of that moment, until it is closed.
func Serve(address string, delay func() time.Duration) (io.Closer, error) {
	c, err := net.ListenPacket("udp", address+":53")
	if err != nil {
		return nil, fmt.Errorf("starting a name server: %w", err)
	}
	go func() {
		buf := make([]byte, 512)
		for {
			n, from, err := c.ReadFrom(buf)
			if err != nil {
				return
			}
			reply := answer(buf[:n])
			time.AfterFunc(delay(), func() {
				// What cannot be sent is lost: it is asked for again.
				_, _ = c.WriteTo(reply, from)
			})
		}
	}()
	return c, nil
}

func answer(query []byte) []byte {
	var m dnsmessage.Message
	if m.Unpack(query) != nil || len(m.Questions) == 0 {
		return nil
	}
	m.Response, m.Additionals = true, nil
	if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
		m.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 1},
			Body:   &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}},
		}}
	}
	reply, err := m.Pack()
	if err != nil {
		return nil
	}
	return reply
}

// Within are the words that run a command with the resolver's configuration from a file, in
// a mount namespace of its own.
func Within(config, command string) []string {
	return []string{"unshare", "-m", "sh", "-c", fmt.Sprintf("mount --bind %s /etc/resolv.conf && exec %s", config, command)}
}
