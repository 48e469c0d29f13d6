//go:build linux && (amd64 || arm64)

package capture

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/getdwell/dwell/recording"
)

// tlsThread performs the steps of a thread: it passes plain bytes to its TLS library for the connection ssl, or
// writes records to the socket of connection conn.
type tlsThread struct {
	*decoder
	ts      uint64
	offsets map[uint64]int
}

func (s *tlsThread) seals(ssl uint64, plain string) {
	s.ts++
	kind := probesEventType(tlsProbesTlsEventTypeEVENT_TLS_WRITE)
	e := tlsProbesTlsWriteEvent{Ssl: ssl, Bytes: uint64(len(plain)), DataLen: uint32(min(len(plain), 512))}
	h := head(kind, s.ts, 100, 1)
	e.H.Ts, e.H.Start, e.H.Tid, e.H.Tgid, e.H.Type = h.Ts, h.Start, h.Tid, h.Tgid, h.Type
	feed(s.decoder, e, []byte(plain[:e.DataLen])...)
}

func (s *tlsThread) writes(conn uint64, payloads ...int) {
	s.ts++
	if s.offsets[conn] == 0 {
		feed(s.decoder, probesConnEvent{H: head(probesEventTypeEVENT_CONN, s.ts, 100, 1), Id: conn, Side: 1, Existing: 1})
		s.offsets[conn] = 1
	}
	var bytes []byte
	for _, n := range payloads {
		bytes = append(append(bytes, 23, 3, 3, byte(n>>8), byte(n)), make([]byte, n)...)
	}
	feed(s.decoder, probesChunkEvent{
		H: head(probesEventTypeEVENT_CHUNK, s.ts, 100, 1), Id: conn, Dir: 1, Offset: uint64(s.offsets[conn] - 1),
		Bytes: uint64(len(bytes)), First: s.ts, DataLen: uint32(min(len(bytes), 512)),
	}, bytes[:min(len(bytes), 512)]...)
	s.offsets[conn] += len(bytes)
}

func (s *tlsThread) closes(conn uint64) {
	s.ts++
	feed(s.decoder, probesConnEvent{H: head(probesEventTypeEVENT_CLOSED, s.ts, 100, 1), Id: conn, Side: 1})
}

// asks is a request of 16 bytes plus the length of its path.
func asks(path string) string { return "GET " + path + " HTTP/1.1\r\n\r\n" }

func form(path string, length int) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nContent-Length: %d\r\n\r\n", path, length)
}

// query is the message of a PostgreSQL client with a query.
func query(sql string) string { return "Q\x00\x00\x00" + string(rune(len(sql)+5)) + sql + "\x00" }

// Encrypted requests are named on the connection on which they leave, using the order of calls and the lengths of
// records. If these do not agree, nothing is named.
func TestSealed(t *testing.T) {
	const tag = 17 // what TLS 1.3 adds
	one, two := asks("/one"), asks("/two")
	for _, c := range []struct {
		what string
		does func(s *tlsThread)
		want string // connection, offset of the record, route
	}{
		{"each call is followed by its write", func(s *tlsThread) {
			s.seals(7, one)
			s.writes(1, len(one)+tag)
			s.seals(7, two)
			s.writes(1, len(two)+tag)
		}, "1+0/one 1+43/two"},
		{"a length that does not fit", func(s *tlsThread) {
			s.seals(7, one)
			s.writes(1, len(one)+200)
			s.writes(1, len(one)+20)
			s.writes(1, len(one)-1)
		}, ""},
		{"a call that is refused, and tried again with the same bytes", func(s *tlsThread) {
			s.seals(7, one)
			s.seals(7, one)
			s.writes(1, len(one)+tag)
			s.seals(7, two)
			s.writes(1, len(two)+tag)
		}, "1+0/one 1+43/two"},
		{"equal requests on two connections, begun in one order and sent in the other", func(s *tlsThread) {
			s.seals(7, one)
			s.seals(8, one)
			s.writes(2, len(one)+tag)
			s.seals(7, one)
			s.writes(1, len(one)+tag)
			s.seals(8, two)
			s.writes(2, len(two)+tag)
		}, "1+0/one 2+0/one 1+43/two"},
		{"head and body leave in one write", func(s *tlsThread) {
			head, body := form("/form", 20_000), strings.Repeat("x", 20_000)
			s.seals(7, head)
			s.seals(7, body)
			s.writes(1, len(head)+tag, 1<<14+tag, 20_000-1<<14+tag)
			s.seals(7, one)
			s.writes(1, len(one)+tag)
		}, "1+0/form 1+20112/one"},
		{"a call of another connection is not taken for this one's", func(s *tlsThread) {
			s.seals(7, one)
			s.writes(1, len(one)+tag)
			s.seals(8, two)
			s.writes(1, len(two)+tag)
		}, "1+0/one"},
		{"the library's connection is used again after the end of the first", func(s *tlsThread) {
			s.seals(7, one)
			s.writes(1, len(one)+tag)
			s.seals(7, one) // and never sent
			s.closes(1)
			s.seals(7, two)
			s.writes(2, len(two)+tag)
		}, "1+0/one 2+0/two"},
		{"commands of a database", func(s *tlsThread) {
			begin, update := query("BEGIN"), query("UPDATE stock SET n = 1")
			s.seals(7, begin)
			s.writes(1, len(begin)+tag)
			s.seals(7, update)
			s.writes(1, len(update)+tag)
		}, "1+0BEGIN 1+33UPDATE/stock"},
		{"what was handed over before something else was sent is not named late", func(s *tlsThread) {
			s.seals(7, one)
			s.writes(1, len(one)+tag)
			s.seals(7, one+"more")
			s.seals(7, two)
			s.writes(1, len(two)+tag)
		}, "1+0/one 1+43/two"},
	} {
		s := &tlsThread{decoder: watching(t), ts: 2000, offsets: map[uint64]int{}}
		c.does(s)
		s.finish()
		var got []string
		for _, e := range s.out {
			switch f := e.Fact.(type) {
			case *recording.HTTPRequest:
				got = append(got, fmt.Sprintf("%d+%d%s", f.Conn, f.Offset, f.Route))
			case *recording.Command:
				got = append(got, strings.TrimSuffix(fmt.Sprintf("%d+%d%s/%s", f.Conn, f.Offset, f.Operation, f.Target), "/"))
			}
		}
		if want := strings.Fields(c.want); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", c.what, got, want)
		}
	}
}
