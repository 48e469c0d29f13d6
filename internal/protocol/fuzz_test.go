package protocol

import (
	"strings"
	"testing"

	"github.com/getdwell/dwell/recording"
)

// FuzzConn sends arbitrary chunks: each byte of script determines direction, size, uncaptured bytes and gaps of the
// next chunk, whose bytes come from data.
func FuzzConn(f *testing.F) {
	f.Add([]byte{64, 64, 1, 130}, []byte("GET /a?b=c HTTP/1.1\r\nHost: x.example\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"))
	f.Add([]byte{5, 9}, []byte("\x16\x03\x01\x00\x05\x01\x00\x00\x01\x03"))
	f.Add([]byte{255, 3}, []byte("POST / HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 9\r\n\r\nAction=Aa"))
	f.Add([]byte{255, 3, 255, 3}, []byte("*2\r\n$3\r\nGET\r\n$1\r\na\r\n*2\r\n%1\r\n+a\r\n|1\r\n:1\r\n$-1\r\n$3\r\nabc\r\n"))
	f.Add([]byte{191, 131, 255}, []byte("Q\x00\x00\x00\x0dselect 1\x00C\x00\x00\x00\x0bCOPY 1\x00Z\x00\x00\x00\x05IP\x00\x00\x00\x0ba\x00BEGIN\x00"))
	f.Add([]byte{6, 128}, []byte("\x00\x00\x00\x13\x00\x03\x00\x00user\x00shop\x00\x00R"))
	f.Add([]byte{0, 128, 5, 129}, []byte("\x05\x01\x00\x05\x00\x05\x01\x00\x03\x01a\x00P\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00GET / HTTP/1.1\r\n\r\n"))
	f.Add([]byte{4, 129, 4}, []byte("\x04\x01\x00P\x00\x00\x00\x01u\x00db.example\x00\x00Z\x00\x00\x00\x00\x00\x00*1\r\n$4\r\nPING\r\n"))
	f.Add([]byte{9, 133, 3}, []byte("CONNECT a.example:443 HTTP/1.1\r\n\r\nHTTP/1.1 200 OK\r\n\r\n\x16\x03\x01\x00\x05"))
	f.Add([]byte{255, 12, 140}, []byte("\x01\x01\x00\x01\x00\x08\x00\x00\x00\x01\x01\x00\x00\x00\x00\x00\x01\x04\x00\x01\x00\x13\x00\x00\x0e\x03REQUEST_METHODGET\x01\x04\x00\x01\x00\x00\x00\x00\x01\x06\x00\x01\x00\x02\x00\x00\r\n\x01\x03\x00\x01\x00\x00\x00\x00"))
	f.Add([]byte{3, 129, 3, 129}, []byte("\x00\x00\x04\x08\x00\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x05\x00\x01\x00\x00\x00\x11\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, script, data []byte) {
		talk(t, newPlayer(recording.Outbound), script, data)
		joined := newPlayer(recording.Outbound)
		joined.conn.Joined()
		talk(t, joined, script, data)
	})
}

// talk sends what a script makes of data to a connection, and checks what comes out of it and what it keeps.
func talk(t *testing.T, p *player, script, data []byte) {
	t.Helper()
	for _, b := range script {
		n := min(int(b&63)*4+1, len(data))
		hidden := int64(0)
		if b&64 != 0 && n > 100 {
			hidden = int64(n)
		}
		facts := p.send(b&128 == 0, string(data[:n]), hidden)
		data = data[n:]
		if b == 77 {
			p.pos[0] += 10
		}
		for _, fact := range facts {
			checkFact(t, fact, p.pos)
		}
	}
	for _, fact := range p.conn.Close() {
		checkFact(t, fact, p.pos)
	}
	if a := p.conn.asks; a != nil && len(a.client)+len(a.proxy) > 2*maxAgreement {
		t.Errorf("%d and %d bytes kept", len(a.client), len(a.proxy))
	}
	if h := p.conn.http; h != nil && cap(h.streams[0].head)+cap(h.streams[1].head) > 3*maxHead {
		t.Errorf("%d and %d bytes kept", cap(h.streams[0].head), cap(h.streams[1].head))
	}
	if c := p.conn.fcgi; c != nil && cap(c.tapes[0].held)+cap(c.tapes[1].held) > 3*maxElement {
		t.Errorf("%d and %d bytes kept", cap(c.tapes[0].held), cap(c.tapes[1].held))
	}
	if d := p.conn.dialogue; d != nil && (cap(d.tapes[0].held)+cap(d.tapes[1].held) > 3*maxElement || d.pending < 0 || d.skipped < 0) {
		t.Errorf("%d and %d bytes kept, %d pending, %d skipped", cap(d.tapes[0].held), cap(d.tapes[1].held), d.pending, d.skipped)
	}
}

