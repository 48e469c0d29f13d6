//go:build linux && (amd64 || arm64)

package capture

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/getdwell/dwell/recording"
)

// Requests that a web server passes on by FastCGI count as requests. Of their parameters the method and the path are
// kept, and of their answers the status.
func TestFastCGI(t *testing.T) {
	const port, requests = 21037, 6
	server := start(t, port, python(t), "testdata/fastcgi.py", fmt.Sprint(port))
	l := record(t, server.Process.Pid, Options{})
	c, err := net.Dial("tcp", localhost(port))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(20 * time.Second))
	for range requests {
		c.Write(handedOn("REQUEST_METHOD", "POST", "REQUEST_URI", "/orders/new?card=S3cr3t", "HTTP_HOST", "shop.example"))
		if _, err := io.ReadFull(c, make([]byte, 8+51+8+8+8)); err != nil {
			t.Fatal(err)
		}
	}
	rec := l.stop()

	asked, answered := 0, 0
	for _, r := range all[*recording.HTTPRequest](rec) {
		if r.Method == "POST" && r.Route == "/orders/new" && r.Host == "shop.example" {
			asked++
		}
	}
	for _, r := range all[*recording.HTTPResponse](rec) {
		if r.Status == 201 {
			answered++
		}
	}
	if asked != requests || answered != requests {
		t.Errorf("of %d requests %d were seen, and of their answers %d", requests, asked, answered)
	}
}

// handedOn is a request without a body, with parameters given as name and value.
func handedOn(params ...string) (b []byte) {
	record := func(kind byte, content []byte) {
		b = append(b, 1, kind, 0, 1)
		b = binary.BigEndian.AppendUint16(b, uint16(len(content)))
		b = append(append(b, 0, 0), content...)
	}
	record(1, []byte{0, 1, 1, 0, 0, 0, 0, 0}) // it begins, and the connection is kept open
	var pairs []byte
	for i := 0; i < len(params); i += 2 {
		pairs = append(pairs, byte(len(params[i])), byte(len(params[i+1])))
		pairs = append(append(pairs, params[i]...), params[i+1]...)
	}
	record(4, pairs)
	record(4, nil)
	record(5, nil)
	return b
}
