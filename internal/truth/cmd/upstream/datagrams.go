package main

import (
	"fmt"
	"net"
	"time"

	"github.com/getdwell/dwell/internal/truth"
)

// serveDatagrams answers over UDP, until the process ends. An exchange begins with the first
// datagram that asks, be it lost, and ends with the first answer.
func serveDatagrams(listen string, lines chan<- truth.Exchange) error {
	conn, err := net.ListenPacket("udp", listen)
	if err != nil {
		return err
	}
	go func() {
		asked := map[string]int64{} // since when, by what is answered; 0: it was
		buf := make([]byte, 1<<10)
		for n := 1; ; n++ {
			size, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			now := truth.Now()
			var id, delay, lose int
			var name string
			if _, err := fmt.Sscan(string(buf[:size]), &id, &name, &delay, &lose); err != nil {
				continue
			}
			start, again := asked[name]
			if !again {
				start = now
				asked[name] = now
			}
			if lose > 0 && n%lose == 0 {
				continue
			}
			asked[name] = 0
			go func() {
				time.Sleep(time.Duration(delay) * time.Microsecond)
				if start != 0 { // logged before it is answered: the service's next exchange follows
					lines <- truth.Exchange{ID: id, Port: from.(*net.UDPAddr).Port, Start: start, End: truth.Now()}
				}
				// What cannot be sent is lost: it is asked for again.
				_, _ = fmt.Fprintf(answerTo{conn, from}, "%d %s", id, name)
			}()
		}
	}()
	return nil
}

// answerTo writes datagrams to one peer.
type answerTo struct {
	net.PacketConn
	to net.Addr
}

func (a answerTo) Write(b []byte) (int, error) { return a.WriteTo(b, a.to) }