// checkFact checks what must hold for every fact, whatever the input.
func checkFact(t *testing.T, fact recording.Fact, sent [2]int64) {
	t.Helper()
	client := recording.Write
	switch f := fact.(type) {
	case *recording.HTTPRequest:
		if f.Offset < 0 || f.Head < 0 || f.Offset+f.Head > sent[client] || f.Length < -2 {
			t.Errorf("of %d bytes: %+v", sent[client], f)
		}
		if strings.ContainsAny(f.Route+f.Host+f.Operation, "?&=#@ \r\n") {
			t.Errorf("%+v", f)
		}
		for segment := range strings.SplitSeq(strings.TrimPrefix(f.Route, "/"), "/") {
			if segment != "" && segment != "{}" && segment != "..." && segment != "*" && !plain(segment) {
				t.Errorf("segment %q of %+v", segment, f)
			}
		}
	case *recording.HTTPResponse:
		if f.Offset < 0 || f.Head < 0 || f.Offset+f.Head > sent[1-client] || f.Length < -2 || f.Status < 0 || f.Status > 999 {
			t.Errorf("of %d bytes: %+v", sent[1-client], f)
		}
	case *recording.Command:
		if f.Offset < 0 || f.Length < 0 || f.Offset >= sent[client] || len(f.Operation) > maxCommandName || strings.Trim(f.Operation, "ABCDEFGHIJKLMNOPQRSTUVWXYZ._") != "" {
			t.Errorf("of %d bytes: %+v", sent[client], f)
		}
	case *recording.Reply:
		if f.Offset < 0 || f.Length < 0 || f.Offset >= sent[1-client] || f.Skipped < 0 || len(f.Code) > maxCommandName {
			t.Errorf("of %d bytes: %+v", sent[1-client], f)
		}
	case *recording.Tunnel:
		if f.Written <= 0 || f.Read <= 0 || f.Written > sent[client] || f.Read > sent[1-client] || strings.ContainsAny(f.Target, "?&=#@/ \r\n") {
			t.Errorf("of %d and %d bytes: %+v", sent[client], sent[1-client], f)
		}
	case *recording.TLS:
		if f.Offset < 0 || f.Bytes <= 0 || f.Offset >= sent[f.Dir] {
			t.Errorf("of %d bytes: %+v", sent[f.Dir], f)
		}
	}
}

func FuzzDNS(f *testing.F) {
	f.Add(message(f, false, 0))
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, ok := DNS(b); ok && (got.Name == "" || got.Name != hostName(got.Name+":")) {
			t.Errorf("%+v", got)
		}
	})
}

func FuzzHellos(f *testing.F) {
	f.Add([]byte("\x02\x00\x00\x2c\x03\x03"+strings.Repeat("r", 32)+"\x00\x13\x01\x00\x00\x06\x00\x2b\x00\x02\x03\x04"), false)
	f.Fuzz(func(t *testing.T, b []byte, fromClient bool) {
		var c tlsConn
		var got recording.TLS
		if fromClient {
			c.clientHello(&got, b)
		} else if len(b) > 0 {
			c.serverHello(&got, b)
		}
		if got.SNI != "" && got.SNI != hostName(got.SNI+":") || len(c.session) > 255 {
			t.Errorf("%+v", got)
		}
	})
}
