package protocol

import (
	"testing"

	"github.com/getdwell/dwell/recording"
)

// BenchmarkExchange measures one request and its answer on a kept connection.
func BenchmarkExchange(b *testing.B) {
	request := []byte("GET /users/4711/orders?limit=10 HTTP/1.1\r\nHost: api.example.com:8080\r\nUser-Agent: test/1.0\r\nAccept: */*\r\n" +
		"Accept-Encoding: gzip\r\nAuthorization: Bearer aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\nX-Request-Id: 0123456789abcdef\r\n\r\n")
	response := []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nDate: Sat, 21 Nov 2026 22:00:00 GMT\r\nContent-Length: 12\r\n\r\n{\"orders\":0}")
	c := NewConn(1, recording.Inbound)
	b.ReportAllocs()
	var in, out int64
	for b.Loop() {
		if len(c.Chunk(recording.Read, in, int64(len(request)), request)) == 0 ||
			len(c.Chunk(recording.Write, out, int64(len(response)), response)) == 0 {
			b.Fatal("no head found")
		}
		in, out = in+int64(len(request)), out+int64(len(response))
	}
}
