package protocol

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getdwell/dwell/recording"
)

// write is what one side of a real TLS connection sent in one call.
type write struct {
	fromClient bool
	data       []byte
}

// tap records the writes of both ends of a connection in their order.
type tap struct {
	net.Conn
	fromClient bool
	mu         *sync.Mutex
	writes     *[]write
}

func (t tap) Write(b []byte) (int, error) {
	t.mu.Lock()
	*t.writes = append(*t.writes, write{t.fromClient, slices.Clone(b)})
	t.mu.Unlock()
	return t.Conn.Write(b)
}

// exchange makes one connection: a handshake, "ping", "pong". resumed is what the client's library reports.
func exchange(t *testing.T, client, server *tls.Config) (writes []write, resumed bool) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") // net.Pipe would stop at the session tickets
	if err != nil {
		t.Fatal(err)
	}
	a, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	var mu sync.Mutex
	c := tls.Client(tap{a, true, &mu, &writes}, client)
	s := tls.Server(tap{b, false, &mu, &writes}, server)
	done := make(chan error, 1)
	go func() {
		_, err := s.Read(make([]byte, 4))
		if err == nil {
			_, err = s.Write([]byte("pong"))
		}
		done <- err
	}()
	if _, err := c.Write([]byte("ping")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 4)); err != nil { // session tickets come first
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	_ = a.Close()
	_ = b.Close()
	return writes, c.ConnectionState().DidResume
}

func certificate(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"db.example"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// summary is the version, resumption and name that the facts contain, and the kinds of records of each side.
type summary struct {
	sni      string
	version  int64
	resumed  recording.Tristate
	byClient []string
	byServer []string
}

func summarize(facts []recording.Fact, client recording.Direction) summary {
	var s summary
	for _, f := range facts {
		r, ok := f.(*recording.TLS)
		if !ok {
			continue
		}
		s.sni += r.SNI
		s.version = max(s.version, r.Version)
		if r.Record == recording.TLSServerHello {
			s.resumed = r.Resumed
		}
		if r.Dir == client {
			s.byClient = append(s.byClient, r.Record.String())
		} else {
			s.byServer = append(s.byServer, r.Record.String())
		}
	}
	return s
}

// cuts are ways in which the bytes of one write arrive at the other side's reads: whole; head and payload separately,
// as Go and OpenSSL read records; or byte by byte.
func cuts(how string, b []byte) [][]byte {
	switch how {
	case "whole":
		return [][]byte{b}
	case "bytes":
		return slices.Collect(slices.Chunk(b, 1))
	}
	var out [][]byte
	for len(b) > 0 {
		n := recordHead + int(b[3])<<8 + int(b[4])
		out, b = append(out, b[:recordHead], b[recordHead:n]), b[n:]
	}
	return out
}

func TestTLSConnections(t *testing.T) {
	cert := certificate(t)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		server := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: version, MaxVersion: version}
		client := &tls.Config{ServerName: "DB.example", InsecureSkipVerify: true, ClientSessionCache: tls.NewLRUClientSessionCache(1)}
		for range 2 { // the second connection resumes
			writes, resumed := exchange(t, client, server)
			for _, how := range []string{"whole", "records", "bytes"} {
				for _, side := range []recording.Side{recording.Inbound, recording.Outbound} {
					name := fmt.Sprintf("%x/resumed=%v/%s/%v", version, resumed, how, side)
					t.Run(name, func(t *testing.T) { checkTLS(t, writes, how, side, int64(version), resumed) })
				}
			}
		}
	}
}

