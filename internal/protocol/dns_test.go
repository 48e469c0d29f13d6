package protocol

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/getdwell/dwell/recording"
)

func message(t testing.TB, response bool, rcode dnsmessage.RCode, answers ...dnsmessage.Resource) []byte {
	t.Helper()
	name := dnsmessage.MustNewName("API.Example.com.")
	m := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: 4711, Response: response, RCode: rcode},
		Questions: []dnsmessage.Question{{Name: name, Type: dnsmessage.TypeAAAA, Class: dnsmessage.ClassINET}},
	}
	for _, a := range answers {
		a.Header = dnsmessage.ResourceHeader{Name: name, Class: dnsmessage.ClassINET}
		m.Answers = append(m.Answers, a)
	}
	b, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestDNS(t *testing.T) {
	a := dnsmessage.Resource{Body: &dnsmessage.AResource{A: [4]byte{10, 0, 0, 7}}}
	aaaa := dnsmessage.Resource{Body: &dnsmessage.AAAAResource{AAAA: [16]byte{0x20, 1, 0xd, 0xb8, 15: 9}}}
	cname := dnsmessage.Resource{Body: &dnsmessage.CNAMEResource{CNAME: dnsmessage.MustNewName("lb.example.com.")}}
	whole := message(t, true, 0, cname, a, aaaa)
	for _, c := range []struct {
		name    string
		payload []byte
		want    recording.DNS
	}{
		{"query", message(t, false, 0), recording.DNS{ID: 4711, Name: "api.example.com", Type: "AAAA"}},
		{"answer", whole, recording.DNS{Part: recording.DNSAnswer, ID: 4711, Name: "api.example.com", Type: "AAAA", Addrs: "10.0.0.7 2001:db8::9"}},
		{"no such name", message(t, true, dnsmessage.RCodeNameError), recording.DNS{Part: recording.DNSAnswer, ID: 4711, Name: "api.example.com", Type: "AAAA", Rcode: 3}},
		{"cut in its last address", whole[:len(whole)-1], recording.DNS{Part: recording.DNSAnswer, ID: 4711, Name: "api.example.com", Type: "AAAA", Addrs: "10.0.0.7"}},
	} {
		got, ok := DNS(c.payload)
		if !ok {
			t.Errorf("%s: not accepted", c.name)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestWhatIsNoDNS(t *testing.T) {
	query := message(t, false, 0)
	for name, payload := range map[string][]byte{
		"nothing": nil, "text": []byte("GET / HTTP/1.1\r\n\r\n"), "cut in the question": query[:len(query)-3],
	} {
		if got, ok := DNS(payload); ok {
			t.Errorf("%s: accepted as %+v", name, got)
		}
	}
}
