package main

import (
	"cmp"
	"fmt"
	"log"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/getdwell/dwell/internal/truth"
)

// askDatagram asks the upstream over UDP, again each time that nothing came for UDP_TIMEOUT
// (us); with LOSE=N the upstream loses every Nth datagram.
func (c caller) askDatagram() {
	conn, err := net.Dial("udp", c.upstream)
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	timeout, _ := strconv.Atoi(os.Getenv("UDP_TIMEOUT"))
	ask := fmt.Sprintf("%s %d %s %s", c.id, truth.Now(), c.delay, cmp.Or(os.Getenv("LOSE"), "0"))
	for answer := make([]byte, 100); ; {
		if _, err := conn.Write([]byte(ask)); err != nil {
			log.Fatal(err)
		}
		if conn.SetReadDeadline(time.Now().Add(time.Duration(timeout)*time.Microsecond)) != nil {
			log.Fatal("no deadline")
		}
		if n, _ := conn.Read(answer); n > 0 {
			return
		}
	}
}