func checkTLS(t *testing.T, writes []write, how string, side recording.Side, version int64, resumed bool) {
	p := newPlayer(side)
	var facts []recording.Fact
	var streams [2][]byte
	for _, w := range writes {
		for _, b := range cuts(how, w.data) {
			facts = append(facts, p.send(w.fromClient, string(b), 0)...)
		}
		dir := p.client
		if !w.fromClient {
			dir = 1 - dir
		}
		streams[dir] = append(streams[dir], w.data...)
	}
	got := summarize(facts, p.client)
	want := recording.No
	if resumed {
		want = recording.Yes
	}
	if got.sni != "db.example" || got.version != version || got.resumed != want {
		t.Errorf("got name %q, version %x, resumed %v; want db.example, %x, %v", got.sni, got.version, got.resumed, version, want)
	}
	if got.byClient[0] != "client-hello" || got.byServer[0] != "server-hello" || !slices.Contains(got.byServer, "application") {
		t.Errorf("records of the client %v, of the server %v", got.byClient, got.byServer)
	}
	// Every record is reported, at its position.
	var at [2]int64
	for _, f := range facts {
		r, ok := f.(*recording.TLS)
		if !ok {
			continue
		}
		if r.Offset != at[r.Dir] {
			t.Errorf("a record at %d, want %d", r.Offset, at[r.Dir])
		}
		at[r.Dir] = r.Offset + recordHead + r.Bytes
	}
	if at[0] != int64(len(streams[0])) || at[1] != int64(len(streams[1])) {
		t.Errorf("records up to %v of %d and %d bytes", at, len(streams[0]), len(streams[1]))
	}
}

// With 512 bytes of each chunk, post-quantum key shares hide the end of the hellos. What is reported must still be
// true.
func TestTLSHellosLongerThanWhatIsCaptured(t *testing.T) {
	server := &tls.Config{Certificates: []tls.Certificate{certificate(t)}, MinVersion: tls.VersionTLS13}
	client := &tls.Config{ServerName: "db.example", InsecureSkipVerify: true, ClientSessionCache: tls.NewLRUClientSessionCache(1)}
	for range 2 {
		writes, resumed := exchange(t, client, server)
		p := newPlayer(recording.Outbound)
		var facts []recording.Fact
		for _, w := range writes {
			n := min(len(w.data), 512)
			facts = append(facts, p.send(w.fromClient, string(w.data[:n]), int64(len(w.data)-n))...)
		}
		got := summarize(facts, p.client)
		if wrong := map[bool]recording.Tristate{true: recording.No, false: recording.Yes}[resumed]; got.resumed == wrong {
			t.Errorf("resumed: told %v, in truth %v", got.resumed, resumed)
		}
		if got.byClient[0] != "client-hello" || got.byServer[0] != "server-hello" {
			t.Errorf("records of the client %v, of the server %v", got.byClient, got.byServer)
		}
	}
}

// record makes a TLS record of n bytes of payload.
func record(kind byte, n int) string {
	return string([]byte{kind, 3, 3, byte(n >> 8), byte(n)}) + strings.Repeat("x", n)
}

func TestTLSRecordsAreFollowedByArithmetic(t *testing.T) {
	p := newPlayer(recording.Outbound)
	app := func(n int) string { return record(tlsApplication, n) }
	for _, s := range []struct {
		what   string
		data   string
		hidden int64
		want   int // records told
	}{
		{"a long record, mostly hidden", app(16000)[:512], 16005 - 512, 1},
		{"a record that ends in another chunk", app(300)[:100], 0, 1},
		{"its end and the next", app(300)[100:] + app(7), 0, 1},
		{"the head of the next record hidden", app(40), 45, 1},
		{"in the middle of nowhere", "yyyy", 0, 0},
		{"at a record again", app(60) + app(61), 0, 2},
	} {
		n := 0
		for _, f := range p.send(true, s.data, s.hidden) {
			if _, ok := f.(*recording.TLS); ok {
				n++
			}
		}
		if n != s.want {
			t.Errorf("%s: %d records told, want %d", s.what, n, s.want)
		}
	}
}

func TestTLSLaterRecordsAreToldOnceAChunk(t *testing.T) {
	p := newPlayer(recording.Inbound)
	three := strings.Repeat(record(tlsApplication, 20), 3)
	total := 0
	for range 20 {
		for _, f := range p.send(false, three, 0) {
			if _, ok := f.(*recording.TLS); ok {
				total++
			}
		}
	}
	if want := manyRecords + 14; total != want { // those of five chunks, and one of each later
		t.Errorf("%d records told, want %d", total, want)
	}
}
